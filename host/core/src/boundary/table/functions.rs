//! `FunctionApi`: reading and editing one function.

use passdock_abi as abi;
use passdock_abi::{
    Bytes, ConstId, ConstantDesc, Dim, ExprKind, LocId, OpDesc, OpId, PortDesc, RegionId,
    ResultsDesc, Status, Str, SymbolId, TypeDesc, TypeId, ValueId,
};
use passdock_ir::{ConstantData, Edit, EditError, Function, MAX_OPSETS, Payload, name};

use super::{copies, describe};
use crate::boundary::session::function::{FunctionSession, FunctionState};
use crate::boundary::session::{context, gate, input};

pub(in crate::boundary) static TABLE: abi::FunctionApi = abi::FunctionApi {
    last_error: Some(last_error),
    constant_data: Some(constant_data),
    create_op: Some(create_op),
    replace_op: Some(replace_op),
    replace_op_with: Some(replace_op_with),
    erase_op: Some(erase_op),
    move_op: Some(move_op),
    set_operand: Some(set_operand),
    replace_uses: Some(replace_uses),
    set_attr: Some(set_attr),
    remove_attr: Some(remove_attr),
    set_value_type: Some(set_value_type),
    set_value_name: Some(set_value_name),
    add_type: Some(add_type),
    add_expr: Some(add_expr),
    add_constant: Some(add_constant),
    erase_constant: Some(erase_constant),
    clone_region: Some(copies::clone_region),
    add_arg: Some(add_arg),
    set_results: Some(set_results),
    set_opset: Some(set_opset),
    fuse_locs: Some(fuse_locs),
    inline_region: Some(inline_region),
    set_loc: Some(set_loc),
    constant_hash: Some(constant_hash),
    constants_equal: Some(constants_equal),
    name_loc: Some(name_loc),
    replace_symbols: Some(replace_symbols),
    remove_args: Some(remove_args),
    freeze_args: Some(freeze_args),
    clone_ops: Some(copies::clone_ops),
    type_from: Some(copies::type_from),
    names_function: Some(names_function),
    replace_body: Some(copies::replace_body),
    ..abi::FunctionApi::EMPTY
};

// SAFETY of all calls below is the contract's: handles are those that the host handed out and that
// haven't ended, and what a description points to is there as long as the call.

unsafe extern "C" fn last_error(f: *const abi::Function) -> Str {
    // SAFETY: see above.
    gate::last_error(unsafe { FunctionSession::of(f) })
}

unsafe extern "C" fn constant_data(
    f: *const abi::Function,
    id: ConstId,
    out: *mut Bytes,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::read_to(out, f, |state| {
            let bytes = live_data(state, id)?.bytes();
            bytes.map(Bytes::new).map_err(io)
        })
    }
}

unsafe extern "C" fn constant_hash(f: *const abi::Function, id: ConstId, out: *mut u64) -> Status {
    // SAFETY: see above.
    unsafe { gate::read_to(out, f, |state| live_data(state, id)?.hash().map_err(io)) }
}

unsafe extern "C" fn constants_equal(
    f: *const abi::Function,
    a: ConstId,
    b: ConstId,
    out: *mut u32,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::read_to(out, f, |state| {
            let same = live_data(state, a)?.same(live_data(state, b)?);
            same.map(u32::from).map_err(io)
        })
    }
}

/// The data of a constant, if there is such a constant.
fn live_data(state: &FunctionState, id: ConstId) -> Edit<&ConstantData> {
    let function = state.read()?;
    function.live_constant(id)?;
    Ok(function.constant_data(id))
}

fn io(message: String) -> EditError {
    EditError {
        status: Status::IO,
        message,
    }
}

unsafe extern "C" fn create_op(
    f: *mut abi::Function,
    desc: *const OpDesc,
    at: *const abi::Position,
    out: *mut OpId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit_to(out, f, |state| {
            let at = describe::position(at)?;
            let function = state.edit()?;
            describe::OpParts::new(desc)?.with(|new| function.create_op(new, at))
        })
    }
}

unsafe extern "C" fn replace_op(
    f: *mut abi::Function,
    old: OpId,
    desc: *const OpDesc,
    out: *mut OpId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit_to(out, f, |state| {
            let function = state.edit()?;
            describe::OpParts::new(desc)?.with(|new| function.replace_op(old, new))
        })
    }
}

unsafe extern "C" fn replace_op_with(
    f: *mut abi::Function,
    old: OpId,
    values: *const ValueId,
    count: usize,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let values = input::list(values, count, "values")?;
            state.edit()?.replace_op_with(old, values)
        })
    }
}

unsafe extern "C" fn erase_op(f: *mut abi::Function, op: OpId) -> Status {
    // SAFETY: see above.
    unsafe { gate::edit(f, |state| state.edit()?.erase_op(op)) }
}

unsafe extern "C" fn move_op(f: *mut abi::Function, op: OpId, at: *const abi::Position) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let at = describe::position(at)?;
            state.edit()?.move_op(op, at)
        })
    }
}

unsafe extern "C" fn set_operand(
    f: *mut abi::Function,
    op: OpId,
    index: u32,
    value: ValueId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            state.edit()?.set_operand(op, index as usize, value)
        })
    }
}

unsafe extern "C" fn replace_uses(f: *mut abi::Function, from: ValueId, to: ValueId) -> Status {
    // SAFETY: see above.
    unsafe { gate::edit(f, |state| state.edit()?.replace_uses(from, to)) }
}

unsafe extern "C" fn set_attr(
    f: *mut abi::Function,
    op: OpId,
    desc: *const abi::AttrDesc,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let function = state.edit()?;
            describe::with_attr(desc, |new| function.set_attr(op, new))
        })
    }
}

unsafe extern "C" fn remove_attr(f: *mut abi::Function, op: OpId, name: SymbolId) -> Status {
    // SAFETY: see above.
    unsafe { gate::edit(f, |state| state.edit()?.remove_attr(op, name)) }
}

unsafe extern "C" fn set_value_type(f: *mut abi::Function, value: ValueId, ty: TypeId) -> Status {
    // SAFETY: see above.
    unsafe { gate::edit(f, |state| state.edit()?.set_type(value, ty)) }
}

unsafe extern "C" fn set_value_name(f: *mut abi::Function, value: ValueId, name: Str) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let name = input::text(name, "name of a value")?;
            state.edit()?.set_name(value, name)
        })
    }
}

unsafe extern "C" fn add_type(
    f: *mut abi::Function,
    desc: *const TypeDesc,
    out: *mut TypeId,
) -> Status {
    // SAFETY: see above.
    unsafe { gate::edit_to(out, f, |state| describe::add_type(state.edit()?, desc)) }
}

unsafe extern "C" fn add_expr(
    f: *mut abi::Function,
    kind: ExprKind,
    lhs: Dim,
    rhs: Dim,
    out: *mut Dim,
) -> Status {
    // SAFETY: see above.
    unsafe { gate::edit_to(out, f, |state| checked_expr(state.edit()?, kind, lhs, rhs)) }
}

/// Interns a dim expression after checking its parts.
pub(in crate::boundary) fn checked_expr(
    f: &mut Function,
    kind: ExprKind,
    lhs: Dim,
    rhs: Dim,
) -> Edit<Dim> {
    if !(ExprKind::ADD.0..=ExprKind::BROADCAST.0).contains(&kind.0) {
        return Err(input::unknown("dim expression", kind.0));
    }
    describe::check_dims(f, &[lhs, rhs])?;
    f.add_expr(kind, lhs, rhs)
}

unsafe extern "C" fn add_constant(
    f: *mut abi::Function,
    desc: *const ConstantDesc,
    out: *mut ValueId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit_to(out, f, |state| {
            let desc = input::described(desc)?;
            let name = input::text(desc.name, "name of a constant")?;
            let bytes = input::list(desc.data.ptr, desc.data.len, "bytes of a constant")?;
            let function = state.edit()?;
            let data = match desc.flags & ConstantDesc::SPLAT {
                0 => ConstantData::inline(bytes),
                _ => splat(function, desc.ty, bytes)?,
            };
            function.add_constant(desc.ty, data, desc.region, name)
        })
    }
}

fn splat(f: &Function, ty: TypeId, element: &[u8]) -> Edit<std::sync::Arc<ConstantData>> {
    let count = f.static_shape(ty).and_then(|shape| {
        let dims = shape.iter().map(|&dim| u64::try_from(dim).ok());
        dims.reduce(|a, b| a?.checked_mul(b?)).unwrap_or(Some(1))
    });
    let Some(count) = count else {
        let message = "A constant's type needs a shape of constant dims.";
        return Err(EditError::invalid(message));
    };
    Ok(ConstantData::new(Payload::Splat {
        dtype: f.live_type(ty)?.dtype,
        element: element.into(),
        count,
    }))
}

unsafe extern "C" fn erase_constant(f: *mut abi::Function, id: ConstId) -> Status {
    // SAFETY: see above.
    unsafe { gate::edit(f, |state| state.edit()?.erase_constant(id)) }
}

unsafe extern "C" fn add_arg(
    f: *mut abi::Function,
    region: RegionId,
    port: *const PortDesc,
    out: *mut ValueId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit_to(out, f, |state| {
            let port = describe::new_port(&input::described(port)?)?;
            state.edit()?.add_arg(region, &port)
        })
    }
}

unsafe extern "C" fn set_results(
    f: *mut abi::Function,
    region: RegionId,
    results: *const ResultsDesc,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let desc = input::described(results)?;
            let values = input::list(desc.values, desc.count, "results")?;
            let ports = describe::new_ports(desc.ports, desc.count, desc.port_stride)?;
            state.edit()?.set_results(region, values, &ports)
        })
    }
}

unsafe extern "C" fn set_opset(f: *mut abi::Function, domain: Str, version: i64) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let text = input::text(domain, "domain")?;
            if version < 0 {
                let message = format!("The version of the domain `{text}` would be {version}.");
                return Err(EditError::invalid(message));
            }
            let function = state.edit()?;
            let text = name::domain(text);
            let domain = function.symbols().intern(text);
            match function.opset(domain) {
                // Ops are called `onnx.Relu`, so it is easily taken for one.
                None if text == "onnx" => Err(EditError::invalid(
                    "`onnx` stands for ONNX's own domain in names of ops only: to `set_opset` it is \"\".",
                )),
                _ if version == 0 => function.remove_opset(domain),
                Some(known) if known == version => Ok(()),
                Some(known) if known > version => Err(EditError::refused(format!(
                    "The function's version of the domain `{}` is {known} and can't become \
                     {version}: what its ops mean may have come with a later one.",
                    if text.is_empty() { "onnx" } else { text }
                ))),
                None if function.opsets().len() >= MAX_OPSETS => Err(EditError::refused(format!(
                    "A function has versions of at most {MAX_OPSETS} domains; `{text}` would be one \
                     more."
                ))),
                _ => {
                    function.set_opset(domain, version);
                    Ok(())
                }
            }
        })
    }
}

unsafe extern "C" fn fuse_locs(
    f: *mut abi::Function,
    locs: *const LocId,
    count: usize,
    out: *mut LocId,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit_to(out, f, |state| {
            let locs = input::list(locs, count, "locations")?;
            let function = state.read()?;
            locs.iter().try_for_each(|&loc| function.check_loc(loc))?;
            Ok(state.edit()?.fuse_locs(locs))
        })
    }
}

unsafe extern "C" fn inline_region(
    f: *mut abi::Function,
    region: RegionId,
    args: *const ValueId,
    count: usize,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let args = input::list(args, count, "arguments")?;
            state.edit()?.inline_region(region, args)
        })
    }
}
unsafe extern "C" fn set_loc(f: *mut abi::Function, op: OpId, loc: LocId) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            state.read()?.check_loc(loc)?;
            state.edit()?.set_loc(op, loc)
        })
    }
}

unsafe extern "C" fn name_loc(f: *mut abi::Function, name: Str, out: *mut LocId) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit_to(out, f, |state| {
            let name = input::text(name, "name of a location")?;
            Ok(state.edit()?.add_name_loc(name))
        })
    }
}

unsafe extern "C" fn replace_symbols(
    f: *mut abi::Function,
    symbols: *const SymbolId,
    dims: *const Dim,
    count: usize,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let symbols = input::list(symbols, count, "symbols")?;
            let dims = input::list(dims, count, "dims")?;
            let function = state.edit()?;
            describe::check_dims(function, dims)?;
            let pairs: Vec<_> = symbols.iter().copied().zip(dims.iter().copied()).collect();
            function.replace_symbols(&pairs)?;
            // The inferred dims refer to the old symbols.
            state.forget_known_dims();
            Ok(())
        })
    }
}

unsafe extern "C" fn remove_args(
    f: *mut abi::Function,
    args: *const ValueId,
    count: usize,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let args = input::list(args, count, "arguments")?;
            state.edit()?.remove_args(args)
        })
    }
}

unsafe extern "C" fn freeze_args(
    f: *mut abi::Function,
    args: *const ValueId,
    count: usize,
) -> Status {
    // SAFETY: see above.
    unsafe {
        gate::edit(f, |state| {
            let args = input::list(args, count, "arguments")?;
            state.edit()?.freeze_args(args)
        })
    }
}

unsafe extern "C" fn names_function(f: *const abi::Function, name: SymbolId) -> u32 {
    // SAFETY: see above.
    let session = unsafe { FunctionSession::of(f) };
    gate::guard(0, || {
        let named = session.and_then(|session| {
            session.with(|state| {
                if let Some(module) = state.own_module() {
                    return Ok(module.function(name).is_some());
                }
                let symbols = state.read()?.symbols();
                let asked = context::with_current(|context| context.names_function(symbols, name));
                Ok(asked.unwrap_or(false))
            })
        });
        u32::from(named.unwrap_or(false))
    })
}
