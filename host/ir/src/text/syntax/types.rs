//! Printing types.

use std::fmt::Write;

use passdock_abi::{
    DType, Dim, DimExpr, DimKind, ExprId, ExprKind, SymbolId, Type, TypeId, TypeKind,
};

use super::{CHOICES, write_list, write_number};
use crate::function::Function;
use crate::quote::write_name;

/// Returns a type as IR text: `f32[n, 3, 32]`, `seq<f32[?]>`, `buffer<f32[128]>`.
pub fn type_text(function: &Function, id: TypeId) -> String {
    let mut text = String::new();
    write_type(&mut text, function, id);
    text
}

/// Returns a dim as IR text, without its denotation: `32`, `n`, `n*2+1`, `?`.
pub fn dim_text(function: &Function, dim: Dim) -> String {
    let mut text = String::new();
    write_bare_dim(&mut text, function, &dim, 0);
    text
}

/// Writes a type.
pub(crate) fn write_type(out: &mut String, f: &Function, id: TypeId) {
    let Ok(ty) = f.live_type(id) else {
        out.push('?');
        return;
    };
    let before = match ty.kind {
        TypeKind::TENSOR => {
            write_shaped(out, f, ty);
            return write_denotation(out, f, ty.name);
        }
        TypeKind::SCALAR => return write_scalar(out, ty),
        TypeKind::FUNCTION => return write_function(out, f, ty),
        TypeKind::SPARSE => "sparse<",
        TypeKind::BUFFER => "buffer<",
        TypeKind::TUPLE => "tuple<",
        TypeKind::SEQUENCE => "seq<",
        TypeKind::OPTIONAL => "optional<",
        TypeKind::MAP => "map<",
        TypeKind::OPAQUE => "opaque<",
        _ => {
            out.push('?');
            return write_denotation(out, f, ty.name);
        }
    };
    out.push_str(before);
    match ty.kind {
        TypeKind::SPARSE => {
            write_shaped(out, f, ty);
            write_denotation(out, f, ty.name);
        }
        TypeKind::BUFFER => write_buffer(out, f, ty),
        TypeKind::OPAQUE => write_name(out, f.text(ty.name)),
        TypeKind::MAP => {
            write_dtype(out, ty.dtype);
            out.push_str(", ");
            write_types(out, f, f.items_of(ty));
        }
        _ => write_types(out, f, f.items_of(ty)),
    }
    out.push('>');
    if let TypeKind::SEQUENCE | TypeKind::OPTIONAL | TypeKind::MAP = ty.kind {
        write_denotation(out, f, ty.name);
    }
}

fn write_scalar(out: &mut String, ty: &Type) {
    write_dtype(out, ty.dtype);
    if ty.lanes > 1 {
        out.push('x');
        write_number(out, ty.lanes);
    }
}

fn write_function(out: &mut String, f: &Function, ty: &Type) {
    let items = f.items_of(ty);
    let params = items.len().saturating_sub(ty.lanes as usize);
    out.push_str("fn(");
    write_types(out, f, items.take(params));
    out.push_str(") -> (");
    write_types(out, f, f.items_of(ty).skip(params));
    out.push(')');
}

fn write_types(out: &mut String, f: &Function, types: impl Iterator<Item = TypeId>) {
    write_list(out, ", ", types, |out, ty| write_type(out, f, ty));
}

fn write_shaped(out: &mut String, f: &Function, ty: &Type) {
    write_dtype(out, ty.dtype);
    match ty.flags & Type::UNRANKED {
        0 => write_dims(out, f, f.dims_in(ty.dims)),
        _ => out.push_str("[*]"),
    }
}

/// Writes a denotation, the meaning that ONNX assigns to a type or a dim: `@IMAGE`.
fn write_denotation(out: &mut String, f: &Function, name: SymbolId) {
    if name.is_some() {
        out.push('@');
        write_name(out, f.text(name));
    }
}

/// Writes an element type, also a missing or an unknown one.
fn write_dtype(out: &mut String, dtype: DType) {
    match (dtype, dtype.name()) {
        (_, Some(name)) => out.push_str(name),
        (DType::NONE, _) => out.push_str("any"),
        // Writing to a string can't fail.
        (DType(code), _) => _ = write!(out, "dtype{code}"),
    }
}

fn write_buffer(out: &mut String, f: &Function, ty: &Type) {
    write_shaped(out, f, ty);
    if let [strides @ .., offset] = f.layout_of(ty) {
        out.push_str(", strides ");
        write_dims(out, f, strides);
        out.push_str(", offset ");
        write_dim(out, f, offset, 0);
    }
    if ty.name.is_some() {
        out.push_str(", scope ");
        write_name(out, f.text(ty.name));
    }
    if ty.flags & Type::MAY_ALIAS != 0 {
        out.push_str(", may_alias");
    }
}

fn write_dims(out: &mut String, f: &Function, dims: &[Dim]) {
    out.push('[');
    write_list(out, ",", dims, |out, dim| write_dim(out, f, dim, 0));
    out.push(']');
}

/// Writes a dim; `tightness` is 1 inside a sum and 2 inside a product.
fn write_dim(out: &mut String, f: &Function, dim: &Dim, tightness: u32) {
    if dim.denotation.is_none() {
        return write_bare_dim(out, f, dim, tightness);
    }
    // Parentheses make the denotation apply to the whole dim.
    write_bare_dim(out, f, dim, 2);
    write_denotation(out, f, dim.denotation);
}

fn write_bare_dim(out: &mut String, f: &Function, dim: &Dim, tightness: u32) {
    match dim.kind {
        DimKind::CONST => write_number(out, dim.value),
        DimKind::SYMBOL => write_name(out, f.text(SymbolId(dim.value as u32))),
        DimKind::EXPR => write_expr(out, f, f.expr(ExprId(dim.value as u32)), tightness),
        _ => out.push('?'),
    }
}

fn write_expr(out: &mut String, f: &Function, expr: &DimExpr, tightness: u32) {
    let (own, sign) = match expr.kind {
        ExprKind::ADD => (1, "+"),
        ExprKind::MUL => (2, "*"),
        ExprKind::FLOORDIV => (2, "/"),
        ExprKind::MOD => (2, "%"),
        kind => {
            let choice = CHOICES.iter().find(|(own, _)| *own == kind);
            out.push_str(choice.map_or("broadcast", |(_, name)| name));
            out.push('(');
            write_dim(out, f, &expr.lhs, 0);
            out.push(',');
            write_dim(out, f, &expr.rhs, 0);
            return out.push(')');
        }
    };
    let parens = own <= tightness && tightness > 0;
    out.push_str(if parens { "(" } else { "" });
    // The operators are left-associative: only the left operand may have the same tightness without parentheses.
    write_dim(out, f, &expr.lhs, own - 1);
    match subtracted(f, expr) {
        None => {
            out.push_str(sign);
            write_dim(out, f, &expr.rhs, own);
        }
        Some((term, factor)) => {
            out.push('-');
            if let Some(term) = term {
                write_dim(out, f, &term, 1);
                out.push_str(if factor > 1 { "*" } else { "" });
            }
            if term.is_none() || factor > 1 {
                write_number(out, factor);
            }
        }
    }
    out.push_str(if parens { ")" } else { "" });
}

/// Returns the term and the factor that a sum subtracts: `m` and 2 for `n-m*2`, only 2 for `n-2`.
fn subtracted(f: &Function, expr: &DimExpr) -> Option<(Option<Dim>, i64)> {
    let negated = |number: i64| number.checked_neg().filter(|&number| number > 0);
    let product = match expr.rhs.kind {
        _ if expr.kind != ExprKind::ADD || expr.rhs.denotation.is_some() => return None,
        DimKind::CONST => return Some((None, negated(expr.rhs.value)?)),
        DimKind::EXPR => f.expr(ExprId(expr.rhs.value as u32)),
        _ => return None,
    };
    let is_multiple = product.kind == ExprKind::MUL && product.rhs.kind == DimKind::CONST;
    is_multiple.then_some((Some(product.lhs), negated(product.rhs.value)?))
}
