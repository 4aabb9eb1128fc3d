//! Inlining of kernels, which restores their original ops.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::Capture;
use passdock_plugin_api::{DimKind, LocId, Snapshot};

use crate::fusion::group::{NAMES, POSITIONS};
use crate::shared::callee::Body;
use crate::shared::operators::check_opsets;
use crate::shared::read::ops_of;

/// A function whose calls are inlined. It is analyzed once for all calls.
pub(crate) struct Kernel<'h> {
    body: Body<'h>,
    /// The ops of the body, in order.
    ops: Vec<OpId>,
    /// The inner values and the constants. A call may have names for them, after the names of the ops.
    inner: Vec<ValueId>,
    constants: Vec<ValueId>,
}

/// The constants of a function, by name and region.
pub(crate) type Constants = HashMap<(SymbolId, RegionId), ValueId>;

/// Returns the constants of a function, by name and region.
pub(crate) fn constants_by_name(f: &Function) -> Constants {
    let named = f.constants().filter_map(|(_, record)| {
        let name = f.find_symbol(f.value_name(record.value)?)?;
        Some(((name, record.region), record.value))
    });
    named.collect()
}

/// Returns the constant with a name that is visible in a region.
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
        let ops = ops_of(&f, f.body());
        let end = f.terminator(f.body()).into_iter();
        let given: HashSet<ValueId> = end.flat_map(|op| f.operands(op)).collect();
        let results = ops.iter().flat_map(|&op| f.results(op)).copied();
        let inner = results.filter(|value| !given.contains(value)).collect();
        let (mut constants, mut seen) = (Vec::new(), HashSet::new());
        for op in f.iter() {
            for value in f.operands(op) {
                let constant = f.constant(value).and_then(|id| f.constant_record(id));
                let is_own = constant.is_some_and(|record| record.region == f.body());
                if is_own && seen.insert(value) {
                    constants.push(value);
                }
            }
        }
        Kernel {
            ops,
            inner,
            constants,
            body: Body::new(f),
        }
    }

    /// Returns an error if a call can't be inlined.
    pub(crate) fn check(&self, f: &Function, call: OpId) -> Result<(), String> {
        check_opsets(self.body.f.opsets(), |domain| f.opset(domain))?;
        self.body.check(f, call)
    }

    /// Inlines a call, which must have passed [`check`](Kernel::check). Returns the original positions of the ops, if
    /// the call has them.
    pub(crate) fn restore(
        &self,
        f: &mut Function,
        call: OpId,
        constants: &Constants,
    ) -> Result<Vec<(OpId, i64)>, PassError> {
        let opsets: Vec<(String, i64)> = (self.body.f.opsets())
            .filter(|(domain, _)| f.opset(domain).is_none() && f.opsets().next().is_some())
            .map(|(domain, version)| (domain.to_owned(), version))
            .collect();
        for (domain, version) in opsets {
            f.set_opset(&domain, version)?;
        }
        let names = self.names(f, call);
        let positions: Vec<i64> = f.ints(call, POSITIONS).unwrap_or_default().to_vec();
        let captures = self.captures(f, call, &names, constants)?;
        let copy = self.body.copy(f, call, &captures)?;
        if !self.has_dims_of(f, &copy.args) {
            self.body.rename_dims(f, &copy)?;
        }
        for (&result, &value) in f.results(call).to_vec().iter().zip(&copy.values) {
            if f.defining_op(value).is_none() {
                continue;
            }
            if f.type_of(value).kind() == TypeKind::UNKNOWN {
                f.set_type(value, f.type_id(result))?;
            }
            // Cleared, because the name of the call's result replaces it.
            f.set_value_name(value, "")?;
        }
        f.replace_op_with(call, &copy.values)?;
        self.rename(f, &copy.ops, &names)?;
        Ok(copy.ops.into_iter().zip(positions).collect())
    }

    /// Returns the names that a call has for the ops and values; empty if the kernel's names apply.
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

    /// Returns the constants of the kernel that equal a constant of the caller.
    fn captures(
        &self,
        f: &Function,
        call: OpId,
        names: &[String],
        constants: &Constants,
    ) -> Result<Vec<Capture>, EditError> {
        let own = names.get(self.ops.len() + self.inner.len()..);
        let mut captures = Vec::new();
        for (at, &value) in self.constants.iter().enumerate() {
            let name = match own {
                Some(names) => names.get(at).map(|name| &**name),
                None => self.body.f.value_name(value),
            };
            let region = f.parent_region(call);
            let found = name.and_then(|name| visible(f, constants, name, region));
            let Some(outside) = found else {
                continue;
            };
            let is_same = f.is_live_value(outside)
                && f.dtype(outside) == self.body.f.dtype(value)
                && f.shape(outside) == self.body.f.shape(value)
                && f.constant_data(outside)? == self.body.f.constant_data(value)?;
            if is_same {
                captures.push(Capture {
                    value,
                    replacement: outside,
                });
            }
        }
        Ok(captures)
    }

    /// Whether the dim symbols of the kernel have the same meaning at a call.
    fn has_dims_of(&self, f: &Function, args: &[ValueId]) -> bool {
        self.body.f.params().iter().zip(args).all(|(&param, &arg)| {
            let (Some(own), Some(given)) = (self.body.f.dims(param), f.dims(arg)) else {
                return true;
            };
            own.zip(given).all(|(own, given)| {
                own.kind != DimKind::SYMBOL || (own.kind, own.value) == (given.kind, given.value)
            })
        })
    }

    /// Sets the names of the copies to those of the call.
    fn rename(&self, f: &mut Function, ops: &[OpId], names: &[String]) -> Result<(), EditError> {
        if names.is_empty() {
            return Ok(());
        }
        for (&op, name) in ops.iter().zip(names) {
            let loc = match &**name {
                "" => LocId::NONE,
                name => f.name_loc(name)?,
            };
            f.set_loc(op, loc)?;
        }
        let copies = ops.iter().flat_map(|&op| f.results(op)).copied();
        let originals = self
            .ops
            .iter()
            .flat_map(|&op| self.body.f.results(op))
            .copied();
        let copies: HashMap<ValueId, ValueId> = originals.zip(copies).collect();
        for (value, name) in self.inner.iter().zip(&names[self.ops.len()..]) {
            if let Some(&copy) = copies.get(value) {
                f.set_value_name(copy, name)?;
            }
        }
        Ok(())
    }
}
