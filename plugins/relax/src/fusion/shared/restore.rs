//! The ops of a kernel in the place of a call.

use std::collections::HashMap;

use passdock_plugin_api::Snapshot;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{DimKind, LocId};

use crate::fusion::group::{NAMES, PLACES};

/// A function whose calls are replaced, looked at once for all calls of it.
pub(crate) struct Kernel<'h> {
    f: Snapshot<'h>,
    /// Its ops, in order.
    ops: Vec<OpId>,
    /// The values that it doesn't give out, and then its constants: whose names a call may say, behind those of the
    /// ops.
    inner: Vec<ValueId>,
    constants: Vec<ValueId>,
    /// The attribute parameters that ops refer to, and their defaults.
    params: Vec<(SymbolId, Default)>,
}

/// The default of an attribute parameter: none, a value, or one that can't go elsewhere.
type Default = Result<Option<AttrValue>, ()>;

/// Constants of a function by their names and regions.
pub(crate) type Constants = HashMap<(SymbolId, RegionId), ValueId>;

/// The constants of a function by their names and regions.
pub(crate) fn constants_by_name(f: &Function) -> Constants {
    let named = f.constants().filter_map(|(_, record)| {
        let name = f.find_symbol(f.value_name(record.value)?)?;
        Some(((name, record.region), record.value))
    });
    named.collect()
}

/// The constant of a name that is visible in a region.
fn visible(f: &Function, constants: &Constants, name: &str, region: RegionId) -> Option<ValueId> {
    let name = f.find_symbol(name)?;
    let mut region = region;
    loop {
        if let Some(&found) = constants.get(&(name, region)) {
            return Some(found);
        }
        region = f.parent_region(f.parent_op(region)?);
    }
}

impl<'h> Kernel<'h> {
    pub(crate) fn new(f: Snapshot<'h>) -> Kernel<'h> {
        let end = f.terminator(f.body());
        let ops: Vec<OpId> = f.ops_in(f.body()).filter(|&op| Some(op) != end).collect();
        let given: Vec<ValueId> = end.into_iter().flat_map(|op| f.operands(op)).collect();
        let results = ops.iter().flat_map(|&op| f.results(op)).copied();
        let inner = results.filter(|value| !given.contains(value)).collect();
        let (mut constants, mut params) = (Vec::new(), Vec::<(SymbolId, Default)>::new());
        for op in f.iter() {
            for value in f.operands(op) {
                let constant = f.constant(value).and_then(|id| f.constant_record(id));
                let is_own = constant.is_some_and(|record| record.region == f.body());
                if is_own && !constants.contains(&value) {
                    constants.push(value);
                }
            }
            for (_, attr) in f.attrs(op) {
                if let Attr::Reference(param, _) = attr
                    && !params.iter().any(|(known, _)| *known == param)
                {
                    params.push((param, default_of(f.function_attr(param))));
                }
            }
        }
        Kernel {
            ops,
            inner,
            constants,
            params,
            f,
        }
    }

    /// Whether the ops can stand in the place of a call.
    pub(crate) fn check(&self, f: &Function, call: OpId) -> Result<(), String> {
        let (takes, gives) = (self.f.params().len(), self.f.ports(self.f.body()).len());
        if f.operand_count(call) > takes || f.result_count(call) > gives {
            return Err("the call has more operands or results than the function".into());
        }
        for (domain, version) in self.f.opsets() {
            if let Some(own) = f.opset(domain).filter(|own| *own != version) {
                let domain = if domain.is_empty() { "onnx" } else { domain };
                return Err(format!(
                    "the function is of version {version} of `{domain}`, its caller of {own}"
                ));
            }
        }
        self.bindings(f, call).map(drop)
    }

    /// The values of attribute parameters in a call; `None`: none.
    fn bindings(
        &self,
        f: &Function,
        call: OpId,
    ) -> Result<HashMap<SymbolId, Option<AttrValue>>, String> {
        let mut bindings = HashMap::new();
        for (param, default) in &self.params {
            let value = match (f.attr(call, *param), default) {
                (Some(given), _) => given.to_value(),
                (None, Ok(default)) => default.clone(),
                (None, Err(())) => {
                    let name = f.text(*param);
                    return Err(format!("the default of `{name}` isn't a number or text"));
                }
            };
            bindings.insert(*param, value);
        }
        Ok(bindings)
    }

    /// Puts the ops in the place of a call that was checked. Answers where they stood, if the call says so.
    pub(crate) fn restore(
        &self,
        f: &mut Function,
        call: OpId,
        constants: &Constants,
    ) -> Result<Vec<(OpId, i64)>, PassError> {
        let opsets: Vec<(String, i64)> = (self.f.opsets())
            .filter(|(domain, _)| f.opset(domain).is_none() && f.opsets().next().is_some())
            .map(|(domain, version)| (domain.to_owned(), version))
            .collect();
        for (domain, version) in opsets {
            f.set_opset(&domain, version)?;
        }
        let bindings = self.bindings(f, call).map_err(PassError::new)?;
        let names = self.names(f, call);
        let places: Vec<i64> = f.ints(call, PLACES).unwrap_or_default().to_vec();
        let mut args: Vec<ValueId> = f.operands(call).collect();
        args.resize(self.f.params().len(), ValueId::NONE);
        let captures = self.captures(f, call, &names, constants)?;
        let same_words = self.has_words_of(f, &args);
        let before = f.previous_op(call);
        let (at, body) = (Position::before(call), self.f.body());
        let mut values = f.clone_region_from(&self.f, body, at, &args, &captures)?;
        values.truncate(f.result_count(call));
        let first = match before {
            Some(before) => f.next_op(before),
            None => f.first_op(f.parent_region(call)),
        };
        let made = until(f, first, call);
        for &op in &made {
            let nested: Vec<OpId> = f.regions(op).iter().flat_map(|&r| f.iter_in(r)).collect();
            for op in std::iter::once(op).chain(nested) {
                bind(f, op, &bindings)?;
                if !same_words {
                    forget_dims(f, op)?;
                }
            }
        }
        for (&result, &value) in f.results(call).to_vec().iter().zip(&values) {
            if f.defining_op(value).is_none() {
                continue;
            }
            if f.type_of(value).kind() == TypeKind::UNKNOWN {
                f.set_type(value, f.type_id(result))?;
            }
            // It gets the name of the call's result.
            f.set_value_name(value, "")?;
        }
        f.replace_op_with(call, &values)?;
        self.rename(f, &made, &names)?;
        Ok(made.into_iter().zip(places).collect())
    }

    /// The names that a call says; none: they are the function's.
    fn names(&self, f: &Function, call: OpId) -> Vec<String> {
        let names = f.strings(call, NAMES).into_iter().flatten();
        let names: Vec<String> = names
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        let all = self.ops.len() + self.inner.len() + self.constants.len();
        if names.len() == all {
            names
        } else {
            Vec::new()
        }
    }

    /// Pairs of a constant of the kernel and the one outside that it is.
    fn captures(
        &self,
        f: &Function,
        call: OpId,
        names: &[String],
        constants: &Constants,
    ) -> Result<Vec<[ValueId; 2]>, EditError> {
        let own = names.get(self.ops.len() + self.inner.len()..);
        let mut captures = Vec::new();
        for (at, &value) in self.constants.iter().enumerate() {
            let name = match own {
                Some(names) => names.get(at).map(|name| &**name),
                None => self.f.value_name(value),
            };
            let region = f.parent_region(call);
            let found = name.and_then(|name| visible(f, constants, name, region));
            let Some(outside) = found else {
                continue;
            };
            let is_same = f.is_live_value(outside)
                && f.dtype(outside) == self.f.dtype(value)
                && f.shape(outside) == self.f.shape(value)
                && f.constant_data(outside)? == self.f.constant_data(value)?;
            if is_same {
                captures.push([value, outside]);
            }
        }
        Ok(captures)
    }

    /// Whether the names of dims mean in a call what they mean in the kernel.
    fn has_words_of(&self, f: &Function, args: &[ValueId]) -> bool {
        self.f.params().iter().zip(args).all(|(&param, &arg)| {
            let (Some(own), Some(given)) = (self.f.dims(param), f.dims(arg)) else {
                return true;
            };
            own.zip(given).all(|(own, given)| {
                own.kind != DimKind::SYMBOL || (own.kind, own.value) == (given.kind, given.value)
            })
        })
    }

    /// Gives the copies the names that a call says.
    fn rename(&self, f: &mut Function, made: &[OpId], names: &[String]) -> Result<(), EditError> {
        if names.is_empty() {
            return Ok(());
        }
        for (&op, name) in made.iter().zip(names) {
            let loc = match &**name {
                "" => LocId::NONE,
                name => f.name_loc(name)?,
            };
            f.set_loc(op, loc)?;
        }
        let copies = made.iter().flat_map(|&op| f.results(op)).copied();
        let originals = self.ops.iter().flat_map(|&op| self.f.results(op)).copied();
        let copies: HashMap<ValueId, ValueId> = originals.zip(copies).collect();
        for (value, name) in self.inner.iter().zip(&names[self.ops.len()..]) {
            if let Some(&copy) = copies.get(value) {
                f.set_value_name(copy, name)?;
            }
        }
        Ok(())
    }
}

/// The default of an attribute parameter; ids would be the function's own.
fn default_of(attr: Option<Attr<'_>>) -> Default {
    match attr {
        None | Some(Attr::Unset) => Ok(None),
        Some(Attr::Int(_) | Attr::Float(_) | Attr::String(_))
        | Some(Attr::Ints(_) | Attr::Floats(_) | Attr::Strings(_)) => {
            Ok(attr.and_then(|attr| attr.to_value()))
        }
        Some(_) => Err(()),
    }
}

/// The ops of a region from one up to another.
fn until(f: &Function, first: Option<OpId>, end: OpId) -> Vec<OpId> {
    let mut ops = Vec::new();
    let mut next = first;
    while let Some(op) = next.filter(|&op| op != end) {
        ops.push(op);
        next = f.next_op(op);
    }
    ops
}

/// Replaces an op's references to attribute parameters.
fn bind(
    f: &mut Function,
    op: OpId,
    bindings: &HashMap<SymbolId, Option<AttrValue>>,
) -> Result<(), EditError> {
    if bindings.is_empty() {
        return Ok(());
    }
    let attrs = f.attrs(op).filter_map(|(name, attr)| match attr {
        Attr::Reference(param, _) => Some((name, param)),
        _ => None,
    });
    for (name, param) in attrs.collect::<Vec<_>>() {
        match bindings.get(&param) {
            Some(Some(value)) => f.set_attr(op, name, value.clone())?,
            _ => f.remove_attr(op, name)?,
        }
    }
    Ok(())
}

/// Forgets the types of results that name dims: what the names mean is another function's to say.
fn forget_dims(f: &mut Function, op: OpId) -> Result<(), EditError> {
    let named = |&value: &ValueId| !f.type_of(value).symbols().is_empty();
    let values: Vec<ValueId> = f.results(op).iter().copied().filter(named).collect();
    for value in values {
        let unknown = f.add_type(&TypeSpec::unknown())?;
        f.set_type(value, unknown)?;
    }
    Ok(())
}
