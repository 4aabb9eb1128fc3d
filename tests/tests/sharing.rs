//! Data that plugins of several vendors share: published by one library, read by another, and rejected by a third with
//! another type.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

use abi_stable::StableAbi;
use abi_stable::std_types::RArc;
use expect_test::{Expect, expect};
use passdock::sdk;
use passdock::{
    LoadOptions, PassContext, PassInfo, Registry, Severity, create_function_pass, model_file,
};
use passdock_abi as abi;
use passdock_plugin_share::{self as share, SharedAnalysis};

const TEXT: &str = r#"module {
  fn @main(%x: f32[4,8]) -> (%y: f32[4,8]) opset("" = 17) {
    %a = onnx.Relu(%x) : f32[4,8]
    %y = onnx.Neg(%a) : f32[4,8]
    return %y
  }
}
"#;

const PUBLISH: &str = "acme.transform.PublishCost";
const REPORT: &str = "other.transform.ReportDearest";
const READ_CHANGED: &str = "t.transform.ReadChanged";
const PUBLISH_CHANGED: &str = "t.transform.PublishChanged";

/// Checks the diagnostics of passes of the three libraries, and the failure if there is one.
#[track_caller]
fn check(passes: &[&str], expected: Expect) {
    let registry = Registry::new();
    for library in ["cost_maker", "cost_reader", "cost_changed"] {
        let file = passdock_tests::library(library);
        let loaded = registry.load_plugin(&file, &LoadOptions::default());
        loaded.unwrap_or_else(|error| panic!("{error}"));
    }
    let messages = Arc::new(Mutex::new(Vec::new()));
    let sink = messages.clone();
    let result = passdock::testing::run_on_text(&registry, passes, TEXT, |context| {
        context.on_diagnostic(move |diagnostic| {
            let severity = match diagnostic.severity {
                Severity::Note => "note",
                Severity::Warning => "warning",
                _ => "error",
            };
            let line = format!("{severity}: {}", diagnostic.message);
            sink.lock().unwrap().push(line);
        })
    });
    let mut lines = std::mem::take(&mut *messages.lock().unwrap());
    if result != TEXT {
        lines.push(result);
    }
    let changed = passdock_tests::library("cost_changed");
    let text = lines.join("\n");
    expected.assert_eq(&text.replace(&changed.display().to_string(), "CHANGED"));
}

#[test]
fn published_data_is_read_by_another_plugin() {
    check(
        &[PUBLISH, REPORT],
        expect!["note: the most expensive op computes 32 elements"],
    );
    check(
        &[REPORT],
        expect!["note: no cost is published for this function"],
    );
}

#[test]
fn first_published_data_is_kept() {
    check(
        &[PUBLISH, PUBLISH, REPORT],
        expect!["note: the most expensive op computes 32 elements"],
    );
}

#[test]
fn layout_mismatch_warning_names_the_field() {
    check(
        &[PUBLISH, READ_CHANGED, REPORT],
        expect![["
            warning: data `acme.Cost/1` of function `@main` has an incompatible layout: field `elements` contains \
              `u64`, expected `u32`; both plugins must use the same version of crate `cost-type`, which defines \
              `Cost`
            note: the most expensive op computes 32 elements"]],
    );
}

#[test]
fn publishing_another_type_under_a_key_is_rejected() {
    check(
        &[PUBLISH, PUBLISH_CHANGED],
        expect![["
            error[pass-failed]: data `acme.Cost/1` of function `@main` has an incompatible layout: field `elements` \
              contains `u64`, expected `u32`; both plugins must use the same version of crate `cost-type`, which \
              defines `Cost`
             |
             = in pass t.transform.PublishChanged of plugin `CHANGED`, function @main"]],
    );
    check(
        &[PUBLISH_CHANGED, READ_CHANGED, REPORT],
        expect![["
            note: 0 ops, 0 unknown
            warning: data `acme.Cost/1` of function `@main` has an incompatible layout: field `elements` contains \
              `u32`, expected `u64`; both plugins must use the same version of crate `cost-type`, which defines \
              `Cost`"]],
    );
}

/// Data whose live instances can be counted.
#[repr(C)]
#[derive(StableAbi)]
struct Counted {
    count: RArc<u32>,
}

impl SharedAnalysis for Counted {
    const KEY: &'static str = "t.Counted/1";
}

#[test]
fn published_data_is_dropped_with_the_function() {
    let count = RArc::new(7);
    let data = count.clone();
    let call = move |f: &mut passdock::sdk::Function, _: &passdock::sdk::PassContext| {
        let data = || Counted {
            count: data.clone(),
        };
        let before = RArc::strong_count(&data().count);
        let first = share::publish(f, data())?;
        let second = share::publish(f, data())?;
        assert!(std::ptr::eq(first, second), "the first stays");
        assert_eq!(RArc::strong_count(&first.count), before);
        let found = share::find::<Counted>(f).expect("it was published")?;
        assert!(std::ptr::eq(first, found));
        Ok(())
    };
    let pass = create_function_pass(PassInfo::new("test.transform.Publish"), call);
    let context = PassContext::builder().registry(&Registry::new()).build();
    let module = model_file::parse_text("test.ir", TEXT).expect("the test's own text");
    let after = pass.call_in(module, &context.expect("a plain context"));
    assert_eq!(
        RArc::strong_count(&count),
        3,
        "the test's, the pass's, the function's"
    );
    drop(after.expect("it runs"));
    drop(pass);
    assert_eq!(RArc::strong_count(&count), 1);
}

/// Runs a call on the function of the test's text. Returns the result of the pass as the host reports it.
fn run(call: impl Fn(&mut sdk::Function) -> sdk::PassResult + Send + Sync + 'static) -> String {
    let call = move |f: &mut sdk::Function, _: &sdk::PassContext| call(f);
    let pass = create_function_pass(PassInfo::new("test.transform.Share"), call);
    let context = PassContext::builder().registry(&Registry::new()).build();
    let module = model_file::parse_text("test.ir", TEXT).expect("the test's own text");
    match pass.call_in(module, &context.expect("a plain context")) {
        Ok(_) => "success".to_owned(),
        Err(error) => error.to_diagnostic().render(false),
    }
}

/// Stores as many analyses of the function as the host accepts.
fn fill(f: &sdk::Function) {
    /// A destructor for data without memory.
    unsafe extern "C" fn drop_nothing(_: *const abi::Host, _: *mut abi::Context, _: *mut c_void) {}
    for number in 0..4096 {
        let key = format!("t.Filler/{number}");
        // SAFETY: no other code uses this key; the data has no memory, and the destructor doesn't access it.
        let result = unsafe { f.keep_shared_data(&key, NonNull::dangling(), drop_nothing) };
        result.expect("there is room");
    }
}

#[test]
fn data_above_host_limit_is_dropped_with_an_error() {
    let count = RArc::new(7);
    let data = count.clone();
    let report = run(move |f| {
        fill(f);
        let count = data.clone();
        let why = share::publish(f, Counted { count }).map(drop).unwrap_err();
        assert_eq!(RArc::strong_count(&data), 2, "the test's and the pass's");
        assert!(
            share::find::<Counted>(f).is_none(),
            "no such data is published"
        );
        let error = sdk::PassError::from(why.clone());
        assert_eq!(
            (error.op, error.function),
            (None, f.find_symbol(f.function_name()))
        );
        assert_eq!(String::from(why.clone()), why.to_string());
        Err(why.into())
    });
    expect![["
        error[pass-failed]: cannot keep analysis `abi_stable-0.11/t.Counted/1`: the function has 4096 analyses; \
          keep related data under one key
         |
         = in pass test.transform.Share, function @main"]].assert_eq(&report);
    assert_eq!(RArc::strong_count(&count), 1);
}

/// A layout error fails the pass with its message. It names the function and no op.
#[test]
fn layout_error_names_the_function() {
    let report = run(|f| {
        share::publish(f, first::Cost { peak: 1 })?;
        assert_eq!(share::find::<first::Cost>(f).expect("it is there")?.peak, 1);
        let why = match share::find::<second::Cost>(f) {
            Some(Err(why)) => why,
            found => panic!("{:?}", found.map(|found| found.map(|cost| cost.peak))),
        };
        let second = share::publish(f, second::Cost { peak: 1 }).map(|cost| cost.peak);
        assert_eq!(
            second,
            Err(why.clone()),
            "readers and writers hear the same"
        );
        Err(why.into())
    });
    expect![["
        error[pass-failed]: data `t.Cost/1` of function `@main` has an incompatible layout: field `peak` is `u64`, \
          expected `i64`; both plugins must use the same version of crate `passdock-tests`, which defines `Cost`
         |
         = in pass test.transform.Share, function @main"]].assert_eq(&report);
}

macro_rules! cost_of {
    ($module:ident, $type:ty) => {
        mod $module {
            use super::{SharedAnalysis, StableAbi};

            #[repr(C)]
            #[derive(StableAbi)]
            pub(crate) struct Cost {
                pub(crate) peak: $type,
            }

            impl SharedAnalysis for Cost {
                const KEY: &'static str = "t.Cost/1";
            }
        }
    };
}

cost_of!(first, u64);
cost_of!(second, i64);

/// Data whose drop panics. The host, which drops it, doesn't notice the panic.
#[repr(C)]
#[derive(StableAbi)]
struct Panics {
    one: u8,
}

impl SharedAnalysis for Panics {
    const KEY: &'static str = "t.Panics/1";
}

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("a drop that panics, as a test wants it");
    }
}

#[test]
fn panic_in_drop_does_not_reach_the_host() {
    let report = run(|f| {
        share::publish(f, Panics { one: 1 })?;
        Ok(())
    });
    assert_eq!(report, "success");
}
