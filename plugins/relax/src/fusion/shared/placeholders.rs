//! Functions of our own domains that stand for an op: one in another layout, or one that is approximated.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{FreeNames, Snapshot, Support};

use super::domains::OWN;
use super::marks::is_group;
use crate::shared::call_graph::graph_functions;

/// How deep such functions call one another, as `fast_softmax` does `fast_exp`.
const DEEPEST: usize = 4;

/// What ops can do, each less than the one before.
const KINDS: [OpTraits; 4] = [
    OpTraits::ELEMENTWISE,
    OpTraits::INJECTIVE,
    OpTraits::REDUCTION,
    OpTraits::OUT_FUSABLE,
];

/// What calls of such functions are like.
pub(crate) struct Placeholders<'h> {
    all: HashMap<SymbolId, Placeholder<'h>>,
    /// A name that no function has.
    scratch: String,
}

/// A function that stands for an op.
struct Placeholder<'h> {
    body: Snapshot<'h>,
    traits: OpTraits,
    /// The op in the body that it stands for, if it is one.
    op: Option<OpId>,
}

impl<'h> Placeholders<'h> {
    pub(crate) fn new(m: &Module<'h>) -> Result<Placeholders<'h>, EditError> {
        let mut left = Vec::new();
        for name in graph_functions(m).filter(|&name| m.text(name).starts_with(OWN)) {
            let body = m.snapshot(name)?;
            if !is_group(&body) {
                left.push((name, body));
            }
        }
        let mut found = Placeholders {
            all: HashMap::new(),
            scratch: FreeNames::of(m, "passdock.scratch")?.take("op"),
        };
        // Those first that call no other.
        for _ in 0..DEEPEST {
            for (name, body) in std::mem::take(&mut left) {
                match found.read(&body) {
                    Some((traits, op)) => {
                        _ = found.all.insert(name, Placeholder { body, traits, op });
                    }
                    None => left.push((name, body)),
                }
            }
        }
        Ok(found)
    }

    /// What an op calls, if that stands for an op.
    fn get(&self, f: &Function, op: OpId) -> Option<&Placeholder<'h>> {
        self.all.get(&f.symbol(op))
    }

    /// The traits of an op, those of what it calls among them.
    pub(crate) fn traits(&self, f: &Function, op: OpId) -> OpTraits {
        let own = f.traits(op);
        match self.get(f, op) {
            Some(found) if !own.is_defined() && !own.is_ambiguous() => found.traits,
            _ => own,
        }
    }

    /// Whether an op, or the one that its call stands for, is of one of these names.
    pub(crate) fn is_named(&self, f: &Function, op: OpId, names: &[String]) -> bool {
        let inner = self.get(f, op);
        let inner = inner.and_then(|found| Some(found.body.name(found.op?)));
        let is_one = |name: &str| names.iter().any(|known| known == name);
        is_one(f.name(op)) || inner.is_some_and(is_one)
    }

    /// Whether a target takes the op that a call stands for, of the types that the call has.
    pub(crate) fn supports(
        &self,
        m: &mut Module<'_>,
        cx: &PassContext,
        holder: SymbolId,
        call: OpId,
        target: &str,
    ) -> Result<Support, PassError> {
        let f = m.snapshot(holder)?;
        let Some((found, inner)) = self.get(&f, call).and_then(|one| Some((one, one.op?))) else {
            return Ok(Support::Unsaid);
        };
        if cx.supports(&found.body, inner, target)? == Support::Unsaid {
            return Ok(Support::Unsaid);
        }
        // Calls of other sizes may share the body.
        let name = &*self.scratch;
        m.create(name, FunctionKind::GRAPH, Some(holder.into()))?;
        let made = m.edit(name)?;
        let (body, mut args) = (made.body(), Vec::new());
        for value in f.operands(call) {
            let ty = made.type_from(&f, f.type_id(value))?;
            args.push(made.add_arg(body, "", ty)?);
        }
        args.resize(found.body.params().len(), ValueId::NONE);
        made.set_results(body, &[])?;
        let end = made.terminator(body).ok_or("A new function has no end.")?;
        let at = Position::before(end);
        made.clone_region_from(&found.body, found.body.body(), at, &args, &[])?;
        let name_of = found.body.name(inner);
        let mut support = Support::Unsaid;
        for op in made.ops() {
            // What is wrong now was wrong before, and InferType has said so.
            _ = cx.infer(made, op);
            if made.name(op) == name_of {
                support = cx.supports(made, op, target)?;
            }
        }
        m.remove(name)?;
        Ok(support)
    }

    /// The traits of a body's ops together, and the op that is all it is for; what only moves elements is around it.
    fn read(&self, body: &Function) -> Option<(OpTraits, Option<OpId>)> {
        let end = body.terminator(body.body());
        let ops = body.ops_in(body.body()).filter(|&op| Some(op) != end);
        let (moves, others): (Vec<OpId>, Vec<OpId>) =
            ops.partition(|&op| matches!(body.name(op), "onnx.Transpose" | "onnx.Reshape"));
        let ops = if others.is_empty() { moves } else { others };
        let may_move =
            |traits: &OpTraits| traits.is_pure() && !traits.is_random() && !traits.is_stateful();
        let traits: Vec<OpTraits> = ops.iter().map(|&op| self.traits(body, op)).collect();
        let has_regions = ops.iter().any(|&op| !body.regions(op).is_empty());
        if has_regions || !traits.iter().all(may_move) {
            return None;
        }
        match (&*ops, &*traits) {
            ([], _) => None,
            (&[op], &[traits]) => Some((traits, Some(op))),
            _ => Some((together(&traits), None)),
        }
    }
}

/// What several ops are together: the highest kind; what is reduced and used, as in a softmax, is out-fusable.
fn together(traits: &[OpTraits]) -> OpTraits {
    let is_of = |traits: &OpTraits, kind: OpTraits| traits.0 & kind.0 != 0;
    let kind_of = |traits| KINDS.into_iter().find(|&kind| is_of(traits, kind));
    let Some(kinds) = traits.iter().map(kind_of).collect::<Option<Vec<_>>>() else {
        return OpTraits::PURE;
    };
    let highest = KINDS.into_iter().rfind(|kind| kinds.contains(kind));
    let kind = match highest.unwrap_or(OpTraits::NONE) {
        OpTraits::REDUCTION if kinds.iter().any(|kind| *kind != OpTraits::REDUCTION) => {
            OpTraits::OUT_FUSABLE
        }
        highest => highest,
    };
    OpTraits::PURE | kind
}
