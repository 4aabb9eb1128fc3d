//! Plugins of a later ABI version, whose structs have fields that this host doesn't have.

use expect_test::{Expect, expect};
use passdock_abi as abi;
use passdock_abi::{AttrKind, OpId, RegionId, Status};
use passdock_core::boundary::{FunctionCode, ModuleInput, host};
use passdock_plugin_api as sdk;
use passdock_plugin_api::PassContext;

use crate::support::{TestFrame, module, raw, run, run_on, text};

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

fn op_desc() -> abi::OpDesc {
    abi::OpDesc {
        name: abi::symbol::IF,
        loc: abi::LocId::NONE,
        ..abi::OpDesc::EMPTY
    }
}

fn create<T>(f: *mut abi::Function, desc: &T) -> Status {
    let (at, mut out) = (abi::Position::end_of(RegionId(0)), OpId::NONE);
    let desc = std::ptr::from_ref(desc).cast();
    // SAFETY: a description of an op, or a struct that begins with one. All pointers are valid.
    let status = unsafe { raw().create_op.expect("present")(f, desc, &at, &mut out) };
    assert_eq!(status.is_ok(), out.is_some());
    status
}

fn create_with(f: *mut abi::Function, more: u64) -> Status {
    let attr = abi::AttrDesc {
        kind: AttrKind::INT,
        name: abi::symbol::INDEX,
        ..abi::AttrDesc::EMPTY
    };
    let attrs = [longer(attr, 0), longer(attr, more)];
    let desc = abi::OpDesc {
        attrs: (&raw const attrs).cast(),
        attr_count: 2,
        attr_stride: size_of_val(&attrs[0]) as u32,
        ..op_desc()
    };
    create(f, &desc)
}

#[track_caller]
fn check(call: fn(*mut abi::Function) -> Status, expected: Expect) {
    let result = run(&module(), &TestFrame::new(), move |f, _| {
        let handle = f.as_raw().handle;
        let status = call(handle);
        // SAFETY: the handle is live.
        let error = unsafe { text(raw().last_error.expect("present")(handle)) };
        Err(format!("{} {error}", status.0).into())
    });
    expected.assert_eq(&result.expect_err("the pass fails"));
}

/// A request with an unknown nonzero field is rejected completely.
#[test]
fn unknown_nonzero_field_is_rejected() {
    check(
        |f| create(f, &longer(op_desc(), 0)),
        expect!["failed: 0  [main]"],
    );
    check(
        |f| create(f, &longer(op_desc(), 7)),
        expect!["failed: 5 unsupported fields of `OpDesc` after byte 88 [main]"],
    );
    check(|f| create_with(f, 0), expect!["failed: 0  [main]"]);
    check(
        |f| create_with(f, 1 << 63),
        expect!["failed: 5 unsupported fields of `AttrDesc` after byte 48 [main]"],
    );
    let endless = |f| {
        let struct_size = u32::MAX;
        create(
            f,
            &abi::OpDesc {
                struct_size,
                ..op_desc()
            },
        )
    };
    check(
        endless,
        expect![
            "failed: 3 invalid `struct_size` 4294967295 of `OpDesc`: expected the size of the struct in bytes [main]"
        ],
    );
}

fn set(f: *mut abi::Function, kind: AttrKind, change: fn(&mut abi::AttrDesc)) -> Status {
    let mut attr = abi::AttrDesc {
        kind,
        name: abi::symbol::INDEX,
        ..abi::AttrDesc::EMPTY
    };
    change(&mut attr);
    // SAFETY: all pointers are valid.
    unsafe { raw().set_attr.expect("present")(f, OpId(0), &attr) }
}

/// Reserved fields must be zero, so that later versions can use them.
#[test]
fn nonzero_reserved_field_is_rejected() {
    check(
        |f| set(f, AttrKind::INT, |attr| attr.reserved = 7),
        expect!["failed: 5 unknown flag 0x7 of `AttrDesc` [main]"],
    );
    check(
        |f| set(f, AttrKind::INT, |attr| attr.stands_for = AttrKind::INT),
        expect!["failed: 3 only a reference attribute can have `stands_for` [main]"],
    );
    check(
        |f| set(f, AttrKind::FLOAT, |attr| attr.bits = 1 << 32),
        expect!["failed: 3 expected 32 bits for an attribute, found 0x100000000 [main]"],
    );
    check(
        |f| set(f, AttrKind::TYPE, |attr| attr.bits = 1 << 32),
        expect!["failed: 3 expected 32 bits for an attribute, found 0x100000000 [main]"],
    );
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
