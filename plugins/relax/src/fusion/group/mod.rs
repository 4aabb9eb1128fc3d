//! Groups of ops become functions of the module.
//!
//! The function's parameters are the values that the ops use and don't make, in the order in which they use them;
//! constants of at most [`MOST_INSIDE`] elements are inside of it, but for those in the file's interface. Its results
//! are those of the ops that others use. A body that refers to an attribute parameter of the function around it has one
//! of the same name, which the call passes on. **Equal bodies share a function**: what differs between two groups only,
//! the names of their ops and values, is the attribute [`NAMES`] of the call. What is annotated, or has regions, is
//! shared with nobody.
//!
//! Small constants that went inside stay where they were, too, until `DeadCodeElimination` finds that nobody uses them.

mod key;
mod plan;

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::FreeNames;
use passdock_plugin_api::prelude::*;

use key::Bodies;
use plan::Plan;

/// The largest number of elements of a constant that goes into a function.
pub const MOST_INSIDE: u64 = 64;

/// The attribute of a call that has the names of its own ops and values, where the function's are another group's:
/// of each op its location, then of each value that stays inside, then of each constant inside; `""` is none.
pub const NAMES: &str = "names";

/// The attribute of a call that says where its ops stood: how many ops were before each of them in its region.
pub const PLACES: &str = "places";

/// A group to make a function of.
#[derive(Clone, Copy, Debug)]
pub struct Group<'g> {
    /// The ops, of one region. None of them ends it.
    pub ops: &'g [OpId],
    /// What the function is called, without the domain; it gets a number if the name is taken.
    pub name: &'g str,
    /// The function's attributes.
    pub attrs: &'g [(&'g str, AttrValue)],
    /// Where the ops stood, in program order, if that is to be known.
    pub places: Option<&'g [i64]>,
    /// The largest number of elements of a constant that goes inside: [`MOST_INSIDE`] as a rule.
    pub most_inside: u64,
}

/// A group that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewGroup {
    /// The function's name.
    pub function: SymbolId,
    /// The op that calls it, in the place of the group's last op.
    pub call: OpId,
    /// Whether no other group had made the function.
    pub is_new: bool,
}

/// Makes groups of a module, in one domain.
pub struct Groups {
    names: FreeNames,
    bodies: Bodies,
    /// The attributes of calls that a function has as parameters.
    params: HashMap<SymbolId, HashSet<&'static str>>,
}

impl Groups {
    /// A maker of groups whose functions are of a domain.
    ///
    /// # Errors
    /// If it is ONNX's own, or the host can't tell the names that a function uses.
    pub fn new(m: &Module<'_>, domain: &str) -> Result<Groups, PassError> {
        if is_onnx(domain) {
            let message = format!(
                "The domain `{domain}` is ONNX's own, and its functions would be taken for operators: name another one."
            );
            return Err(PassError::config(message));
        }
        Ok(Groups {
            names: FreeNames::of(m, domain)?,
            bodies: Bodies::default(),
            params: HashMap::new(),
        })
    }

    /// Makes a function of a group, or takes one of an equal body, and calls it where the last op stood; ops between
    /// the group's that use what it makes go behind the call. `None`: nobody uses what the ops make, or a value leaves
    /// the group and comes back through others, and nothing is done.
    ///
    /// # Errors
    /// If the host refuses an edit.
    pub fn make(
        &mut self,
        m: &mut Module<'_>,
        holder: SymbolId,
        group: Group<'_>,
    ) -> Result<Option<NewGroup>, PassError> {
        let f = m.edit(holder)?;
        let plan = Plan::new(f, group.ops, group.most_inside);
        if plan.outputs.is_empty() || plan.is_torn {
            return Ok(None);
        }
        let key = self.bodies.key(f, &plan, &group, self.names.domain());
        let known = key.as_ref().and_then(|key| self.bodies.find(key));
        let own = known.is_some().then(|| plan.names(f));
        f.add_domain(self.names.domain())?;
        let function = match known {
            Some(function) => function,
            None => {
                let name = self.names.take(group.name);
                let function = create(m, holder, &name, &plan, &group)?;
                if let Some(key) = key {
                    self.bodies.insert(key, function);
                }
                function
            }
        };
        if own.is_some() {
            self.param(m, function, NAMES)?;
        }
        if group.places.is_some() {
            self.param(m, function, PLACES)?;
        }
        let f = m.edit(holder)?;
        let call = plan.call(f, function, own, group.places)?;
        plan.erase_large(f)?;
        Ok(Some(NewGroup {
            function,
            call,
            is_new: known.is_none(),
        }))
    }

    /// Gives a function one of the attribute parameters that no op of it refers to.
    fn param(
        &mut self,
        m: &mut Module<'_>,
        function: SymbolId,
        name: &'static str,
    ) -> Result<(), EditError> {
        if self.params.entry(function).or_default().insert(name) {
            let none = match name {
                NAMES => AttrValue::Strings(Vec::new()),
                _ => AttrValue::Ints(Vec::new()),
            };
            m.edit(function)?.add_attr_param(name, Some(none))?;
        }
        Ok(())
    }
}

/// Whether a domain is ONNX's own.
pub(crate) fn is_onnx(domain: &str) -> bool {
    ["onnx", "ai.onnx"].contains(&domain)
}

/// Creates the function of a group.
fn create(
    m: &mut Module<'_>,
    holder: SymbolId,
    name: &str,
    plan: &Plan,
    group: &Group<'_>,
) -> Result<SymbolId, EditError> {
    let symbol = m.edit(holder)?.intern(name)?;
    m.create(name, FunctionKind::GRAPH, Some(holder.into()))?;
    let (f, made) = m.edit_both(holder, symbol)?;
    let body = made.body();
    let mut captures = Vec::with_capacity(plan.inputs.len());
    for &value in &plan.inputs {
        let ty = made.type_from(f, f.type_id(value))?;
        let param = made.add_arg(body, f.value_name(value).unwrap_or(""), ty)?;
        captures.push([value, param]);
    }
    for &(param, _) in &plan.params {
        made.add_attr_param(param, None)?;
    }
    let copies = made.clone_ops_from(f, &plan.ops, Position::end_of(body), &captures)?;
    let originals = plan.ops.iter().flat_map(|&op| f.results(op));
    let copies: HashMap<ValueId, ValueId> = originals.copied().zip(copies).collect();
    let mut results = Vec::with_capacity(plan.outputs.len());
    for &value in &plan.outputs {
        let ty = match f.type_of(value).kind() {
            TypeKind::UNKNOWN => TypeId::NONE,
            _ => made.type_from(f, f.type_id(value))?,
        };
        results.push((f.value_name(value).unwrap_or(""), ty, copies[&value]));
    }
    made.set_named_results(body, &results)?;
    for (name, value) in group.attrs {
        made.set_function_attr(*name, value.clone())?;
    }
    Ok(symbol)
}
