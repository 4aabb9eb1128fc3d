//! The ops of a kernel in the place of a call.

use std::collections::HashMap;

use passdock_plugin_api::Snapshot;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{DimKind, LocId};

use crate::fusion::group::{NAMES, PLACES};
use crate::shared::attr_params::{AttrParams, bind};
use crate::shared::operators::check_opsets;
use crate::shared::read::{between, with_nested};
use crate::shared::retype::retype;

/// A function whose calls are replaced, looked at once for all calls of it.
pub(crate) struct Kernel<'h> {
    f: Snapshot<'h>,
    /// Its ops, in order.
    ops: Vec<OpId>,
    /// The values that it doesn't give out, and then its constants: whose names a call may say, behind those of the
    /// ops.
    inner: Vec<ValueId>,
    constants: Vec<ValueId>,
    params: AttrParams,
}

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
        let mut constants = Vec::new();
        for op in f.iter() {
            for value in f.operands(op) {
                let constant = f.constant(value).and_then(|id| f.constant_record(id));
                let is_own = constant.is_some_and(|record| record.region == f.body());
                if is_own && !constants.contains(&value) {
                    constants.push(value);
                }
            }
        }
        Kernel {
            ops,
            inner,
            constants,
            params: AttrParams::new(&f),
            f,
        }
    }

    /// Whether the ops can stand in the place of a call.
    pub(crate) fn check(&self, f: &Function, call: OpId) -> Result<(), String> {
        let (takes, gives) = (self.f.params().len(), self.f.ports(self.f.body()).len());
        if f.operand_count(call) > takes || f.result_count(call) > gives {
            return Err("the call has more operands or results than the function".into());
        }
        check_opsets(self.f.opsets(), |domain| f.opset(domain))?;
        self.params.bindings(f, call).map(drop)
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
        let bindings = self.params.bindings(f, call).map_err(PassError::new)?;
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
        let made = between(f, before, call);
        for op in with_nested(f, &made) {
            bind(f, op, &bindings)?;
            if !same_words {
                forget_dims(f, op)?;
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

/// Forgets the types of results that name dims: what the names mean is another function's to say.
fn forget_dims(f: &mut Function, op: OpId) -> Result<(), EditError> {
    let named = |&value: &ValueId| !f.type_of(value).symbols().is_empty();
    let values: Vec<ValueId> = f.results(op).iter().copied().filter(named).collect();
    for value in values {
        retype(f, value, TypeId::NONE)?;
    }
    Ok(())
}
