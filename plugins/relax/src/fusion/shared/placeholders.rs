//! Functions in passdock domains that represent one op: an op in another layout, or one that is approximated.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{FreeNames, Snapshot, Support};

use super::marks::is_group;
use crate::shared::call_graph::graph_functions;
use crate::shared::operators::DOMAIN_PREFIX;
use crate::shared::read::{add_terminator, ops_of};

/// The maximum nesting of such functions: `fast_softmax` calls `fast_exp`.
const MAX_DEPTH: usize = 4;

/// The fusion kinds, from the lowest to the highest.
const KINDS: [OpTraits; 4] = [
    OpTraits::ELEMENTWISE,
    OpTraits::INJECTIVE,
    OpTraits::REDUCTION,
    OpTraits::OUT_FUSABLE,
];

/// The functions of a module that represent one op.
pub(crate) struct Placeholders<'h> {
    all: HashMap<SymbolId, Placeholder<'h>>,
    /// A name that no function has.
    scratch: String,
}

/// A function that represents one op.
struct Placeholder<'h> {
    body: Snapshot<'h>,
    traits: OpTraits,
    /// The op in the body that the function represents, if it is a single op.
    op: Option<OpId>,
}

impl<'h> Placeholders<'h> {
    pub(crate) fn new(m: &Module<'h>) -> Result<Placeholders<'h>, EditError> {
        let mut left = Vec::new();
        for name in graph_functions(m).filter(|&name| m.text(name).starts_with(DOMAIN_PREFIX)) {
            let body = m.snapshot(name)?;
            if !is_group(&body) {
                left.push((name, body));
            }
        }
        let mut found = Placeholders {
            all: HashMap::new(),
            scratch: FreeNames::of(m, "passdock.scratch")?.take("op"),
        };
        // Callees come before their callers, as callers are only read once all callees are.
        for _ in 0..MAX_DEPTH {
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

    /// Returns the callee of an op, if it represents one op.
    fn get(&self, f: &Function, op: OpId) -> Option<&Placeholder<'h>> {
        self.all.get(&f.symbol(op))
    }

    /// Returns the traits of an op; those of the represented op if it is a call.
    pub(crate) fn traits(&self, f: &Function, op: OpId) -> OpTraits {
        let own = f.traits(op);
        match self.get(f, op) {
            Some(found) if !own.is_defined() && !own.is_ambiguous() => found.traits,
            _ => own,
        }
    }

    /// Whether an op, or the op that its callee represents, has one of these names.
    pub(crate) fn is_named(&self, f: &Function, op: OpId, names: &[String]) -> bool {
        let inner = self.get(f, op);
        let inner = inner.and_then(|found| Some(found.body.name(found.op?)));
        let is_one = |name: &str| names.iter().any(|known| known == name);
        is_one(f.name(op)) || inner.is_some_and(is_one)
    }

    /// Whether a target supports the op that a callee represents, with the types of this call.
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
            return Ok(Support::Unknown);
        };
        if cx.supports(&found.body, inner, target)? == Support::Unknown {
            return Ok(Support::Unknown);
        }
        // Calls with other shapes may share the body, so it is inferred again in a scratch function.
        let name = &*self.scratch;
        m.create(name, FunctionKind::GRAPH, Some(holder.into()))?;
        let created = m.edit(name)?;
        let (body, mut args) = (created.body(), Vec::new());
        for value in f.operands(call) {
            let ty = created.type_from(&f, f.type_id(value))?;
            args.push(created.add_arg(body, "", ty)?);
        }
        args.resize(found.body.params().len(), ValueId::NONE);
        let at = Position::before(add_terminator(created, &[])?);
        created.clone_region_from(&found.body, found.body.body(), at, &args, &[])?;
        let name_of = found.body.name(inner);
        let mut support = Support::Unknown;
        for op in created.ops() {
            // InferType has reported errors already.
            _ = cx.infer(created, op);
            if created.name(op) == name_of {
                support = cx.supports(created, op, target)?;
            }
        }
        m.remove(name)?;
        Ok(support)
    }

    /// Returns the combined traits of a body's ops, and the represented op if it is a single one. Transposes and
    /// reshapes around it don't count.
    fn read(&self, body: &Function) -> Option<(OpTraits, Option<OpId>)> {
        let ops = ops_of(body, body.body()).into_iter();
        let (moves, others): (Vec<OpId>, Vec<OpId>) =
            ops.partition(|&op| matches!(body.name(op), "onnx.Transpose" | "onnx.Reshape"));
        let ops = if others.is_empty() { moves } else { others };
        let traits: Vec<OpTraits> = ops.iter().map(|&op| self.traits(body, op)).collect();
        let has_regions = ops.iter().any(|&op| !body.regions(op).is_empty());
        if has_regions || !traits.iter().all(|traits| traits.is_deterministic()) {
            return None;
        }
        match (&*ops, &*traits) {
            ([], _) => None,
            (&[op], &[traits]) => Some((traits, Some(op))),
            _ => Some((combined_traits(&traits), None)),
        }
    }
}

/// Returns the combined traits of several ops: the highest kind. A reduction combined with other kinds, as in a
/// softmax, is out-fusable.
fn combined_traits(traits: &[OpTraits]) -> OpTraits {
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
