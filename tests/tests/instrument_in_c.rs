//! An instrument in C that breaks the rules for instruments: the host rejects its calls and continues.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::{
    InstrumentSetup, LoadOptions, PassContext, PassInfo, Registry, create_function_pass,
};
use passdock_ir::text;
use passdock_tests::build_c_plugin;

/// Emits the host's statuses as notes. Callbacks that it doesn't need are null.
const SOURCE: &str = r#"
#include <stdio.h>
#include "passdock.h"

static char message[400];

static passdock_status create(const passdock_host *host, void *state, passdock_context *context, void **out) {
    (void)host; (void)state; (void)context;
    *out = message;
    return PASSDOCK_OK;
}

static passdock_status meddle(const passdock_host *host, void *instance, passdock_context *context,
                              const passdock_module_ref *m, const passdock_pass_info *pass) {
    passdock_symbol_id main_ = host->symbols->find(m->view->symbols, passdock_text("main"));
    passdock_function_ref f;
    passdock_run_desc again = PASSDOCK_RUN_DESC_INIT;
    passdock_status edit, run, snapshot, erase;
    edit = host->modules->edit(m->handle, main_, &f);
    again.name = pass->name;
    run = host->modules->run_pass(m->handle, context, &again);
    snapshot = host->modules->snapshot(m->handle, main_, &f);
    erase = host->functions->erase_op(f.handle, 0);
    snprintf((char *)instance, sizeof message, "edit %u, run_pass %u, snapshot %u, erase %u of %u: %.*s",
             edit, run, snapshot, erase, f.view->op_count,
             (int)host->functions->last_error(f.handle).len,
             host->functions->last_error(f.handle).ptr);
    host->modules->release(m->handle, f);
    return pass->opt_level == 3 ? 77 : PASSDOCK_OK;
}

static passdock_status report(const passdock_host *host, void *instance, passdock_context *context, passdock_str *out) {
    (void)host; (void)context;
    *out = passdock_text((const char *)instance);
    return PASSDOCK_OK;
}

PASSDOCK_MANIFEST_TEXT("name = 'c'\nversion = '1.0.0'\n[[instrument]]\nname = 'c.meddler'\n");

static const passdock_instrument_entry instruments[] = {
    {.name = PASSDOCK_STR("c.meddler"), .create = create, .run_before_pass = meddle, .report = report},
};
static const passdock_plugin plugin = {.struct_size = sizeof plugin,
                                       .instruments = instruments,
                                       .instrument_count = 1,
                                       .instrument_stride = sizeof instruments[0]};
PASSDOCK_ENTRY(plugin);
"#;

#[test]
fn edits_and_unknown_status_are_rejected() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = dir.path().join("meddler.c");
    std::fs::write(&source, SOURCE).expect("writes the source");
    let Some(library) = build_c_plugin(&source, dir.path()) else {
        return;
    };
    let registry = Registry::new();
    registry
        .load_plugin(&library, &LoadOptions::default())
        .expect("a plugin");
    let setup = InstrumentSetup::new(&registry);
    let meddler = registry.get_instrument("c.meddler", &Default::default(), &setup);
    let reports_seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let context = PassContext::builder()
        .registry(&registry)
        .shared_instrument(meddler.expect("an instrument"))
        .build()
        .expect("a context");
    let source = "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {\n    \
                  %0 = onnx.Relu(%x) : f32[2]\n    return %0\n  }\n}\n";
    let module = text::parse(source).unwrap_or_else(|error| panic!("{error:?}"));
    let run = |level: u32| {
        let info = PassInfo::new("nothing").opt_level(level);
        let pass = create_function_pass(info, |_, _| Ok(()));
        context.scope(|cx| {
            let after = pass.call(module.clone());
            let reports = cx.instrument_reports();
            reports_seen
                .lock()
                .unwrap()
                .extend(reports.into_iter().flatten().map(|report| report.text));
            after
        })
    };
    let after = run(0).expect("the pass runs");
    assert!(after.is_same(&module));
    let error = run(3).expect_err("77 isn't OK").to_string();
    let path = library.display().to_string();
    expect!["Error in pass nothing: instrument `c.meddler` of plugin `FILE` failed in run_before_pass: status 77 \
            without a message"].assert_eq(&error.replace(&path, "FILE"));
    expect![[r#"
        edit 2, run_pass 2, snapshot 0, erase 2 of 2: cannot edit a snapshot of a function
        edit 2, run_pass 2, snapshot 0, erase 2 of 2: cannot edit a snapshot of a function"#]]
    .assert_eq(&reports_seen.lock().unwrap().join("\n"));
}
