//! Calls of the module's functions: the body is inferred for the operands of the call, in a copy that
//! goes when the pass is over. A call with operands of the same types has the same results.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::CallGraph;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record;

use super::sort::Sort;
use crate::shared::attr_params::{AttrParams, Bindings, bind};
use crate::shared::read::{between, with_nested};

/// The op that ends each copy.
const END: &str = "relax.infer_type.end";
/// The most bytes of a constant operand that is a shape.
const MAX_SHAPE: u64 = 2048;

/// A call as far as its results depend on it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Call {
    /// The function that is called.
    pub callee: SymbolId,
    pub operands: Vec<Operand>,
    /// Attributes as text.
    attrs: Vec<(SymbolId, String)>,
}

/// An operand of a call.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Operand {
    pub sort: Sort,
    /// The elements, if it is a constant that may be a shape.
    elements: Option<Vec<u8>>,
}

/// The functions that are called, and what came of it.
pub(crate) struct Calls {
    functions: HashMap<SymbolId, u32>,
    /// Results by call.
    pub(crate) results: HashMap<Call, Vec<Sort>>,
    /// The types that the operands of all calls have in common.
    pub(crate) params: HashMap<SymbolId, Vec<Sort>>,
    /// Functions that hold copies, by the versions of domains.
    copies: HashMap<Vec<(String, i64)>, SymbolId>,
    /// Ops that may still be copied.
    room: u64,
}

/// A copy of a body for a call.
pub(crate) struct Copied {
    /// The function that holds it.
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

    /// The function that an op calls.
    pub(crate) fn callee(&self, f: &Function, op: OpId) -> Option<SymbolId> {
        if self.functions.is_empty() {
            return None;
        }
        let is_call =
            |callee: &SymbolId| self.functions.contains_key(callee) && !f.traits(op).is_ambiguous();
        f.callee(op).filter(is_call)
    }

    /// A call of a function.
    pub(crate) fn call(f: &Function, op: OpId, callee: SymbolId) -> Call {
        let operand = |index| match f.operand(op, index) {
            Some(value) => Operand {
                sort: Sort::from_value(f, value),
                elements: elements(f, value),
            },
            None => Operand {
                sort: Sort::Unknown,
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

    /// Counts a call's operands among those of all calls.
    pub(crate) fn note(&mut self, call: &Call) {
        let sorts = || call.operands.iter().map(|operand| &operand.sort);
        match self.params.get_mut(&call.callee) {
            Some(params) => {
                let both = params.iter().zip(sorts());
                *params = both.map(|(a, b)| a.common(b)).collect();
            }
            None => _ = self.params.insert(call.callee, sorts().cloned().collect()),
        }
    }

    /// Copies the body of a function for a call of it; `None` if too much was copied already.
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
        // Ids are the caller's own.
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
        // The call's operands are the results of an op of no meaning.
        let types: Result<Vec<TypeId>, _> = call.operands.iter().map(|o| o.sort.write(f)).collect();
        let start = f.create_op(OpBuilder::new("relax.infer_type.start").results(types?), at)?;
        let mut args = f.results(start).to_vec();
        for (arg, operand) in args.iter_mut().zip(&call.operands) {
            if let Some(elements) = &operand.elements {
                let ty = operand.sort.write(f)?;
                *arg = f.add_constant(&ConstantSpec::new(ty, elements))?;
            }
        }
        args.resize(source.params().len(), ValueId::NONE);
        if let Some(missing) = args.iter().position(|arg| arg.is_none()) {
            // Trailing operands may be left out; nothing is known of them.
            let more =
                OpBuilder::new("relax.infer_type.start").untyped_results(args.len() - missing);
            let more = f.create_op(more, at)?;
            let results = f.results(more).to_vec();
            args.splice(missing.., results);
        }
        let results = f.clone_region_from(&source, source.body(), at, &args, &[])?;
        let end = f.create_op(OpBuilder::new(END).untyped_results(0), at)?;
        let first = f.next_op(start).filter(|&op| op != end);
        forget_own(f, start, end, &bindings)?;
        Ok(Some(Copied {
            holder,
            first,
            results,
        }))
    }

    /// Whether an op ends a copy.
    pub(crate) fn is_end(f: &Function, op: OpId) -> bool {
        f.name(op) == END
    }

    /// The function that holds copies of functions with these versions of domains.
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

/// The elements of a small constant of integers.
fn elements(f: &Function, value: ValueId) -> Option<Vec<u8>> {
    let constant = f.constant_record(f.constant(value)?)?;
    let ty = f.type_of(value);
    let list =
        matches!(ty.dtype(), DType::I64 | DType::I32) && ty.rank().is_some_and(|rank| rank <= 1);
    if !list || constant.byte_len > MAX_SHAPE || constant.storage == record::Storage::SPLAT {
        return None;
    }
    f.constant_data(value).ok()?.map(<[u8]>::to_vec)
}

/// In a copy: what is declared by symbols is forgotten, since the caller's mean something else;
/// references to attributes are what the call, or the function's default, says.
fn forget_own(
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
            let known = Sort::from_value(f, value);
            let plain = known.without_symbols();
            if known != plain {
                plain.assign(f, value)?;
            }
        }
        bind(f, op, bindings)?;
    }
    Ok(())
}
