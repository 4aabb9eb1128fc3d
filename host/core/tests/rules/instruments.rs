//! I. Instruments.

use expect_test::expect;
use passdock::PassContext;

use crate::common::{Log, error, info, module};

#[test]
fn a_panicking_instrument_is_a_failing_one() {
    struct Panics;
    impl passdock::PassInstrument for Panics {
        fn name(&self) -> &str {
            "panics"
        }
        fn should_run(
            &self,
            _: &passdock::ModuleRef,
            _: &passdock::PassInfo,
        ) -> passdock::InstrumentResult<bool> {
            std::panic::resume_unwind(Box::new("ouch"))
        }
    }
    let log = Log::new();
    let cx = PassContext::builder().instrument(Panics).build().unwrap();
    expect!["Error in pass p: The instrument `panics` panicked in should_run: ouch."]
        .assert_eq(&error(cx.scope(|_| log.pass(info("p")).call(module()))));
}
