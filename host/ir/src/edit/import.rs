//! Edits for importers and parsers: names, marks and locations as the file has them.

use std::mem;

use passdock_abi::{
    Constant, LocId, Op, OpId, Opset, Port, Region, RegionId, SymbolId, Value, ValueId,
};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Edit, EditFailure, reject};
use crate::function::Function;
use crate::module::Module;
use crate::name::OpName;

/// The maximum number of domains that a function or file may import: lookups are linear.
pub const MAX_OPSETS: usize = 1024;

impl Module {
    /// Imports the domains of ops that `before` doesn't contain, with the version that another function imports, or
    /// that `version_of` returns, or else version 1. A function without imports isn't changed. A domain without a known
    /// version isn't imported if `before` has the op in another function.
    pub fn import_new_domains(
        &mut self,
        before: &Module,
        version_of: impl Fn(&str) -> Option<i64>,
    ) {
        let mut needed = Vec::new();
        let (mut domains, mut versions) = (FxHashMap::default(), FxHashMap::default());
        // The number of the function that had an op of a name last.
        let mut seen = vec![0; self.symbols().count()];
        let changed = self.changed_since(before);
        let changed = changed.filter(|(_, f, _)| !f.opsets.is_empty());
        for (number, (_, f, old)) in (1..).zip(changed) {
            for name in f.ops().map(|(_, op)| op.name) {
                let last = seen.get_mut(name.index());
                if last.is_none_or(|last| mem::replace(last, number) == number) {
                    continue;
                }
                let domain = *domains.entry(name).or_insert_with(|| {
                    let domain = OpName::parse(f.text(name)).and_then(|name| name.domain);
                    let domain = domain.filter(|_| self.function(name).is_none());
                    domain.map(|domain| self.symbols().intern(&domain))
                });
                let Some(domain) = domain.filter(|domain| f.opset(*domain).is_none()) else {
                    continue;
                };
                let uses_name = |f: &Function| f.ops().any(|(_, op)| op.name == name);
                if old.is_some_and(|old| uses_name(old)) {
                    continue;
                }
                let version = versions.entry(name).or_insert_with(|| {
                    let known = self.functions().find_map(|other| other.opset(domain));
                    let is_new = || !before.functions().any(|f| uses_name(f));
                    known
                        .or_else(|| version_of(f.text(domain)))
                        .or_else(|| is_new().then_some(1))
                });
                needed.extend(version.map(|version| (f.name, domain, version)));
            }
        }
        for (function, domain, version) in needed {
            let f = self.function_mut(function);
            if let Some(f) = f.filter(|f| f.opsets.len() < MAX_OPSETS) {
                f.set_opset(domain, version);
            }
        }
    }
}

impl Function {
    /// Marks an op as having fields in its file that the IR doesn't model.
    pub fn import_annotated(&mut self, op: OpId) {
        self.ops[op.index()].flags |= Op::ANNOTATED;
    }

    /// Sets the name that the file gives a value; a value of another region may have the same name.
    pub fn import_name(&mut self, value: ValueId, name: SymbolId) {
        self.names = None;
        self.values[value.index()].name = name;
    }

    /// Marks a result as omitted in the file.
    pub fn import_absent(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::ABSENT;
    }

    /// Marks a value's type as declared in the file, separately from its definition.
    pub fn import_declared(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::DECLARED;
    }

    /// Sets the imported version of a domain.
    pub fn set_opset(&mut self, domain: SymbolId, version: i64) {
        match self.opsets.iter_mut().find(|opset| opset.domain == domain) {
            Some(opset) => opset.version = version,
            None => self.opsets.push(Opset {
                domain,
                reserved: 0,
                version,
            }),
        }
        self.touch_function();
    }

    /// Returns the imports that copies of another function's ops need here: domains that this function doesn't import.
    /// `since` returns the first version in which an op has the same meaning as in the given version of its domain, or
    /// `None` if unknown.
    ///
    /// # Errors
    /// If this function imports a version of a domain in which one of the ops has a different meaning.
    pub fn imports_of(
        &self,
        source: &Function,
        ops: impl Iterator<Item = OpId>,
        since: impl Fn(SymbolId, i64) -> Option<i64>,
    ) -> Edit<Vec<Opset>> {
        let mut needed: Vec<Opset> = Vec::new();
        let is_here = |opset: &Opset| self.opset(opset.domain) == Some(opset.version);
        if source.opsets.iter().all(is_here) {
            return Ok(needed);
        }
        let mut seen = FxHashSet::default();
        let names = ops.map(|op| source.op(op).name);
        for name in names.filter(|&name| seen.insert(name)) {
            let domain = OpName::parse(source.text(name)).and_then(|name| name.domain);
            let domain = domain.and_then(|domain| source.symbols.find(&domain));
            let opset = domain.and_then(|d| source.opsets.iter().find(|o| o.domain == d));
            let Some(opset) = opset else { continue };
            let Some(own) = self.opset(opset.domain) else {
                if needed.iter().all(|known| known.domain != opset.domain) {
                    needed.push(*opset);
                }
                continue;
            };
            let theirs = opset.version;
            let meanings = [since(name, theirs), since(name, own)];
            if own == theirs || matches!(meanings, [Some(a), Some(b)] if a == b) {
                continue;
            }
            let name = source.text(name);
            let (from, to) = (source.text(source.name), self.text(self.name));
            let why = match meanings {
                [Some(theirs), Some(own)] => {
                    format!("its version is {theirs} in `@{from}` and {own} in `@{to}`")
                }
                [Some(_), None] => format!("opset {own} does not have it"),
                _ => "no plugin defines it in both versions".to_owned(),
            };
            // RaiseOpset converts only ONNX's own operators.
            let help = match (source.text(opset.domain), meanings) {
                ("", [Some(_), _]) => {
                    let (older, newer) = if theirs < own {
                        (from, own)
                    } else {
                        (to, theirs)
                    };
                    format!(
                        "; run `relax.transform.RaiseOpset` with `to = {newer}` on `@{older}` first"
                    )
                }
                _ => String::new(),
            };
            reject!(
                "`{name}` of `@{from}` (opset {theirs}) differs in meaning in `@{to}` (opset {own}): {why}{help}"
            );
        }
        match self.opsets.len() + needed.len() > MAX_OPSETS {
            true => Err(EditFailure::rejected(format!(
                "function `@{}` would import more than {MAX_OPSETS} domains",
                self.text(self.name)
            ))),
            false => Ok(needed),
        }
    }

    /// Adds the imports that [`Function::imports_of`] returned.
    pub fn add_imports(&mut self, needed: &[Opset]) {
        needed
            .iter()
            .for_each(|opset| self.set_opset(opset.domain, opset.version));
    }

    /// Removes the import of a domain without ops in the function, in time linear in the number of ops. ONNX's own
    /// domain can't be removed.
    ///
    /// # Errors
    /// If the function has an op of the domain.
    pub fn remove_opset(&mut self, domain: SymbolId) -> Edit {
        let Some(at) = (self.opsets.iter()).position(|opset| opset.domain == domain) else {
            return Ok(());
        };
        let live = self.ops.iter().filter(|op| op.flags & Op::DEAD == 0);
        let names: FxHashSet<SymbolId> = live.map(|op| op.name).collect();
        let text = self.text(domain);
        let is_of_it = |name: &SymbolId| {
            let name = OpName::parse(self.text(*name)).and_then(|name| name.domain);
            name.is_some_and(|own| own == text)
        };
        // Constants may be written as ONNX ops.
        if text.is_empty() || names.iter().any(is_of_it) {
            reject!(
                "cannot remove the opset of domain `{text}`: ops or constants of the function use it"
            );
        }
        self.opsets.remove(at);
        self.touch_function();
        Ok(())
    }

    /// Sets an op's location.
    ///
    /// # Errors
    /// If the op is erased.
    pub fn set_loc(&mut self, op: OpId, loc: LocId) -> Edit {
        self.live_op(op)?;
        self.ops[op.index()].loc = loc;
        self.touch_op(op);
        Ok(())
    }

    /// Sets a region's location: the name of an ONNX graph.
    ///
    /// # Errors
    /// If the region is erased.
    pub fn set_region_loc(&mut self, region: RegionId, loc: LocId) -> Edit {
        self.live_region(region)?;
        self.regions[region.index()].loc = loc;
        self.touch_region(region);
        Ok(())
    }

    /// Clears all marks of changes: the function is as in the file.
    pub fn seal(&mut self) {
        self.ops.iter_mut().for_each(|op| op.flags &= !Op::TOUCHED);
        self.values
            .iter_mut()
            .for_each(|value| value.flags &= !Value::TOUCHED);
        self.regions
            .iter_mut()
            .for_each(|region| region.flags &= !Region::TOUCHED);
        self.ports
            .iter_mut()
            .for_each(|port| port.flags &= !Port::TOUCHED);
        self.constants
            .iter_mut()
            .for_each(|constant| constant.flags &= !Constant::TOUCHED);
        self.touched = false;
    }
}
