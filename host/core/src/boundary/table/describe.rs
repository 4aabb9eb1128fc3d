//! The conversion of descriptions from the plugin ABI to the IR's types, checked, and borrowed where possible.

use passdock_abi as abi;
use passdock_abi::{AttrKind, DimKind, SymbolId, TypeId, TypeKind};
use passdock_ir::{
    AttrData, BufferSpec, Edit, EditFailure, Function, NewAttr, NewOp, NewPort, NewRegion,
    Position, TypeData,
};

use crate::boundary::session::input;

/// Calls `then` with the op in the IR's form.
///
/// # Safety
/// Everything that the description points to meets the conditions of [`input::list`].
pub(in crate::boundary) unsafe fn with_op<T>(
    desc: &abi::OpDesc,
    then: impl FnOnce(&NewOp<'_>) -> Edit<T>,
) -> Edit<T> {
    // SAFETY: the caller's promise, here and below.
    let (operands, attr_descs, region_descs) = unsafe {
        (
            input::list(desc.operands, desc.operand_count, "operands")?,
            input::strided(desc.attrs, desc.attr_count, desc.attr_stride, "attributes")?,
            input::strided(
                desc.regions,
                desc.region_count,
                desc.region_stride,
                "regions",
            )?,
        )
    };
    let mut strings = Vec::new();
    for attr in attr_descs.iter() {
        // SAFETY: as above.
        strings.extend(unsafe { self::strings(&attr?) }.transpose()?);
    }
    let (mut attrs, mut strings) = (Vec::with_capacity(attr_descs.len()), strings.iter());
    for attr in attr_descs.iter() {
        // SAFETY: as above.
        attrs.push(unsafe { new_attr(&attr?, &mut strings)? });
    }
    let mut ports = Vec::new();
    for region in region_descs.iter() {
        let region = region?;
        // SAFETY: as above.
        let args = unsafe { new_ports(region.args, region.arg_count, region.arg_stride)? };
        ports.push((region.name, args));
    }
    let regions = ports
        .iter()
        .map(|&(name, ref args)| NewRegion { name, args });
    let regions: Vec<NewRegion<'_>> = regions.collect();
    let untyped;
    let result_types = match desc.result_types.is_null() && desc.result_count > 0 {
        true if desc.result_count > passdock_ir::function::MAX_LIST => {
            return Err(EditFailure::invalid("the op has too many results"));
        }
        true => {
            untyped = vec![TypeId::NONE; desc.result_count];
            &untyped
        }
        // SAFETY: as above.
        false => unsafe { input::list(desc.result_types, desc.result_count, "result types")? },
    };
    then(&NewOp {
        operands,
        result_types,
        attrs: &attrs,
        regions: &regions,
        loc: desc.loc,
        take_regions: desc.flags & abi::OpDesc::TAKE_REGIONS != 0,
        take_attrs: desc.flags & abi::OpDesc::TAKE_ATTRS != 0,
        ..NewOp::new(desc.name)
    })
}

/// Returns the strings of an attribute, or `None` if its kind isn't `STRINGS`.
///
/// # Safety
/// The list and each string meet the conditions of [`input::list`].
unsafe fn strings<'a>(attr: &abi::AttrDesc) -> Option<Edit<Vec<&'a [u8]>>> {
    if attr.kind != AttrKind::STRINGS {
        return None;
    }
    // SAFETY: the caller's promise, here and below.
    let strings = unsafe { input::list::<abi::Bytes>(attr.data.cast(), attr.count, "strings") };
    Some(strings.and_then(|strings| {
        let each = strings.iter();
        // SAFETY: as above.
        each.map(|s| unsafe { input::list(s.ptr, s.len, "string") })
            .collect()
    }))
}

/// Converts a list of ports.
///
/// # Safety
/// See [`input::strided`].
pub(in crate::boundary) unsafe fn new_ports<'a>(
    ports: *const abi::PortDesc,
    count: usize,
    stride: u32,
) -> Edit<Vec<NewPort<'a>>> {
    // SAFETY: the caller's promise, here and below.
    let ports = unsafe { input::strided(ports, count, stride, "ports")? };
    // SAFETY: as above.
    ports.iter().map(|p| unsafe { new_port(&p?) }).collect()
}

/// Converts a port, and checks its name.
///
/// # Safety
/// See [`input::text`].
pub(in crate::boundary) unsafe fn new_port<'a>(port: &abi::PortDesc) -> Edit<NewPort<'a>> {
    Ok(NewPort {
        // SAFETY: the caller's promise.
        name: unsafe { input::text(port.name, "name of a port")? },
        ty: port.ty,
    })
}

/// Calls `then` with the attribute in the IR's form.
///
/// # Safety
/// Everything that the description points to meets the conditions of [`input::list`].
pub(in crate::boundary) unsafe fn with_attr<T>(
    desc: &abi::AttrDesc,
    then: impl FnOnce(&NewAttr<'_>) -> Edit<T>,
) -> Edit<T> {
    // SAFETY: the caller's promise, here and below.
    let strings = unsafe { strings(desc) }.transpose()?;
    // SAFETY: as above.
    let attr = unsafe { new_attr(desc, &mut strings.as_slice().iter())? };
    then(&attr)
}

/// # Safety
/// The data meets the conditions of [`input::list`].
unsafe fn new_attr<'a>(
    desc: &abi::AttrDesc,
    strings: &mut std::slice::Iter<'a, Vec<&'a [u8]>>,
) -> Edit<NewAttr<'a>> {
    /// # Safety
    /// See [`input::list`].
    unsafe fn data<'a, T>(desc: &abi::AttrDesc) -> Edit<&'a [T]> {
        // SAFETY: the caller's promise, here and below.
        unsafe { input::list(desc.data.cast(), desc.count, "attribute's data") }
    }
    // Attributes of models may have an empty name, which they keep.
    if desc.name == abi::symbol::EMPTY {
        return Err(EditFailure::invalid("missing name of an attribute"));
    }
    if desc.stands_for.0 > AttrKind::OPAQUE.0 {
        return Err(input::unknown("attribute", desc.stands_for.0));
    }
    if desc.stands_for != AttrKind::NONE && desc.kind != AttrKind::REFERENCE {
        return Err(EditFailure::invalid(
            "only a reference attribute can have `stands_for`",
        ));
    }
    let half = || {
        let half = u32::try_from(desc.bits);
        half.map_err(|_| {
            EditFailure::invalid(format!(
                "expected 32 bits for an attribute, found {:#x}",
                desc.bits
            ))
        })
    };
    let value = match desc.kind {
        AttrKind::NONE => AttrData::None,
        AttrKind::INT => AttrData::Int(desc.bits as i64),
        AttrKind::FLOAT => AttrData::Float(f32::from_bits(half()?)),
        AttrKind::TENSOR => AttrData::Tensor(abi::ConstId(half()?)),
        AttrKind::TYPE => AttrData::Type(TypeId(half()?)),
        AttrKind::REFERENCE => AttrData::Reference(SymbolId(half()?), desc.stands_for),
        // SAFETY: as above.
        AttrKind::STRING => AttrData::String(unsafe { data(desc)? }),
        // SAFETY: as above.
        AttrKind::OPAQUE => AttrData::Opaque(unsafe { data(desc)? }),
        // SAFETY: as above.
        AttrKind::INTS => AttrData::Ints(unsafe { data(desc)? }),
        // SAFETY: as above.
        AttrKind::FLOATS => AttrData::Floats(unsafe { data(desc)? }),
        // SAFETY: as above.
        AttrKind::TYPES => AttrData::Types(unsafe { data(desc)? }),
        // SAFETY: as above.
        AttrKind::TENSORS => AttrData::Tensors(unsafe { data(desc)? }),
        AttrKind::STRINGS => AttrData::Strings(strings.next().map_or(&[], |s| s)),
        AttrKind::REGION | AttrKind::REGIONS => {
            let message = "a region attribute is created with the op's regions";
            return Err(EditFailure::invalid(message));
        }
        AttrKind(kind) => return Err(input::unknown("attribute", kind)),
    };
    Ok(NewAttr {
        name: desc.name,
        value,
        param: desc.flags & abi::Attr::PARAM != 0,
    })
}

/// Converts the position for a new op.
pub(in crate::boundary) fn position(at: &abi::Position) -> Position {
    Position {
        region: at.region,
        before: at.before,
    }
}

/// Interns a described type.
///
/// # Safety
/// Everything that the description points to meets the conditions of [`input::list`].
pub(in crate::boundary) unsafe fn add_type(f: &mut Function, desc: &abi::TypeDesc) -> Edit<TypeId> {
    // SAFETY: the caller's promise, here and below.
    let dims = unsafe { input::list(desc.dims, desc.dim_count, "dims")? };
    // SAFETY: as above.
    let layout = unsafe { input::list(desc.layout, desc.layout_count, "layout")? };
    // SAFETY: as above.
    let items = unsafe { input::list(desc.items, desc.item_count, "types")? };
    check_dims(f, dims)?;
    if dims.iter().any(|d| d.kind == DimKind::CONST && d.value < 0) {
        return Err(EditFailure::invalid("negative dim in a shape"));
    }
    check_dims(f, layout)?;
    for &item in items {
        f.live_type(item)?;
    }
    if desc.name.is_some() {
        f.live_symbol(desc.name)?;
    }
    if desc.dtype.0 > u32::from(u16::MAX) {
        return Err(EditFailure::unsupported(format!(
            "unknown dtype {}",
            desc.dtype.0
        )));
    }
    let one = || match items {
        [item] => Ok(*item),
        _ => Err(EditFailure::invalid(
            "this kind of type has exactly one item type",
        )),
    };
    let shape = (desc.flags & abi::Type::UNRANKED == 0).then_some(dims);
    let spec = match desc.kind {
        TypeKind::UNKNOWN => TypeData::Unknown,
        TypeKind::TENSOR => TypeData::Tensor(desc.dtype, shape),
        TypeKind::SPARSE => TypeData::Sparse(desc.dtype, shape),
        TypeKind::SCALAR => TypeData::Scalar(desc.dtype, desc.lanes),
        TypeKind::BUFFER => {
            if !layout.is_empty() && layout.len() != dims.len() + 1 {
                let message = "expected a stride per dim and an offset in a buffer's layout";
                return Err(EditFailure::invalid(message));
            }
            TypeData::Buffer(BufferSpec {
                dtype: desc.dtype,
                shape: dims,
                layout,
                scope: desc.name,
                may_alias: desc.flags & abi::Type::MAY_ALIAS != 0,
            })
        }
        TypeKind::TUPLE => TypeData::Tuple(items),
        TypeKind::SEQUENCE => TypeData::Sequence(one()?),
        TypeKind::OPTIONAL => TypeData::Optional(one()?),
        TypeKind::MAP => TypeData::Map(desc.dtype, one()?),
        TypeKind::OPAQUE if desc.name.is_none() || desc.name == abi::symbol::EMPTY => {
            return Err(EditFailure::invalid("missing name of an opaque type"));
        }
        TypeKind::OPAQUE => TypeData::Opaque(desc.name),
        TypeKind::FUNCTION => match items.len().checked_sub(desc.lanes as usize) {
            Some(params) => TypeData::Function(&items[..params], &items[params..]),
            None => {
                let message = "a function type has more results than types";
                return Err(EditFailure::invalid(message));
            }
        },
        TypeKind(kind) => return Err(input::unknown("type", kind)),
    };
    Ok(match desc.kind {
        TypeKind::TENSOR | TypeKind::SPARSE => f.add_denoted_type(spec, desc.name),
        _ => f.add_type(spec),
    })
}

/// Rejects dims that are invalid in a function.
pub(in crate::boundary) fn check_dims(f: &Function, dims: &[abi::Dim]) -> Edit {
    let exprs = f.view().exprs.len;
    for dim in dims {
        let id = u32::try_from(dim.value).unwrap_or(u32::MAX);
        match dim.kind {
            DimKind::UNKNOWN | DimKind::CONST => {}
            DimKind::SYMBOL => f.live_symbol(SymbolId(id)).map(drop)?,
            DimKind::EXPR if id < exprs => {}
            DimKind::EXPR => {
                let message = format!("there is no dim expression {} in this function", dim.value);
                return Err(EditFailure::stale(message));
            }
            DimKind(kind) => return Err(input::unknown("dim", kind)),
        }
        if dim.denotation.is_some() {
            f.live_symbol(dim.denotation)?;
        }
    }
    Ok(())
}
