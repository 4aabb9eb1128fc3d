//! The `verify` instrument, which verifies the module before and after each pass.

use std::sync::{Arc, Mutex};

use passdock_ir::Module;

use crate::instrument::{
    Frame, InstrumentResult, InstrumentSpec, PassCall, PassFilter, PassInstrument,
};
use crate::util;
use crate::verify::{self, Verify};

passdock_plugin_api::options! {
    /// The options of `verify`.
    struct Options {
        /// Whether to verify before each pass, too, to detect changes between passes.
        before: bool = true,
        /// The passes around which the module isn't verified, such as passes that repair a broken module.
        exempt: Vec<String> = [],
    }
}

pub(super) fn spec() -> InstrumentSpec {
    let summary = "Verifies the module before and after each pass, even with `--verify off`, and \
                   names the pass that broke it.";
    InstrumentSpec::new("verify", summary, |options: Options, setup| {
        let verify = match options.before {
            true => WellFormed::new(),
            false => WellFormed::after_only(),
        };
        let exempt = setup.passes("verify", "exempt", &options.exempt)?;
        Ok(Arc::new(verify.exempt(exempt)))
    })
    .aliases(["WellFormedInstrument"])
}

/// An instrument that verifies the module around each pass, and reports the pass that broke it. Functions that didn't
/// change since they were verified aren't verified again.
pub struct WellFormed {
    before: bool,
    exempt: PassFilter,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last module that was valid.
    right: Option<Module>,
    /// The names of the exempt passes that ran since.
    since: Vec<String>,
}

impl WellFormed {
    /// Creates an instrument that verifies before and after each pass.
    pub fn new() -> WellFormed {
        WellFormed {
            before: true,
            exempt: PassFilter::None,
            state: Mutex::default(),
        }
    }

    /// Creates an instrument that verifies only after each pass.
    pub fn after_only() -> WellFormed {
        WellFormed {
            before: false,
            ..WellFormed::new()
        }
    }

    /// Sets the passes around which the module isn't verified.
    pub fn exempt(mut self, passes: PassFilter) -> WellFormed {
        self.exempt = passes;
        self
    }

    fn verify(&self, call: &PassCall<'_>, when: &str) -> InstrumentResult {
        let PassCall {
            module,
            info,
            frame,
            ..
        } = *call;
        if self.exempt.contains(&info.name) {
            return Ok(());
        }
        let mut state = util::lock(&self.state);
        let verified = match &state.right {
            Some(right) => verify::changed(right, module, Verify::Changed, || frame.op_defs()),
            None => verify::all(module),
        };
        if let Err(error) = verified {
            let error = error.note(format!("{when} `{}`", info.name));
            Err(match state.since.as_slice() {
                [] => error,
                passes => error.note(format!("not verified after `{}`", passes.join("`, `"))),
            })?;
        }
        state.right = Some(module.clone());
        state.since.clear();
        Ok(())
    }
}

impl Default for WellFormed {
    fn default() -> WellFormed {
        WellFormed::new()
    }
}

impl PassInstrument for WellFormed {
    fn name(&self) -> &str {
        "verify"
    }

    fn enter_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        *util::lock(&self.state) = State::default();
        Ok(())
    }

    fn exit_pass_ctx(&self, _: &dyn Frame) -> InstrumentResult {
        *util::lock(&self.state) = State::default();
        Ok(())
    }

    fn run_before_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        match self.before {
            true => self.verify(call, "before"),
            false => Ok(()),
        }
    }

    fn run_after_pass(&self, call: &PassCall<'_>) -> InstrumentResult {
        let name = &call.info.name;
        if self.exempt.contains(name) {
            util::lock(&self.state).since.push(name.clone());
        }
        self.verify(call, "after")
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use passdock_abi::FunctionKind;
    use passdock_ir::Function;

    use super::*;
    use crate::context::PassContext;
    use crate::instrument::built_in::testing::{no_op, parse, run_in, sequential};
    use crate::pass::{PassInfo, PassRef};
    use crate::run::create_host_pass;

    const IDENTITY: &str = r#"module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) {
        return %x
      }
    }"#;

    /// Replaces `main` with a function without a `return`.
    fn breaks() -> PassRef {
        create_host_pass(PassInfo::new("breaks"), |module, _| {
            let mut module = module.clone();
            let main = module.function_named("main").expect("present");
            let empty = Function::new(module.symbols().clone(), FunctionKind::GRAPH, main.name());
            module.replace(empty).expect("present");
            Ok(module)
        })
    }

    #[track_caller]
    fn check(verify: WellFormed, expected: Expect) {
        let context = PassContext::builder()
            .verify(Verify::Off)
            .instrument(verify);
        let passes = sequential("s", [no_op("a"), breaks(), no_op("b")]);
        let text = match run_in(context, &passes, parse(IDENTITY)) {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_diagnostic().render(false),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn error_names_the_pass_that_broke_the_module() {
        check(
            WellFormed::new(),
            expect![["
                error[instrument]: instrument `verify` failed in run_after_pass: region0 must end with `return` with \
                  one operand for each of its 0 ports
                 |
                 = in pass breaks, function @main
                 = note: after `breaks`"]],
        );
        check(
            WellFormed::after_only(),
            expect![["
                error[instrument]: instrument `verify` failed in run_after_pass: region0 must end with `return` with \
                  one operand for each of its 0 ports
                 |
                 = in pass breaks, function @main
                 = note: after `breaks`"]],
        );
    }

    #[test]
    fn exempt_passes_are_not_verified() {
        let exempt = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            PassFilter::new(&names)
        };
        check(
            WellFormed::new().exempt(exempt(&["breaks"])),
            expect![["
                error[instrument]: instrument `verify` failed in run_before_pass: region0 must end with `return` with \
                  one operand for each of its 0 ports
                 |
                 = in pass b, function @main
                 = note: before `b`
                 = note: not verified after `breaks`"]],
        );
        check(
            WellFormed::new().exempt(exempt(&["breaks", "b", "s"])),
            expect!["fine"],
        );
    }
}
