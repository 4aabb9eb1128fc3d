//! Copying, outlining and calling from C: the results of the tables' functions, and rejected calls.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use std::sync::{Arc, Mutex};

use expect_test::expect;
use passdock::testing::run_on_text;
use passdock::{LoadOptions, Registry};
use passdock_tests::build_c_plugin;

/// Outlines two ops of `@main`, copies them to the end of `@other`, and emits notes for rejected calls.
const SOURCE: &str = r#"
#include <stdio.h>
#include "passdock.h"

static char message[2000];

static void say(const passdock_host *host, passdock_context *context, passdock_status status, passdock_str why) {
    passdock_diagnostic note = PASSDOCK_DIAGNOSTIC_INIT;
    note.severity = PASSDOCK_SEVERITY_NOTE;
    snprintf(message, sizeof message, "%u: %.*s", status, (int)why.len, why.ptr);
    note.message = passdock_text(message);
    host->context->emit(context, &note);
}

static passdock_status pass(const passdock_host *host, void *state, passdock_context *context,
                            const passdock_module_ref *m) {
    const passdock_symbols *symbols = m->view->symbols;
    passdock_symbol_id main_ = host->symbols->find(symbols, passdock_text("main"));
    passdock_symbol_id other = host->symbols->find(symbols, passdock_text("other"));
    passdock_symbol_id made = PASSDOCK_NONE;
    passdock_op_id ops[2] = {1, 0}, call = PASSDOCK_NONE;
    passdock_value_id results[2], param;
    passdock_function_ref source, f;
    passdock_clone_desc clone = PASSDOCK_CLONE_DESC_INIT;
    passdock_outline_desc outline = PASSDOCK_OUTLINE_DESC_INIT;
    passdock_type_id type;
    passdock_capture capture = {0, 0}; /* the parameter of each */
    passdock_port_desc port = PASSDOCK_PORT_DESC_INIT;
    passdock_results_desc ends = PASSDOCK_RESULTS_DESC_INIT;
    passdock_status status;
    (void)state;

    if (host->modules->snapshot(m->handle, main_, &source) != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
    if (host->modules->edit(m->handle, other, &f) != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
    clone.source = source;
    clone.ops = ops;
    clone.op_count = 2;
    clone.at.region = f.view->body;
    clone.results = results;
    clone.result_count = 1;
    status = host->functions->clone_ops(f.handle, &clone);
    say(host, context, status, host->functions->last_error(f.handle));
    clone.result_count = 2;
    status = host->functions->clone_ops(f.handle, &clone);
    say(host, context, status, host->functions->last_error(f.handle));
    clone.captures = &capture;
    clone.capture_count = 1;
    status = host->functions->clone_ops(f.handle, &clone);
    if (status != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
    /* The first result is that of the first op of the list. */
    ends.values = results;
    ends.ports = &port;
    ends.count = 1;
    status = host->functions->set_results(f.handle, f.view->body, &ends);
    if (status != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
    param = passdock_get_value(source.view, 0)->type_id;
    status = host->functions->type_from(f.handle, source.handle, param, &type);
    if (status != PASSDOCK_OK || type >= f.view->types.len) return PASSDOCK_STATUS_FAILED;
    status = host->functions->type_from(f.handle, source.handle, 99, &type);
    say(host, context, status, host->functions->last_error(f.handle));
    if (!host->functions->names_function(f.handle, main_)) return PASSDOCK_STATUS_FAILED;
    if (host->functions->names_function(f.handle, PASSDOCK_NONE)) return PASSDOCK_STATUS_FAILED;

    outline.function = main_;
    outline.ops = ops;
    outline.op_count = 2;
    outline.name = passdock_text("onnx.Block");
    status = host->modules->outline(m->handle, &outline, &made, &call);
    say(host, context, status, host->modules->last_error(m->handle));
    outline.name = passdock_text("block block");
    status = host->modules->outline(m->handle, &outline, &made, &call);
    say(host, context, status, host->modules->last_error(m->handle));
    outline.name = passdock_text("acme.Block");
    status = host->modules->outline(m->handle, &outline, NULL, &call);
    say(host, context, status, host->modules->last_error(m->handle));
    outline.struct_size = 4;
    status = host->modules->outline(m->handle, &outline, &made, &call);
    say(host, context, status, host->modules->last_error(m->handle));
    outline.struct_size = sizeof outline;
    ops[0] = 77;
    status = host->modules->outline(m->handle, &outline, &made, &call);
    say(host, context, status, host->modules->last_error(m->handle));
    ops[0] = 1;
    status = host->modules->outline(m->handle, &outline, &made, &call);
    if (status != PASSDOCK_OK) return PASSDOCK_STATUS_FAILED;
    say(host, context, call, host->symbols->text(symbols, made));
    /* The ops are erased; an earlier handle stays valid. */
    status = host->modules->outline(m->handle, &outline, &made, &call);
    say(host, context, status, host->modules->last_error(m->handle));
    return host->functions->set_value_name(f.handle, 0, passdock_text("renamed"));
}

PASSDOCK_MANIFEST_TEXT("name = 'c'\nversion = '1.0.0'\n"
                       "[[pass]]\nname = 'c.transform.Outline'\nkind = 'module'\n");

static const passdock_pass_entry passes[] = {
    {.name = PASSDOCK_STR("c.transform.Outline"), .run_module = pass},
};
static const passdock_plugin plugin = {.struct_size = sizeof plugin,
                                       .passes = passes,
                                       .pass_count = 1,
                                       .pass_stride = sizeof passes[0]};
PASSDOCK_ENTRY(plugin);
"#;

const MODULE: &str = r#"module {
  fn @main(%x: f32[n,(n*2)]) -> (%y: f32[n,(n*2)]) opset("" = 17) {
    %two = const f32[1] [2.0]
    %a = onnx.Mul(%x, %two) : f32[n,(n*2)] loc("first")
    %b = onnx.Add(%a, %x) {like = tensor f32[1] [1.0]} : f32[n,(n*2)]
    %c = onnx.Neg(%b) : f32[n,(n*2)]
    return %c
  }
  fn @other(%v: f32[k,4]) {
    return %v
  }
}
"#;

#[test]
fn copying_outlining_and_rejected_calls() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = dir.path().join("outlines.c");
    std::fs::write(&source, SOURCE).expect("writes the source");
    let Some(library) = build_c_plugin(&source, dir.path()) else {
        return;
    };
    let registry = Registry::new();
    registry
        .load_plugin(&library, &LoadOptions::default())
        .expect("a plugin");
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = seen.clone();
    let done = run_on_text(&registry, &["c.transform.Outline"], MODULE, |context| {
        context.on_diagnostic(move |note| noted.lock().unwrap().push(note.message.clone()))
    });
    expect![["
        3: the ops to copy have 2 values, expected 1
        2: the ops use %x, which has no entry in the list of captures
        1: function `@main` has no type type99
        2: function name `onnx.Block` needs a domain to differ from ONNX operators, as in `acme.Block`
        3: invalid name \"block block\": expected `DOMAIN.NAME`, with quotes around parts with characters other \
          than letters, digits and `_`
        3: the pointer to the result is null
        3: invalid name \"\": expected `DOMAIN.NAME`, with quotes around parts with characters other than letters, \
          digits and `_`
        1: function `@main` has no op op77
        4: acme.Block
        1: op1 was erased"]].assert_eq(&seen.lock().unwrap().join("\n"));
    expect![[r#"
        module {
          fn @main(%x: f32[n,n*2]) -> (%y: f32[n,n*2]) opset("" = 17, "acme" = 1) {
            %b = acme.Block(%x) : f32[n,n*2]
            %c = onnx.Neg(%b) : f32[n,n*2]
            return %c
          }
          fn @other(%renamed: f32[k,4]) opset("" = 17) {
            %two = const f32[1] [2.0]
            %a = onnx.Mul(%renamed, %two) : f32[n,n*2] loc("first")
            %b = onnx.Add(%a, %renamed) {like = tensor f32[1] [1.0]} : f32[n,n*2]
            return %b
          }
          fn @acme.Block(%x: f32[n,n*2]) -> (%b: f32[n,n*2]) opset("" = 17, "acme" = 1) {
            %two = const f32[1] [2.0]
            %a = onnx.Mul(%x, %two) : f32[n,n*2] loc("first")
            %b = onnx.Add(%a, %x) {like = tensor f32[1] [1.0]} : f32[n,n*2]
            return %b
          }
        }
    "#]]
    .assert_eq(&done);
}
