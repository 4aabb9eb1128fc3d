//! The entry's parameters and results, and the dims in their types.

use passdock_abi::{DType, Dim, DimKind, ExprId, SymbolId, TypeId, TypeKind};
use passdock_ir::{Function, text};
use rustc_hash::FxHashSet;

use super::{DimSize, Input, OpsetVersion, Port, Stats};

/// Reads the interface of the entry.
pub(super) fn read(f: &Function, stats: &mut Stats) {
    let mut symbols = FxHashSet::default();
    for arg in f.args(f.body()) {
        let value = f.value(arg);
        add_dims(f, value.ty, &mut symbols, stats);
        stats.inputs.push(Input {
            port: port(f, value.name, value.ty),
            overridable: value.constant.is_some(),
        });
    }
    for (name, ty) in results(f) {
        add_dims(f, ty, &mut symbols, stats);
        stats.outputs.push(port(f, name, ty));
    }
    stats.opsets = opsets(f);
}

/// Returns a function's opset versions.
pub(super) fn opsets(f: &Function) -> Vec<OpsetVersion> {
    let opsets = f.opsets().iter().map(|opset| OpsetVersion {
        domain: f.text(opset.domain).to_owned(),
        version: opset.version,
    });
    opsets.collect()
}

/// Returns the name of an element type for messages and tables.
pub(super) fn dtype_name(dtype: DType) -> String {
    match dtype.name() {
        Some(name) => name.to_owned(),
        None if dtype == DType::NONE => "any".to_owned(),
        None => format!("dtype{}", dtype.0),
    }
}

/// Returns the names and types of the results; the types are those of the values where the interface has none.
fn results(f: &Function) -> impl Iterator<Item = (SymbolId, TypeId)> + '_ {
    let end = f.terminator(f.body());
    let slots = end.map_or(&[][..], |op| f.operands(op));
    slots.iter().enumerate().map(|(at, slot)| {
        let port = f.ports(f.body()).get(at);
        let value = slot.value.option().map(|value| f.value(value));
        let name = port.and_then(|port| port.name.option());
        let ty = port.and_then(|port| port.ty.option());
        (
            name.unwrap_or_else(|| value.map_or(SymbolId::NONE, |value| value.name)),
            ty.unwrap_or_else(|| value.map_or(TypeId::NONE, |value| value.ty)),
        )
    })
}

fn port(f: &Function, name: SymbolId, id: TypeId) -> Port {
    let ty = f.live_type(id).ok();
    let shaped = ty.filter(|ty| {
        matches!(
            ty.kind,
            TypeKind::TENSOR | TypeKind::SPARSE | TypeKind::BUFFER
        )
    });
    let shape = f
        .shape(id)
        .map(|dims| dims.iter().map(|&dim| size(f, dim)).collect());
    Port {
        name: name.option().map(|name| f.text(name).to_owned()),
        ty: text::type_text(f, id),
        dtype: shaped.map(|ty| dtype_name(ty.dtype)),
        shape,
    }
}

fn size(f: &Function, dim: Dim) -> Option<DimSize> {
    match dim.kind {
        DimKind::CONST => Some(DimSize::Size(dim.value)),
        DimKind::SYMBOL | DimKind::EXPR => Some(DimSize::Symbolic(text::dim_text(f, dim))),
        _ => None,
    }
}

/// Adds the names of a type's dims to `symbols`, if they are new, and counts unknown dims.
fn add_dims(f: &Function, ty: TypeId, symbols: &mut FxHashSet<SymbolId>, stats: &mut Stats) {
    let mut types = vec![ty];
    while let Some(id) = types.pop() {
        let Ok(ty) = f.live_type(id) else { continue };
        types.extend(f.items_of(ty));
        // In reverse order, since the last element of a stack comes first.
        let mut dims: Vec<Dim> = f.shape(id).into_iter().flatten().rev().copied().collect();
        while let Some(dim) = dims.pop() {
            match dim.kind {
                DimKind::CONST => {}
                DimKind::SYMBOL => {
                    let symbol = SymbolId(dim.value as u32);
                    if symbols.insert(symbol) {
                        stats.symbols.push(f.text(symbol).to_owned());
                    }
                }
                DimKind::EXPR => {
                    let expr = f.expr(ExprId(dim.value as u32));
                    dims.extend([expr.rhs, expr.lhs]);
                }
                _ => stats.unknown_dims += 1,
            }
        }
    }
}
