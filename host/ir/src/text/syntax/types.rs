//! Types as text.

use std::fmt::{self, Write};

use passdock_abi::{
    DType, Dim, DimExpr, DimKind, ExprId, ExprKind, SymbolId, Type, TypeId, TypeKind,
};

use super::CHOICES;
use crate::function::Function;
use crate::quote::write_name;

/// A type as the text form spells it: `f32[n, 3, 32]`, `seq<f32[?]>`, `buffer<f32[128]>`.
pub fn type_text(function: &Function, id: TypeId) -> String {
    let mut text = String::new();
    // Writing to a string doesn't fail.
    let _ = write_type(&mut text, function, id);
    text
}

/// A dim as the text form spells it, without its denotation: `32`, `n`, `n*2+1`, `?`.
pub fn dim_text(function: &Function, dim: Dim) -> String {
    let mut text = String::new();
    // Writing to a string doesn't fail.
    let _ = write_bare_dim(&mut text, function, &dim, 0);
    text
}

/// Writes a type.
pub(crate) fn write_type(out: &mut impl Write, f: &Function, id: TypeId) -> fmt::Result {
    let Ok(ty) = f.live_type(id) else {
        return out.write_str("?");
    };
    let dtype = Spelling(ty.dtype);
    match ty.kind {
        TypeKind::TENSOR => write_shaped(out, f, id, dtype),
        TypeKind::SPARSE => wrap(out, "sparse", |out| write_shaped(out, f, id, dtype)),
        TypeKind::SCALAR => {
            write!(out, "{dtype}")?;
            if ty.lanes > 1 {
                write!(out, "x{}", ty.lanes)
            } else {
                Ok(())
            }
        }
        TypeKind::BUFFER => wrap(out, "buffer", |out| write_buffer(out, f, id, ty, dtype)),
        TypeKind::TUPLE => wrap(out, "tuple", |out| write_items(out, f, ty)),
        TypeKind::SEQUENCE => {
            wrap(out, "seq", |out| write_items(out, f, ty))?;
            write_denotation(out, f, ty.name)
        }
        TypeKind::OPTIONAL => {
            wrap(out, "optional", |out| write_items(out, f, ty))?;
            write_denotation(out, f, ty.name)
        }
        TypeKind::MAP => {
            wrap(out, "map", |out| {
                write!(out, "{dtype}, ")?;
                write_items(out, f, ty)
            })?;
            write_denotation(out, f, ty.name)
        }
        TypeKind::OPAQUE => wrap(out, "opaque", |out| write_name(out, f.text(ty.name))),
        TypeKind::FUNCTION => {
            let items = f.items_of(ty);
            let params = items.len().saturating_sub(ty.lanes as usize);
            out.write_str("fn(")?;
            write_list(out, f, items.take(params))?;
            out.write_str(") -> (")?;
            write_list(out, f, f.items_of(ty).skip(params))?;
            out.write_str(")")
        }
        _ => {
            out.write_str("?")?;
            write_denotation(out, f, ty.name)
        }
    }
}

fn wrap<W: Write>(
    out: &mut W,
    name: &str,
    inner: impl FnOnce(&mut W) -> fmt::Result,
) -> fmt::Result {
    write!(out, "{name}<")?;
    inner(out)?;
    out.write_str(">")
}

fn write_items(out: &mut impl Write, f: &Function, ty: &Type) -> fmt::Result {
    write_list(out, f, f.items_of(ty))
}

fn write_list(
    out: &mut impl Write,
    f: &Function,
    items: impl Iterator<Item = TypeId>,
) -> fmt::Result {
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        write_type(out, f, item)?;
    }
    Ok(())
}

fn write_shaped(out: &mut impl Write, f: &Function, id: TypeId, dtype: Spelling) -> fmt::Result {
    write!(out, "{dtype}")?;
    match f.shape(id) {
        None => out.write_str("[*]")?,
        Some(dims) => write_dims(out, f, dims)?,
    }
    let ty = f.ty(id);
    if ty.kind == TypeKind::BUFFER {
        return Ok(());
    }
    write_denotation(out, f, ty.name)
}

/// Writes a denotation, ONNX's meaning of a type or a dim: `@IMAGE`.
fn write_denotation(out: &mut impl Write, f: &Function, name: SymbolId) -> fmt::Result {
    if name.is_none() {
        return Ok(());
    }
    out.write_str("@")?;
    write_name(out, f.text(name))
}

/// An element type, also none and one this side doesn't know.
struct Spelling(DType);

impl fmt::Display for Spelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, self.0.name()) {
            (_, Some(name)) => f.write_str(name),
            (DType::NONE, _) => f.write_str("any"),
            (DType(code), _) => write!(f, "dtype{code}"),
        }
    }
}

fn write_buffer(
    out: &mut impl Write,
    f: &Function,
    id: TypeId,
    ty: &Type,
    dtype: Spelling,
) -> fmt::Result {
    write_shaped(out, f, id, dtype)?;
    if let [strides @ .., offset] = f.layout_of(ty) {
        out.write_str(", strides ")?;
        write_dims(out, f, strides)?;
        out.write_str(", offset ")?;
        write_dim(out, f, offset, 0)?;
    }
    if ty.name.is_some() {
        out.write_str(", scope ")?;
        write_name(out, f.text(ty.name))?;
    }
    if ty.flags & Type::MAY_ALIAS != 0 {
        out.write_str(", may_alias")?;
    }
    Ok(())
}

fn write_dims(out: &mut impl Write, f: &Function, dims: &[Dim]) -> fmt::Result {
    out.write_str("[")?;
    for (at, dim) in dims.iter().enumerate() {
        if at > 0 {
            out.write_str(",")?;
        }
        write_dim(out, f, dim, 0)?;
    }
    out.write_str("]")
}

/// `tightness`: 1 inside a sum, 2 inside a product.
fn write_dim(out: &mut impl Write, f: &Function, dim: &Dim, tightness: u32) -> fmt::Result {
    if dim.denotation.is_none() {
        return write_bare_dim(out, f, dim, tightness);
    }
    // So that it's the whole dim's.
    write_bare_dim(out, f, dim, 2)?;
    write_denotation(out, f, dim.denotation)
}

fn write_bare_dim(out: &mut impl Write, f: &Function, dim: &Dim, tightness: u32) -> fmt::Result {
    match dim.kind {
        DimKind::CONST => write!(out, "{}", dim.value),
        DimKind::SYMBOL => write_name(out, f.text(SymbolId(dim.value as u32))),
        DimKind::EXPR => {
            let expr = f.expr(ExprId(dim.value as u32));
            let (own, sign) = match expr.kind {
                ExprKind::ADD => (1, "+"),
                ExprKind::MUL => (2, "*"),
                ExprKind::FLOORDIV => (2, "/"),
                ExprKind::MOD => (2, "%"),
                kind => {
                    let choice = CHOICES.iter().find(|(own, _)| *own == kind);
                    write!(out, "{}(", choice.map_or("broadcast", |(_, name)| name))?;
                    write_dim(out, f, &expr.lhs, 0)?;
                    out.write_str(",")?;
                    write_dim(out, f, &expr.rhs, 0)?;
                    return out.write_str(")");
                }
            };
            let parens = own <= tightness && tightness > 0;
            out.write_str(if parens { "(" } else { "" })?;
            // The left side may be of the same tightness, the right side not.
            write_dim(out, f, &expr.lhs, own - 1)?;
            match less(f, expr) {
                Some((term, factor)) => write_less(out, f, term, factor)?,
                None => {
                    out.write_str(sign)?;
                    write_dim(out, f, &expr.rhs, own)?;
                }
            }
            out.write_str(if parens { ")" } else { "" })
        }
        _ => out.write_str("?"),
    }
}

/// The right side of a sum that takes something away: of `n-m*2` the `m` and the 2, of `n-2` only the 2.
fn less(f: &Function, expr: &DimExpr) -> Option<(Option<Dim>, i64)> {
    let product = match expr.rhs.kind {
        _ if expr.kind != ExprKind::ADD || expr.rhs.denotation.is_some() => return None,
        DimKind::CONST => return Some((None, positive(expr.rhs.value)?)),
        DimKind::EXPR => f.expr(ExprId(expr.rhs.value as u32)),
        _ => return None,
    };
    let times = product.kind == ExprKind::MUL && product.rhs.kind == DimKind::CONST;
    times.then_some((Some(product.lhs), positive(product.rhs.value)?))
}

fn positive(number: i64) -> Option<i64> {
    number.checked_neg().filter(|&number| number > 0)
}

fn write_less(out: &mut impl Write, f: &Function, term: Option<Dim>, factor: i64) -> fmt::Result {
    out.write_str("-")?;
    match term {
        None => write!(out, "{factor}"),
        Some(term) => {
            write_dim(out, f, &term, 1)?;
            if factor > 1 {
                write!(out, "*{factor}")
            } else {
                Ok(())
            }
        }
    }
}
