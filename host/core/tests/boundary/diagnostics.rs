//! Diagnostics of plugins: they are shown even if they are malformed.

use std::mem::offset_of;

use expect_test::expect;
use passdock_abi as abi;
use passdock_abi::{OpId, Status};
use passdock_core::boundary::{FunctionCode, ModuleInput, host};
use passdock_plugin_api as sdk;
use passdock_plugin_api::PassContext;

use crate::support::{TestFrame, module, run_on, text};

/// A struct with an additional field.
#[repr(C)]
struct Longer<T> {
    known: T,
    more: u64,
}

fn longer<T: abi::Grows>(mut known: T, more: u64) -> Longer<T> {
    // SAFETY: the struct starts with its size.
    unsafe {
        (&raw mut known)
            .cast::<u32>()
            .write(size_of::<Longer<T>>() as u32)
    };
    Longer { known, more }
}

/// The struct of an older plugin is shorter. Its missing fields count as 0.
#[test]
fn shorter_diagnostic_structs_are_read() {
    let module = module();
    let (input, _) = ModuleInput::new(&module);
    let frame = TestFrame::new();
    let pass = |_: &mut sdk::Function, cx: &PassContext| -> sdk::PassResult {
        // SAFETY: the tables and handles live while the pass runs.
        unsafe {
            let table = &*host().get().context;
            let (emit, cx) = (table.emit.expect("present"), cx.as_raw());
            let note = abi::Str::new("A note.");
            let label = abi::Label {
                op: OpId(0),
                part: abi::OpPart::OPERAND,
                index: 0,
                function: abi::symbol::EMPTY,
                attr: abi::Str::EMPTY,
                text: abi::Str::new("here"),
                ..abi::Label::EMPTY
            };
            let mut diagnostic = abi::Diagnostic {
                struct_size: size_of::<abi::Diagnostic>() as u32,
                severity: abi::Severity::WARNING,
                op: OpId(1),
                flags: 0,
                code: abi::Str::EMPTY,
                message: abi::Str::new("Long."),
                help: abi::Str::EMPTY,
                function: abi::symbol::EMPTY,
                label_stride: size_of::<abi::Label>() as u32,
                labels: &label,
                label_count: 1,
                notes: &note,
                note_count: 1,
                file: abi::Str::EMPTY,
                line: 0,
                column: 0,
            };
            assert_eq!(emit(cx, &diagnostic), Status::OK);
            diagnostic.message = abi::Str::new("Short.");
            diagnostic.struct_size = offset_of!(abi::Diagnostic, function) as u32;
            assert_eq!(emit(cx, &diagnostic), Status::OK);
            diagnostic.struct_size = 3;
            assert_eq!(emit(cx, &diagnostic), Status::INVALID);
            diagnostic.struct_size = size_of::<abi::Diagnostic>() as u32;
            diagnostic.label_stride = 4;
            assert_eq!(emit(cx, &diagnostic), Status::INVALID);
            let error = text(table.last_error.expect("present")(cx));
            Err(error.into())
        }
    };
    let function = module.function_named("main").expect("present");
    let (failed, diagnostics) = run_on(&input, &frame, FunctionCode::Closure(&pass), function);
    expect!["invalid list of labels: 1 elements of 4 bytes"]
        .assert_eq(&failed.expect_err("the pass fails").message);
    let diagnostics: Vec<String> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.render(false))
        .collect();
    expect![[r#"
        warning: Long.
         |
         | %0 = t.A(%x)
         |          ^^ here
         |
         = in function @main, op0 (t.A)
         = note: A note.
        warning: Short.
         |
         | %1 = t.A(%0)
         | ^^^^^^^^^^^^
         |
         = in function @main, op1 (t.A)"#]]
    .assert_eq(&diagnostics.join("\n"));
}

/// Diagnostics are shown without the parts that this host doesn't support.
#[test]
fn longer_diagnostic_is_shown() {
    let module = module();
    let (input, _) = ModuleInput::new(&module);
    let frame = TestFrame::new();
    let pass = |_: &mut sdk::Function, cx: &PassContext| -> sdk::PassResult {
        let label = abi::Label {
            op: OpId(0),
            text: abi::Str::new("here"),
            ..abi::Label::EMPTY
        };
        let label = longer(label, 7);
        let diagnostic = abi::Diagnostic {
            severity: abi::Severity::WARNING,
            message: abi::Str::new("Said."),
            labels: (&raw const label).cast(),
            label_count: 1,
            label_stride: size_of_val(&label) as u32,
            ..abi::Diagnostic::EMPTY
        };
        let diagnostic = longer(diagnostic, 7);
        let failure = abi::Diagnostic {
            flags: abi::Diagnostic::REASON,
            message: abi::Str::new("It failed."),
            ..abi::Diagnostic::EMPTY
        };
        let failure = longer(failure, 7);
        // SAFETY: all pointers are valid, and the context lives while the pass runs.
        unsafe {
            let table = &*host().get().context;
            let cx = cx.as_raw();
            let emitted = table.emit.expect("present")(cx, (&raw const diagnostic).cast());
            assert_eq!(emitted, Status::OK);
            let emitted = table.emit.expect("present")(cx, (&raw const failure).cast());
            assert_eq!(emitted, Status::OK);
            assert_eq!(text(table.last_error.expect("present")(cx)), "");
        }
        Ok(())
    };
    let function = module.function_named("main").expect("present");
    let (_, diagnostics) = run_on(&input, &frame, FunctionCode::Closure(&pass), function);
    expect![[r#"
        warning: Said.
         |
         | %0 = t.A(%x)
         | ^^^^^^^^^^^^ here
         |
         = in function @main, op0 (t.A)"#]]
    .assert_eq(&diagnostics[0].render(false));
}

/// Of too many parts only the first are stored, and the others are counted.
#[test]
fn parts_of_diagnostics_are_limited() {
    let module = module();
    let (input, _) = ModuleInput::new(&module);
    let frame = TestFrame::new();
    let pass = |f: &mut sdk::Function, cx: &PassContext| -> sdk::PassResult {
        let op = f.ops().next().expect("an op");
        let mut diagnostic = sdk::Diagnostic::warning("Much.")
            .code("c".repeat(200))
            .at(op);
        for at in 0..100_000 {
            diagnostic = diagnostic.with_note(format!("Note {at}."));
            diagnostic = diagnostic.label(sdk::OpSpan::operand(op, 0), format!("label {at}"));
        }
        cx.emit(&diagnostic);
        Ok(())
    };
    let function = module.function_named("main").expect("present");
    let (result, diagnostics) = run_on(&input, &frame, FunctionCode::Closure(&pass), function);
    assert!(result.is_ok());
    let [diagnostic] = &diagnostics[..] else {
        panic!("expected one diagnostic");
    };
    // The labels include the op, which comes first.
    assert_eq!((diagnostic.notes.len(), diagnostic.labels.len()), (102, 99));
    assert_eq!(
        diagnostic.notes[100..],
        [
            "99900 more notes are omitted",
            "99901 more labels are omitted"
        ]
    );
    assert!(diagnostic.render(false).contains("label 5"));
    let code = "c".repeat(100) + "… (100 more bytes are omitted)";
    assert_eq!(diagnostic.code, code);
}

/// An error counts even if its message isn't UTF-8 or is too long.
#[test]
fn malformed_text_in_diagnostics_is_replaced() {
    let module = module();
    let (input, _) = ModuleInput::new(&module);
    let frame = TestFrame::new();
    let pass = |_: &mut sdk::Function, cx: &PassContext| -> sdk::PassResult {
        cx.emit(&sdk::Diagnostic::error("x".repeat((1 << 20) + 1)));
        let latin = b"caf\xe9";
        let latin = abi::Str {
            ptr: latin.as_ptr(),
            len: latin.len(),
        };
        let label = abi::Label {
            op: OpId(0),
            part: abi::OpPart::ATTR,
            attr: latin,
            text: latin,
            ..abi::Label::EMPTY
        };
        let diagnostic = abi::Diagnostic {
            severity: abi::Severity::ERROR,
            op: OpId(0),
            message: latin,
            help: latin,
            notes: &latin,
            note_count: 1,
            labels: &label,
            label_count: 1,
            label_stride: size_of::<abi::Label>() as u32,
            ..abi::Diagnostic::EMPTY
        };
        // SAFETY: all pointers are valid, and the context lives while the pass runs.
        let status = unsafe {
            let table = &*host().get().context;
            table.emit.expect("present")(cx.as_raw(), &diagnostic)
        };
        assert_eq!(status, Status::OK);
        Ok(())
    };
    let function = module.function_named("main").expect("present");
    let (_, diagnostics) = run_on(&input, &frame, FunctionCode::Closure(&pass), function);
    let [long, latin] = &diagnostics[..] else {
        panic!("expected two diagnostics: {diagnostics:?}");
    };
    assert!(long.message.ends_with("x… (1 more bytes are omitted)"));
    expect![[r#"
        error: caf�
         |
         | %0 = t.A(%x)
         | ^^^^^^^^^^^^ caf�
         |
         = in function @main, op0 (t.A)
         = note: caf�
         = help: caf�"#]]
    .assert_eq(&latin.render(false));
}

#[test]
fn pass_that_emits_a_reason_but_returns_ok_fails() {
    let module = module();
    let (input, _) = ModuleInput::new(&module);
    let frame = TestFrame::new();
    let pass = |_: &mut sdk::Function, cx: &PassContext| -> sdk::PassResult {
        let reason = abi::Diagnostic {
            struct_size: size_of::<abi::Diagnostic>() as u32,
            op: OpId(0),
            flags: abi::Diagnostic::REASON,
            message: abi::Str::new("It can't be done."),
            ..abi::Diagnostic::EMPTY
        };
        // SAFETY: the tables and handles live while the pass runs.
        unsafe {
            let emit = (*host().get().context).emit.expect("present");
            assert_eq!(emit(cx.as_raw(), &reason), Status::OK);
        }
        Ok(())
    };
    let function = module.function_named("main").expect("present");
    let (result, _) = run_on(&input, &frame, FunctionCode::Closure(&pass), function);
    expect!["It can't be done."].assert_eq(&result.expect_err("the pass fails").message);
}
