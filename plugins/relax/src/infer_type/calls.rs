//! Calls of functions of the module. The body is inferred for the operand types of the call, in a copy that is removed
//! at the end of the pass. Calls with equal operand types share the results.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record;

use super::portable_type::PortableType;
use crate::shared::attr_params::{AttrParams, Bindings, bind};
use crate::shared::read::{between, with_nested};

/// The op that marks the end of each copy.
const END: &str = "relax.infer_type.end";
/// The maximum size in bytes of a constant operand that may be a shape.
const MAX_SHAPE: u64 = 2048;

/// The properties of a call that determine its result types.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    /// The callee.
    pub callee: SymbolId,
    pub operands: Vec<Operand>,
    /// The attributes as text.
    attrs: Vec<(SymbolId, String)>,
}

/// An operand of a call.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Operand {
    pub portable: PortableType,
    /// The elements, if the operand is a constant that may be a shape.
    elements: Option<Vec<u8>>,
}

/// The called functions, and the types that were inferred for calls.
pub(crate) struct Calls {
    functions: HashMap<SymbolId, u32>,
    /// Result types, by call.
    pub(crate) results: HashMap<Call, Vec<PortableType>>,
    /// The common types of the operands of all calls, by callee.
    pub(crate) params: HashMap<SymbolId, Vec<PortableType>>,
    /// The functions that contain copies, by opset imports.
    copies: HashMap<Vec<(String, i64)>, SymbolId>,
    /// The remaining number of ops that may be copied.
    room: u64,
}

/// A copy of a body for a call.
pub(crate) struct Copied {
    /// The function that contains the copy.
    pub holder: SymbolId,
    pub first: Option<OpId>,
    pub results: Vec<ValueId>,
}

impl Calls {
    pub(crate) fn new(graph: &CallGraph) -> Calls {
        let functions = || {
            graph
                .functions()
                .filter(|one| one.kind == FunctionKind::GRAPH)
        };
        let ops: u64 = functions().map(|one| u64::from(one.op_count)).sum();
        let called = functions().filter(|one| graph.callers(one.name).next().is_some());
        Calls {
            functions: called.map(|one| (one.name, one.op_count)).collect(),
            results: HashMap::new(),
            params: HashMap::new(),
            copies: HashMap::new(),
            room: 8 * ops + 100_000,
        }
    }

    /// Returns the function that an op calls.
    pub(crate) fn callee(&self, f: &Function, op: OpId) -> Option<SymbolId> {
        if self.functions.is_empty() {
            return None;
        }
        let is_call =
            |callee: &SymbolId| self.functions.contains_key(callee) && !f.traits(op).is_ambiguous();
        f.callee(op).filter(is_call)
    }

    /// Returns the key of a call.
    pub(crate) fn call(f: &Function, op: OpId, callee: SymbolId) -> Call {
        let operand = |index| match f.operand(op, index) {
            Some(value) => Operand {
                portable: PortableType::from_value(f, value),
                elements: elements(f, value),
            },
            None => Operand {
                portable: PortableType::Unknown,
                elements: None,
            },
        };
        let text = |attr: Attr<'_>| attr.to_value().map(|value| format!("{value:?}"));
        Call {
            callee,
            operands: (0..f.operand_count(op)).map(operand).collect(),
            attrs: f
                .attrs(op)
                .filter_map(|(name, attr)| Some((name, text(attr)?)))
                .collect(),
        }
    }

    /// Merges the operand types of a call into those of all calls.
    pub(crate) fn note(&mut self, call: &Call) {
        let portable_types = || call.operands.iter().map(|operand| &operand.portable);
        match self.params.get_mut(&call.callee) {
            Some(params) => {
                let both = params.iter().zip(portable_types());
                *params = both.map(|(a, b)| a.common(b)).collect();
            }
            None => {
                _ = self
                    .params
                    .insert(call.callee, portable_types().cloned().collect())
            }
        }
    }

    /// Copies the body of the callee for a call. Returns `None` if the limit of copied ops is exceeded.
    pub(crate) fn copy(
        &mut self,
        m: &mut Module<'_>,
        caller: SymbolId,
        op: OpId,
        call: &Call,
    ) -> Result<Option<Copied>, EditError> {
        let size = self.functions.get(&call.callee).copied().unwrap_or(0);
        let Some(room) = self.room.checked_sub(u64::from(size) + 2) else {
            return Ok(None);
        };
        self.room = room;
        let source = m.snapshot(call.callee)?;
        let bindings = AttrParams::new(&source).bindings(m.edit(caller)?, op);
        let mut bindings = bindings.unwrap_or_default();
        // Ids are only valid in the caller.
        bindings.retain(|_, value| {
            use AttrValue::{Tensor, Tensors, Type, Types};
            !matches!(value, Some(Tensor(_) | Tensors(_) | Type(_) | Types(_)))
        });
        let holder = self.holder(m, &source, call.callee)?;
        let f = m.edit(holder)?;
        let at = Position {
            region: f.body(),
            before: OpId::NONE,
        };
        // An op without semantics defines the arguments of the copy.
        let types: Result<Vec<TypeId>, _> =
            call.operands.iter().map(|o| o.portable.write(f)).collect();
        let start = f.create_op(OpBuilder::new("relax.infer_type.start").results(types?), at)?;
        let mut args = f.results(start).to_vec();
        for (arg, operand) in args.iter_mut().zip(&call.operands) {
            if let Some(elements) = &operand.elements {
                let ty = operand.portable.write(f)?;
                *arg = f.add_constant(&ConstantSpec::new(ty, elements))?;
            }
        }
        args.resize(source.params().len(), ValueId::NONE);
        if let Some(missing) = args.iter().position(|arg| arg.is_none()) {
            // Trailing operands may be omitted; their types are unknown.
            let more =
                OpBuilder::new("relax.infer_type.start").untyped_results(args.len() - missing);
            let more = f.create_op(more, at)?;
            let results = f.results(more).to_vec();
            args.splice(missing.., results);
        }
        let results = f.clone_region_from(&source, source.body(), at, &args, &[])?;
        let end = f.create_op(OpBuilder::new(END).untyped_results(0), at)?;
        let first = f.next_op(start).filter(|&op| op != end);
        clear_declared_symbols(f, start, end, &bindings)?;
        Ok(Some(Copied {
            holder,
            first,
            results,
        }))
    }

    /// Whether an op is the end of a copy.
    pub(crate) fn is_end(f: &Function, op: OpId) -> bool {
        f.name(op) == END
    }

    /// Returns the function that contains copies of functions with these opset imports, and creates it if necessary.
    fn holder(
        &mut self,
        m: &mut Module<'_>,
        source: &Function,
        like: SymbolId,
    ) -> Result<SymbolId, EditError> {
        let opsets: Vec<(String, i64)> = source
            .opsets()
            .map(|(domain, version)| (domain.to_owned(), version))
            .collect();
        if let Some(&holder) = self.copies.get(&opsets) {
            return Ok(holder);
        }
        let name = format!("relax.infer_type.copies{}", self.copies.len());
        m.create(&name, FunctionKind::GRAPH, Some(like.into()))?;
        let holder = m
            .function(name.as_str())
            .map_or(SymbolId::NONE, |one| one.name);
        self.copies.insert(opsets, holder);
        Ok(holder)
    }

    /// Removes the copies.
    pub(crate) fn finish(&mut self, m: &mut Module<'_>) -> Result<(), EditError> {
        self.copies
            .drain()
            .try_for_each(|(_, holder)| m.remove(holder))
    }
}

/// Returns the elements of a small integer constant.
fn elements(f: &Function, value: ValueId) -> Option<Vec<u8>> {
    let constant = f.constant_record(f.constant(value)?)?;
    let ty = f.type_of(value);
    let list = matches!(ty.dtype(), Some(DType::I64 | DType::I32))
        && ty.rank().is_some_and(|rank| rank <= 1);
    if !list || constant.byte_len > MAX_SHAPE || constant.storage == record::Storage::SPLAT {
        return None;
    }
    f.constant_data(value).ok()?.map(<[u8]>::to_vec)
}

/// Prepares a copy for inference. Removes declared dim symbols, which have another meaning in the caller, and replaces
/// references to attribute parameters with their values.
fn clear_declared_symbols(
    f: &mut Function,
    start: OpId,
    end: OpId,
    bindings: &Bindings,
) -> Result<(), EditError> {
    let operands: HashSet<ValueId> = f.results(start).iter().copied().collect();
    let copied = between(f, Some(start), end);
    for op in with_nested(f, &copied) {
        let mut values = f.results(op).to_vec();
        for &region in f.regions(op) {
            values.extend(f.args(region));
        }
        for value in values.into_iter().filter(|value| !operands.contains(value)) {
            let known = PortableType::from_value(f, value);
            let plain = known.without_symbols();
            if known != plain {
                plain.assign(f, value)?;
            }
        }
        bind(f, op, bindings)?;
    }
    Ok(())
}
