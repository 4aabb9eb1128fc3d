//! Op definitions: some that are right, and one that does what the next step says.

use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::{Dim, FunctionRef, OpCall, OpId, Status, Str, TypeDesc, TypeKind};
use passdock_core::boundary::host;

use super::arguments::{Call, read};
use super::calls;
use super::script::Script;
use super::session::{Ids, records_of};

/// Bodies that an op is made of, and what is none.
pub(super) const BODIES: [&str; 12] = [
    "fn @body(%0) { %1 = f.A(%0) return %1 }",
    "fn @body(%0, %1) { %2 = f.B(%0, %1) %3 = f.Body(%2) return %3 }",
    "fn @body() { %c = const f32[2] [1.0, 2.0] return %c }",
    "fn @body(%0) { return %0 }",
    "fn @body(%0) { return }",
    "fn @body(%0) { %1 = if(%0) region { yield %0 } region { yield %0 } return %1 }",
    "fn @body(%0: f32[n]) -> (%named) { %x = f.A(%0) : f32[n] return %x, %x }",
    "fn @body(%0) { %1 = call @f.helper(%0) return %1 }",
    "fn @body(%0) { %1 = other.Op(%0) {a = 1} return %1 } fn @two() { return }",
    "module { }",
    "fn @body(%0) { %1 = f.A(%2) return %1 }",
    "",
];

/// The result's type is that of the first operand.
pub(super) unsafe extern "C" fn as_operand(
    _: *mut c_void,
    call: *mut OpCall,
    function: *const FunctionRef,
    op: OpId,
) -> Status {
    // SAFETY: the host's arguments, which are there until this returns, and its tables.
    unsafe {
        let t = &*host().get().definitions;
        let view = &*(*function).view;
        let ops = records_of::<abi::Op>(view.ops);
        let uses = records_of::<abi::Use>(view.uses);
        let values = records_of::<abi::Value>(view.values);
        let Some(first) = uses.get(ops[op.index()].operands.start as usize) else {
            return Status::OK;
        };
        if ops[op.index()].operands.len == 0 || first.value.is_none() {
            return Status::OK;
        }
        let ty = values[first.value.index()].ty;
        let types = records_of::<abi::Type>(view.types);
        let Some(ty) = types.get(ty.index()).copied() else {
            return Status::OK;
        };
        if ty.kind != TypeKind::TENSOR {
            return Status::OK;
        }
        let all = records_of::<Dim>(view.dims);
        let dims = &all[ty.dims.start as usize..][..ty.dims.len as usize];
        let desc = TypeDesc {
            kind: ty.kind,
            dtype: ty.dtype,
            flags: ty.flags,
            name: ty.name,
            dims: dims.as_ptr(),
            dim_count: dims.len(),
            ..TypeDesc::EMPTY
        };
        t.set_result_type.expect("is there")(call, 0, &desc)
    }
}

/// The result is a tensor of two integers.
pub(super) unsafe extern "C" fn ones(
    _: *mut c_void,
    call: *mut OpCall,
    _: *const FunctionRef,
    _: OpId,
) -> Status {
    static TWO: Dim = Dim::constant(2);
    let desc = TypeDesc {
        kind: TypeKind::TENSOR,
        dtype: abi::DType::I32,
        dims: &TWO,
        dim_count: 1,
        name: abi::SymbolId::NONE,
        ..TypeDesc::EMPTY
    };
    // SAFETY: the host's argument and tables; there is room for what was asked for.
    unsafe {
        let t = &*host().get().definitions;
        let mut room = std::ptr::null_mut();
        let status = t.allocate_result.expect("is there")(call, 0, &desc, 8, &mut room);
        if status.is_ok() {
            room.write_bytes(1, 8);
        }
        status
    }
}

/// The body is one of a list.
pub(super) unsafe extern "C" fn body(
    _: *mut c_void,
    call: *mut OpCall,
    _: *const FunctionRef,
    _: OpId,
) -> Status {
    let which = Script::next().map_or(0, |step| step.below(BODIES.len()));
    // SAFETY: the host's argument and tables.
    unsafe {
        let t = &*host().get().definitions;
        t.set_body.expect("is there")(call, Str::new(BODIES[which]))
    }
}

/// Takes a few steps, each a call.
pub(super) unsafe extern "C" fn scripted(
    _: *mut c_void,
    call: *mut OpCall,
    function: *const FunctionRef,
    op: OpId,
) -> Status {
    for _ in 0..4 {
        let Some(step) = Script::next() else {
            return Status::OK;
        };
        // SAFETY: the host's arguments, which are there until this returns, and its tables.
        unsafe {
            let (function, table) = (*function, host().get());
            let symbols = (*function.view).symbols;
            let mut c = Call::new(&step, Ids::of(function), symbols);
            (c.call, c.function) = (call, function.handle);
            c.context = (*table.context).current.expect("is there")(table);
            if step.what() % 16 == 0 {
                // A definition may read, and nothing else.
                let status = (*table.functions).erase_op.expect("is there")(function.handle, op);
                assert!(!status.is_ok(), "a definition edits");
                calls::ops(&c);
            } else if let Some(status) = calls::definitions(&c) {
                assert!(status.0 <= Status::CONFIG.0, "{status:?}");
                c.check_rooms(status);
                if !status.is_ok() {
                    let error = read((*table.definitions).last_error.expect("is there")(call));
                    assert!(!error.contains("mistake in passdock"), "{error}");
                }
            }
        }
        if step.one_in(3) {
            return Status(u32::from(step.pick(&[0u8, 0, 0, 2, 4, 6, 7, 9])));
        }
    }
    Status::OK
}
