//! Outlining of groups of ops into functions of the module.
//!
//! The parameters are the values that the ops use and don't define, in order of first use. Constants of at most
//! [`MAX_INSIDE`] elements become constants of the function, except those in the file's interface. The results are the
//! values that other ops use. If the body refers to an attribute parameter of the enclosing function, the new function
//! has one of the same name, which the call forwards. **Equal bodies share a function.** The names of ops and values
//! may differ; each call stores its names in the attribute [`NAMES`]. Bodies with annotations or regions aren't shared.
//!
//! The caller keeps its copies of small constants until `DeadCodeElimination` removes them.

mod key;
mod plan;

use std::collections::{HashMap, HashSet, hash_map};

use passdock_plugin_api::FreeNames;
use passdock_plugin_api::prelude::*;

use key::key;
pub(crate) use plan::Plan;

/// The maximum number of elements of a constant that moves into a function.
pub(crate) const MAX_INSIDE: u64 = 64;

/// The attribute of a call that has the names of its ops and values, if the function was created for another group. It
/// lists the location of each op, then each inner value, then each constant of the function; `""` means no name.
pub(crate) const NAMES: &str = "names";

/// The attribute of a call that has the original positions of its ops: the number of ops before each in its region.
pub(crate) const POSITIONS: &str = "positions";

/// Attributes of a function.
pub(crate) type FunctionAttrs = Vec<(&'static str, AttrValue)>;

/// A group of ops to outline.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The ops, all of one region, without the terminator.
    pub(crate) ops: Vec<OpId>,
    /// The domain of the function.
    pub(crate) domain: String,
    /// The name of the function without the domain. A number is appended if the name is taken.
    pub(crate) name: String,
    pub(crate) attrs: FunctionAttrs,
    /// The original positions of the ops, in program order, if they must be restored.
    pub(crate) positions: Option<Vec<i64>>,
    /// The maximum number of elements of a constant that moves into the function.
    pub(crate) most_inside: u64,
}

impl Group {
    /// Creates a group with the default limit of constants, [`MAX_INSIDE`], and without positions.
    pub(crate) fn new(ops: Vec<OpId>, domain: &str, name: String, attrs: FunctionAttrs) -> Group {
        Group {
            ops,
            domain: domain.to_owned(),
            name,
            attrs,
            positions: None,
            most_inside: MAX_INSIDE,
        }
    }
}

/// The function of an outlined group.
pub(crate) struct NewGroup {
    /// The function's name.
    pub(crate) function: SymbolId,
    /// Whether the function was created for this group; `false` if it is shared.
    pub(crate) is_new: bool,
}

/// Outlines groups of a module.
#[derive(Default)]
pub(crate) struct Groups {
    /// Free names, by domain.
    names: HashMap<String, FreeNames>,
    /// Functions, by the keys of their bodies.
    functions: HashMap<String, SymbolId>,
    /// The attribute parameters that were added to each function for its calls.
    params: HashMap<SymbolId, HashSet<&'static str>>,
}

impl Groups {
    /// Outlines a group into a new function, or reuses one with an equal body. The call replaces the last op. Ops
    /// between the group's ops that use its results move after the call.
    ///
    /// Returns `None`, and changes nothing, if the results are unused, or if a value leaves the group and returns
    /// through other ops.
    pub(crate) fn outline(
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
        if plan.outputs.is_empty() || !plan.is_convex {
            return Ok(None);
        }
        let key = key(f, &plan, group);
        let shared = key
            .as_ref()
            .and_then(|key| self.functions.get(key))
            .copied();
        let own_names = (shared.is_some()).then(|| (NAMES, AttrValue::Strings(plan.names(f))));
        let positions = group.positions.clone();
        let positions = positions.map(|positions| (POSITIONS, AttrValue::Ints(positions)));
        let attrs: FunctionAttrs = own_names.into_iter().chain(positions).collect();
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
            // No op of the function refers to the parameter.
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

/// Rejects domains that can't have functions.
pub(crate) fn check_domain(domain: &str) -> PassResult {
    if !is_onnx(domain) {
        return Ok(());
    }
    Err(PassError::config(format!(
        "domain `{domain}` is reserved for ONNX operators; use another domain"
    )))
}
