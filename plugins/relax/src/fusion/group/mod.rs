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

use std::collections::{HashMap, HashSet, hash_map};

use passdock_plugin_api::FreeNames;
use passdock_plugin_api::prelude::*;

use key::key;
pub(crate) use plan::Plan;

/// The largest number of elements of a constant that goes into a function.
pub(crate) const MOST_INSIDE: u64 = 64;

/// The attribute of a call that has the names of its own ops and values, where the function's are another group's:
/// of each op its location, then of each value that stays inside, then of each constant inside; `""` is none.
pub(crate) const NAMES: &str = "names";

/// The attribute of a call that says where its ops stood: how many ops were before each of them in its region.
pub(crate) const PLACES: &str = "places";

/// The attributes of a function.
pub(crate) type FunctionAttrs = Vec<(&'static str, AttrValue)>;

/// A group to make a function of.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The ops, of one region. None of them ends it.
    pub(crate) ops: Vec<OpId>,
    /// The domain of the function.
    pub(crate) domain: String,
    /// The name of the function, without the domain; it gets a number if the name is taken.
    pub(crate) name: String,
    pub(crate) attrs: FunctionAttrs,
    /// Where the ops stood, in program order, if that is to be known.
    pub(crate) places: Option<Vec<i64>>,
    /// The largest number of elements of a constant that goes inside.
    pub(crate) most_inside: u64,
}

impl Group {
    /// A group that has constants of [`MOST_INSIDE`] elements inside, and whose places don't matter.
    pub(crate) fn new(ops: Vec<OpId>, domain: &str, name: String, attrs: FunctionAttrs) -> Group {
        Group {
            ops,
            domain: domain.to_owned(),
            name,
            attrs,
            places: None,
            most_inside: MOST_INSIDE,
        }
    }
}

/// A group's function.
pub(crate) struct NewGroup {
    /// The function's name.
    pub(crate) function: SymbolId,
    /// Whether no other group had made the function.
    pub(crate) is_new: bool,
}

/// Makes groups of a module.
#[derive(Default)]
pub(crate) struct Groups {
    /// Free names, by domain.
    names: HashMap<String, FreeNames>,
    /// Functions by their bodies.
    functions: HashMap<String, SymbolId>,
    /// The attributes of calls that a function has as parameters.
    params: HashMap<SymbolId, HashSet<&'static str>>,
}

impl Groups {
    /// Makes a function of a group, or takes one of an equal body, and calls it where the last op stood; ops between
    /// the group's that use what it makes go behind the call. `None`: nobody uses what the ops make, or a value leaves
    /// the group and comes back through others, and nothing is done.
    pub(crate) fn make(
        &mut self,
        m: &mut Module<'_>,
        holder: SymbolId,
        group: &Group,
    ) -> Result<Option<NewGroup>, PassError> {
        let names = match self.names.entry(group.domain.clone()) {
            hash_map::Entry::Occupied(names) => names.into_mut(),
            hash_map::Entry::Vacant(entry) => {
                check_domain(&group.domain)?;
                entry.insert(FreeNames::of(m, &group.domain)?)
            }
        };
        let f = m.edit(holder)?;
        let plan = Plan::new(f, &group.ops, group.most_inside);
        if plan.outputs.is_empty() || plan.is_torn {
            return Ok(None);
        }
        let key = key(f, &plan, group);
        let shared = key
            .as_ref()
            .and_then(|key| self.functions.get(key))
            .copied();
        let own_names = (shared.is_some()).then(|| (NAMES, AttrValue::Strings(plan.names(f))));
        let places = group.places.clone();
        let places = places.map(|places| (PLACES, AttrValue::Ints(places)));
        let attrs: FunctionAttrs = own_names.into_iter().chain(places).collect();
        f.add_domain(&group.domain)?;
        let function = match shared {
            Some(function) => function,
            None => {
                let function = plan.create(m, holder, &names.take(&group.name), &group.attrs)?;
                self.functions.extend(key.map(|key| (key, function)));
                function
            }
        };
        for (name, value) in &attrs {
            // No op of the function refers to it.
            if self.params.entry(function).or_default().insert(name) {
                let none = match value {
                    AttrValue::Strings(_) => AttrValue::Strings(Vec::new()),
                    _ => AttrValue::Ints(Vec::new()),
                };
                m.edit(function)?.add_attr_param(*name, Some(none))?;
            }
        }
        let f = m.edit(holder)?;
        plan.call(f, function, attrs)?;
        plan.erase_large(f)?;
        Ok(Some(NewGroup {
            function,
            is_new: shared.is_none(),
        }))
    }
}

/// Whether a domain is ONNX's own.
pub(crate) fn is_onnx(domain: &str) -> bool {
    ["onnx", "ai.onnx"].contains(&domain)
}

/// Returns an error if functions can't be of a domain.
pub(crate) fn check_domain(domain: &str) -> PassResult {
    if !is_onnx(domain) {
        return Ok(());
    }
    Err(PassError::config(format!(
        "The domain `{domain}` is ONNX's own, and its functions would be taken for operators: name another one."
    )))
}
