//! The mock host's tables: functions over [`MockFunction`].

use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Once;

use passdock_abi as abi;
use passdock_abi::{
    AttrDesc, Bytes, ConstId, ConstantDesc, OpDesc, OpId, PortDesc, Position, RegionId, Status,
    Str, SymbolId, TypeDesc, TypeId, ValueId,
};

use super::arena::{list, Edit, MockFunction};
use super::symbols::SYMBOLS;
use super::{analyses, context, module};
use crate::raw::{text, Tables};

/// Does an edit and turns its answer into a status.
///
/// # Safety
/// `handle` is a `MockFunction`'s, and nobody borrows from it.
unsafe fn edit<T>(
    handle: *mut abi::Function,
    out: Option<*mut T>,
    then: impl FnOnce(&mut MockFunction) -> Edit<T>,
) -> Status {
    // SAFETY: the caller's promise.
    let function = unsafe { &mut *handle.cast::<MockFunction>() };
    let done = then(function);
    function.refresh();
    match done {
        Ok(value) => {
            if let Some(out) = out {
                // SAFETY: the contract: `out` points to room for the answer.
                unsafe { out.write(value) };
            }
            Status::OK
        }
        Err((status, message)) => {
            function.error = message;
            status
        }
    }
}

// The functions of the tables. SAFETY (all): the SDK keeps the contract.

unsafe extern "C" fn last_error(handle: *const abi::Function) -> Str {
    unsafe { Str::new(&(*handle.cast::<MockFunction>()).error) }
}

unsafe extern "C" fn constant_data(
    handle: *const abi::Function,
    id: ConstId,
    out: *mut Bytes,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let function = &*handle.cast::<MockFunction>();
        match function.data.get(id.index()) {
            Some(data) => {
                *out = Bytes::new(data);
                Status::OK
            }
            None => Status::STALE,
        }
    }
}

unsafe extern "C" fn create_op(
    handle: *mut abi::Function,
    desc: *const OpDesc,
    at: *const Position,
    out: *mut OpId,
) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, Some(out), |f| f.create(&*desc, *at)) }
}

unsafe extern "C" fn replace_op(
    handle: *mut abi::Function,
    old: OpId,
    desc: *const OpDesc,
    out: *mut OpId,
) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, Some(out), |f| {
            f.live(old)?;
            let new = f.create(&*desc, Position::before(old))?;
            let values = f.results(new);
            f.replace_with(old, &values)?;
            Ok(new)
        })
    }
}

unsafe extern "C" fn replace_op_with(
    handle: *mut abi::Function,
    old: OpId,
    values: *const ValueId,
    count: usize,
) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, None, |f| f.replace_with(old, list(values, count))) }
}

unsafe extern "C" fn erase_op(handle: *mut abi::Function, op: OpId) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, None, |f| f.erase(op)) }
}

unsafe extern "C" fn move_op(handle: *mut abi::Function, op: OpId, at: *const Position) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, None, |f| {
            f.live(op)?;
            f.unlink_op(op);
            f.link_op(op, *at)
        })
    }
}

unsafe extern "C" fn set_operand(
    handle: *mut abi::Function,
    op: OpId,
    index: u32,
    value: ValueId,
) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, None, |f| {
            f.live(op)?;
            f.live_value(value)?;
            let mut operands = f.operands(op);
            match (index as usize).cmp(&operands.len()) {
                std::cmp::Ordering::Less => operands[index as usize] = value,
                std::cmp::Ordering::Equal => operands.push(value),
                std::cmp::Ordering::Greater => {
                    let message = format!("{} has {} operands, no {}", op, operands.len(), index);
                    return Err((Status::REFUSED, message));
                }
            }
            f.set_operands(op, &operands);
            Ok(())
        })
    }
}

unsafe extern "C" fn replace_uses(
    handle: *mut abi::Function,
    from: ValueId,
    to: ValueId,
) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, None, |f| {
            f.live_value(from)?;
            f.live_value(to)?;
            f.replace_uses(from, to);
            Ok(())
        })
    }
}

unsafe extern "C" fn set_attr(
    handle: *mut abi::Function,
    op: OpId,
    desc: *const AttrDesc,
) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, None, |f| {
            if op.is_some() {
                f.live(op)?;
            }
            f.set_attr(op, &*desc);
            Ok(())
        })
    }
}

unsafe extern "C" fn remove_attr(handle: *mut abi::Function, op: OpId, name: SymbolId) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, None, |f| {
            let mut attrs = f.attrs_of(op);
            let before = attrs.len();
            attrs.retain(|attr| attr.name != name);
            if attrs.len() == before {
                return Err((Status::NOT_FOUND, format!("{} has no such attribute", op)));
            }
            f.put_attrs(op, attrs);
            Ok(())
        })
    }
}

unsafe extern "C" fn set_type(handle: *mut abi::Function, value: ValueId, ty: TypeId) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, None, |f| {
            f.live_value(value)?;
            f.values[value.index()].ty = ty;
            Ok(())
        })
    }
}

unsafe extern "C" fn set_name(handle: *mut abi::Function, value: ValueId, name: Str) -> Status {
    // SAFETY: as above.
    unsafe {
        let name = intern(std::ptr::null(), name);
        edit(handle, None, |f| {
            f.live_value(value)?;
            f.values[value.index()].name = name;
            Ok(())
        })
    }
}

unsafe extern "C" fn add_type(
    handle: *mut abi::Function,
    desc: *const TypeDesc,
    out: *mut TypeId,
) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, Some(out), |f| Ok(f.add_type(&*desc))) }
}

unsafe extern "C" fn add_constant(
    handle: *mut abi::Function,
    desc: *const ConstantDesc,
    out: *mut ValueId,
) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, Some(out), |f| Ok(f.add_constant(&*desc))) }
}

unsafe extern "C" fn add_arg(
    handle: *mut abi::Function,
    region: RegionId,
    port: *const PortDesc,
    out: *mut ValueId,
) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, Some(out), |f| Ok(f.add_arg(region, *port))) }
}

unsafe extern "C" fn clone_region(
    handle: *mut abi::Function,
    desc: *const abi::CloneDesc,
) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, None, |f| f.clone_region(&*desc)) }
}

unsafe extern "C" fn set_results(
    handle: *mut abi::Function,
    region: RegionId,
    values: *const ValueId,
    ports: *const PortDesc,
    count: usize,
) -> Status {
    // SAFETY: as above.
    unsafe {
        edit(handle, None, |f| {
            f.set_results(region, list(values, count), list(ports, count))
        })
    }
}

unsafe extern "C" fn inline_region(
    handle: *mut abi::Function,
    region: RegionId,
    args: *const ValueId,
    count: usize,
) -> Status {
    // SAFETY: as above.
    unsafe { edit(handle, None, |f| f.inline_region(region, list(args, count))) }
}

unsafe extern "C" fn set_opset(handle: *mut abi::Function, domain: Str, version: i64) -> Status {
    // SAFETY: as above.
    unsafe {
        let domain = intern(std::ptr::null(), domain);
        edit(handle, None, |f| {
            match f.opsets.iter().find(|opset| opset.domain == domain) {
                Some(opset) if opset.version != version => {
                    let message = "the domain's version is another one".to_owned();
                    return Err((Status::REFUSED, message));
                }
                Some(_) => {}
                None => f.opsets.push(abi::Opset {
                    domain,
                    reserved: 0,
                    version,
                }),
            }
            Ok(())
        })
    }
}

unsafe extern "C" fn symbol_text(_: *const abi::Symbols, id: SymbolId) -> Str {
    SYMBOLS.with(|symbols| {
        let symbols = symbols.borrow();
        Str::new(symbols.texts.get(id.index()).map_or("", |text| text))
    })
}

unsafe extern "C" fn intern(_: *const abi::Symbols, name: Str) -> SymbolId {
    // SAFETY: as above.
    let name = unsafe { text(name) };
    SYMBOLS.with(|symbols| symbols.borrow_mut().intern(name))
}

unsafe extern "C" fn find(_: *const abi::Symbols, name: Str) -> SymbolId {
    // SAFETY: as above.
    let name = unsafe { text(name) };
    SYMBOLS.with(|symbols| {
        symbols
            .borrow()
            .ids
            .get(name)
            .copied()
            .unwrap_or(SymbolId::NONE)
    })
}

/// A table with every slot empty.
///
/// # Safety
/// `T` is a table: all zeros is one.
unsafe fn empty<T>() -> T {
    // SAFETY: the caller's promise.
    unsafe { std::mem::zeroed() }
}

/// The mock host's table: one a process, as a host has one.
pub(super) fn host() -> *const abi::Host {
    static HOST: AtomicPtr<abi::Host> = AtomicPtr::new(std::ptr::null_mut());
    static MADE: Once = Once::new();
    MADE.call_once(|| HOST.store(Box::leak(Box::new(new_host())), Ordering::Release));
    HOST.load(Ordering::Acquire)
}

pub(super) fn tables() -> &'static Tables {
    static TABLES: AtomicPtr<Tables> = AtomicPtr::new(std::ptr::null_mut());
    static MADE: Once = Once::new();
    MADE.call_once(|| {
        // SAFETY: leaked tables, filled below.
        let tables = unsafe { Tables::new(host()) }.expect("the mock host speaks this version");
        TABLES.store(Box::leak(Box::new(tables)), Ordering::Release);
    });
    // SAFETY: set to a leaked box above.
    unsafe { &*TABLES.load(Ordering::Acquire) }
}

fn new_host() -> abi::Host {
    fn leak<T>(table: T) -> *const T {
        Box::leak(Box::new(table))
    }
    fn size<T>() -> u32 {
        std::mem::size_of::<T>() as u32
    }
    // SAFETY: tables, of which all zeros is one.
    unsafe {
        abi::Host {
            struct_size: size::<abi::Host>(),
            reserved: 0,
            abi: abi::ABI,
            ir: abi::IR,
            symbols: leak(abi::SymbolApi {
                struct_size: size::<abi::SymbolApi>(),
                reserved: 0,
                text: Some(symbol_text),
                intern: Some(intern),
                find: Some(find),
            }),
            functions: leak(abi::FunctionApi {
                struct_size: size::<abi::FunctionApi>(),
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
                set_type: Some(set_type),
                set_name: Some(set_name),
                add_type: Some(add_type),
                add_constant: Some(add_constant),
                add_arg: Some(add_arg),
                clone_region: Some(clone_region),
                set_results: Some(set_results),
                set_opset: Some(set_opset),
                inline_region: Some(inline_region),
                ..empty()
            }),
            modules: leak(abi::ModuleApi {
                struct_size: size::<abi::ModuleApi>(),
                last_error: Some(module::last_error),
                snapshot: Some(module::snapshot),
                release: Some(module::release),
                ..empty()
            }),
            context: leak(abi::ContextApi {
                struct_size: size::<abi::ContextApi>(),
                opt_level: Some(context::opt_level),
                option: Some(context::option),
                emit: Some(context::emit),
                fail: Some(context::fail),
                ..empty()
            }),
            ops: std::ptr::null(),
            get_extension: Some(analyses::get_extension),
        }
    }
}
