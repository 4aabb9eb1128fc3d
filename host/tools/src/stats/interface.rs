//! The entry's parameters and results, and the dims in their types.

use passdock_abi::{DType, Dim, DimKind, ExprId, SymbolId, TypeId, TypeKind};
use passdock_ir::{Function, text};
use rustc_hash::FxHashSet;

use super::{DimSize, Input, OpsetVersion, Port, Stats};

/// Reads the interface of the entry.
pub(super) fn read(f: &Function, stats: &mut Stats) {
    let mut dims = Dims::default();
    for arg in f.args(f.body()) {
        let value = f.value(arg);
        dims.of_type(f, value.ty, stats);
        stats.inputs.push(Input {
            port: port(f, value.name, value.ty),
            overridable: value.constant.is_some(),
        });
    }
    for (name, ty) in results(f) {
        dims.of_type(f, ty, stats);
        stats.outputs.push(port(f, name, ty));
    }
    stats.opsets = opsets(f);
}

/// The number of a function's results.
pub(super) fn result_count(f: &Function) -> usize {
    f.terminator(f.body()).map_or(0, |op| f.operands(op).len())
}

/// A function's opset versions.
pub(super) fn opsets(f: &Function) -> Vec<OpsetVersion> {
    let opsets = f.opsets().iter().map(|opset| OpsetVersion {
        domain: f.text(opset.domain).to_owned(),
        version: opset.version,
    });
    opsets.collect()
}

/// The name of an element type in messages and tables.
pub(super) fn dtype_name(dtype: DType) -> String {
    match dtype.name() {
        Some(name) => name.to_owned(),
        None if dtype == DType::NONE => "any".to_owned(),
        None => format!("dtype{}", dtype.0),
    }
}

/// Returns the names and types of the results, from the values where the interface has none.
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

/// The dims met so far.
#[derive(Default)]
struct Dims {
    symbols: FxHashSet<SymbolId>,
    /// Work that waits, kept for its room.
    types: Vec<TypeId>,
    dims: Vec<Dim>,
}

impl Dims {
    /// Notes the names and counts the unknown dims of a type.
    fn of_type(&mut self, f: &Function, ty: TypeId, stats: &mut Stats) {
        self.types.push(ty);
        while let Some(id) = self.types.pop() {
            let Ok(ty) = f.live_type(id) else { continue };
            self.types.extend(f.items_of(ty));
            // From the back, because the last of a stack comes first.
            self.dims
                .extend(f.shape(id).into_iter().flatten().rev().copied());
            while let Some(dim) = self.dims.pop() {
                match dim.kind {
                    DimKind::CONST => {}
                    DimKind::SYMBOL => {
                        let symbol = SymbolId(dim.value as u32);
                        if self.symbols.insert(symbol) {
                            stats.symbols.push(f.text(symbol).to_owned());
                        }
                    }
                    DimKind::EXPR => {
                        let expr = f.expr(ExprId(dim.value as u32));
                        self.dims.extend([expr.rhs, expr.lhs]);
                    }
                    _ => stats.unknown_dims += 1,
                }
            }
        }
    }
}
