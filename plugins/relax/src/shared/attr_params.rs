//! [`AttrParams`]: the attribute parameters of a function whose calls are inlined.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

/// The attribute parameters that a function's ops refer to, with their defaults.
pub(crate) struct AttrParams(Vec<(SymbolId, DefaultValue)>);

/// The default of an attribute parameter: `Err` if it is neither a number nor a string (or a list of these).
type DefaultValue = Result<Option<AttrValue>, ()>;

/// The values of attribute parameters in a call; `None` if neither the call nor a default has a value.
pub(crate) type Bindings = HashMap<SymbolId, Option<AttrValue>>;

impl AttrParams {
    pub(crate) fn new(f: &Function) -> AttrParams {
        let (mut params, mut seen) = (Vec::new(), HashSet::new());
        for (_, param) in f.iter().flat_map(|op| references(f, op)) {
            if seen.insert(param) {
                params.push(param);
            }
        }
        // A map, because a function may have many attributes.
        let attrs: HashMap<SymbolId, Attr<'_>> = f.function_attrs().collect();
        let with_default = |param| (param, default_of(attrs.get(&param)));
        AttrParams(params.into_iter().map(with_default).collect())
    }

    /// Returns the values of the parameters in a call. The error text completes a sentence.
    pub(crate) fn bindings(&self, f: &Function, call: OpId) -> Result<Bindings, String> {
        let mut bindings = HashMap::new();
        if self.0.is_empty() {
            return Ok(bindings);
        }
        let given: HashMap<SymbolId, Attr<'_>> = f.attrs(call).collect();
        for (param, default) in &self.0 {
            let name = f.text(*param);
            let value = match (given.get(param), default) {
                (Some(given), _) => {
                    let value = given.to_value();
                    Some(value.ok_or_else(|| format!("attribute `{name}` is a graph"))?)
                }
                (None, Ok(default)) => default.clone(),
                (None, Err(())) => {
                    return Err(format!(
                        "the default of attribute `{name}` is neither a number nor a string"
                    ));
                }
            };
            bindings.insert(*param, value);
        }
        Ok(bindings)
    }
}

/// Returns the default of an attribute parameter. Ids would only be valid in its function.
fn default_of(attr: Option<&Attr<'_>>) -> DefaultValue {
    match attr {
        None | Some(Attr::Unset) => Ok(None),
        Some(Attr::Int(_) | Attr::Float(_) | Attr::String(_))
        | Some(Attr::Ints(_) | Attr::Floats(_) | Attr::Strings(_)) => {
            Ok(attr.and_then(|attr| attr.to_value()))
        }
        Some(_) => Err(()),
    }
}

/// Returns the attributes of an op that refer to attribute parameters, with the parameters.
pub(crate) fn references(f: &Function, op: OpId) -> impl Iterator<Item = (SymbolId, SymbolId)> {
    f.attrs(op).filter_map(|(name, attr)| match attr {
        Attr::Reference(param, _) => Some((name, param)),
        _ => None,
    })
}

/// Replaces an op's references to attribute parameters with values.
pub(crate) fn bind(f: &mut Function, op: OpId, bindings: &Bindings) -> Result<(), EditError> {
    if bindings.is_empty() {
        return Ok(());
    }
    for (name, param) in references(f, op).collect::<Vec<_>>() {
        match bindings.get(&param) {
            Some(Some(value)) => f.set_attr(op, name, value.clone())?,
            Some(None) => f.remove_attr(op, name)?,
            None => {}
        }
    }
    Ok(())
}
