//! Inlining of calls.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::Snapshot;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::record::Capture;
use passdock_plugin_api::{DimKind, LocId};

use super::attr_params::{AttrParams, bind};
use super::operators::check_opsets;
use super::read::{between, redeclare, with_nested};
use super::retype::{Retype, names_dims, retype};

/// The body of a called function. It is analyzed once for all calls.
pub(crate) struct Body<'h> {
    pub(crate) f: Snapshot<'h>,
    params: AttrParams,
}

/// A copy of a body, inserted before a call.
pub(crate) struct BodyCopy {
    /// The top-level ops.
    pub(crate) ops: Vec<OpId>,
    /// All ops, including nested ones.
    pub(crate) all: Vec<OpId>,
    pub(crate) args: Vec<ValueId>,
    /// The replacements of the call's results.
    pub(crate) values: Vec<ValueId>,
}

impl<'h> Body<'h> {
    pub(crate) fn new(f: Snapshot<'h>) -> Body<'h> {
        Body {
            params: AttrParams::new(&f),
            f,
        }
    }

    /// Returns an error if a call can't be inlined. The text completes a sentence.
    pub(crate) fn check(&self, f: &Function, call: OpId) -> Result<(), String> {
        let (param_count, yield_count) = (self.f.params().len(), self.f.ports(self.f.body()).len());
        if f.operand_count(call) > param_count {
            return Err(format!(
                "too many operands: expected at most {param_count}, found {}",
                f.operand_count(call)
            ));
        }
        if f.result_count(call) > yield_count {
            return Err(format!(
                "too many results: expected at most {yield_count}, found {}",
                f.result_count(call)
            ));
        }
        self.params.bindings(f, call).map(drop)
    }

    /// Copies the ops before a call, which must have passed [`check`](Body::check). `captures` replace values of the
    /// body.
    pub(crate) fn copy(
        &self,
        f: &mut Function,
        call: OpId,
        captures: &[Capture],
    ) -> Result<BodyCopy, PassError> {
        let bindings = self.params.bindings(f, call).map_err(PassError::new)?;
        let mut args: Vec<ValueId> = f.operands(call).collect();
        args.resize(self.f.params().len(), ValueId::NONE);
        let before = f.previous_op(call);
        let at = Position::before(call);
        let mut values = f.clone_region_from(&self.f, self.f.body(), at, &args, captures)?;
        values.truncate(f.result_count(call));
        let ops = between(f, before, call);
        let all = with_nested(f, &ops);
        for &op in &all {
            bind(f, op, &bindings)?;
        }
        Ok(BodyCopy {
            ops,
            all,
            args,
            values,
        })
    }

    /// Renames dim symbols of a copy according to its arguments. Symbols that occur in no parameter's type become
    /// unknown.
    pub(crate) fn rename_dims(&self, f: &mut Function, copy: &BodyCopy) -> Result<(), EditError> {
        let mut dims: HashMap<i64, Dim> = HashMap::new();
        for (&param, &arg) in self.f.params().iter().zip(&copy.args) {
            let (Some(own), Some(other)) = (self.f.dims(param), f.dims(arg)) else {
                continue;
            };
            for (own, other) in own.zip(other) {
                if own.kind == DimKind::SYMBOL && other.is_known() {
                    dims.insert(own.value, other);
                }
            }
        }
        let mut renamed = Retype::new(dims);
        for &op in &copy.all {
            let mut values = f.results(op).to_vec();
            let regions = f.regions(op).to_vec();
            for &region in &regions {
                values.extend(f.args(region));
            }
            for value in values {
                let ty = renamed.ty(f, f.type_id(value))?;
                retype(f, value, ty)?;
            }
            for region in regions {
                if f.ports(region).any(|port| names_dims(f, port.ty)) {
                    redeclare(f, region, |f, _, ty, value| Ok((renamed.ty(f, ty)?, value)))?;
                }
            }
        }
        Ok(())
    }
}

/// A function whose calls are inlined.
pub(crate) struct Callee<'h> {
    body: Body<'h>,
    /// Whether its types have dim symbols.
    has_symbols: bool,
    /// The calls in it that are inlined in turn, with their callees.
    calls: HashMap<OpId, SymbolId>,
    /// The function's size after inlining the calls in it.
    grown: Grown,
}

/// A copy of a callee's ops, inserted before the call.
pub(crate) struct Copied {
    call: OpId,
    /// The replacements of the call's results.
    pub(crate) values: Vec<ValueId>,
    args: Vec<ValueId>,
    /// The calls among the copies that are inlined in turn, with their callees.
    pub(crate) calls: Vec<(OpId, SymbolId)>,
}

/// The replacements of the results of inlined calls.
#[derive(Default)]
pub(crate) struct Replaced {
    values: HashMap<ValueId, ValueId>,
    /// Results that become results of an outer call, from which they take their names.
    pub(crate) forwarded: HashSet<ValueId>,
}

impl Copied {
    /// Replaces the call with the copies, which take the names and types of its results. Calls among the copies are
    /// replaced already. So if many functions pass a value on, each use is replaced once.
    pub(crate) fn replace(
        mut self,
        f: &mut Function,
        replaced: &mut Replaced,
    ) -> Result<(), EditError> {
        for value in &mut self.values {
            *value = replaced.values.get(value).copied().unwrap_or(*value);
        }
        let results = f.results(self.call).to_vec();
        let args: HashSet<ValueId> = self.args.iter().copied().collect();
        let mut names = Vec::new();
        for (&result, &value) in results.iter().zip(&self.values) {
            replaced.values.insert(result, value);
            if value.is_none() || args.contains(&value) || f.constant(value).is_some() {
                continue;
            }
            if f.type_of(value).rank().is_none() {
                f.set_type(value, f.type_id(result))?;
            }
            let name = f.value_name(result);
            if let Some(name) = name.filter(|_| !replaced.forwarded.contains(&result)) {
                names.push((value, name.to_owned()));
            }
        }
        f.replace_op_with(self.call, &self.values)?;
        for (value, name) in names {
            f.set_value_name(value, &name)?;
        }
        Ok(())
    }
}

/// The size of a function after inlining.
pub(crate) struct Grown {
    ops: usize,
    /// The number of ops before inlining.
    own: usize,
    /// The function's opset imports.
    opsets: HashMap<String, i64>,
    /// The domains that are needed by inlined functions.
    taken: HashSet<String>,
}

impl Grown {
    pub(crate) fn new(f: &Function) -> Grown {
        let opsets = f
            .opsets()
            .map(|(domain, version)| (domain.to_owned(), version));
        Grown {
            ops: f.op_count(),
            own: f.op_count(),
            opsets: opsets.collect(),
            taken: HashSet::new(),
        }
    }

    /// Returns the number of ops that inlining adds.
    pub(crate) fn growth(&self) -> usize {
        self.ops.saturating_sub(self.own)
    }

    /// Counts an inlined call.
    pub(crate) fn take(&mut self, callee: &Callee<'_>) {
        // The call and the callee's terminator disappear.
        self.ops = (self.ops + callee.grown.ops).saturating_sub(2);
        for (domain, version) in &callee.grown.opsets {
            self.opsets.entry(domain.clone()).or_insert(*version);
            self.taken.insert(domain.clone());
        }
    }
}

impl<'h> Callee<'h> {
    pub(crate) fn new(f: Snapshot<'h>, mut grown: Grown, calls: &[(OpId, SymbolId)]) -> Callee<'h> {
        let calls: HashMap<OpId, SymbolId> = calls.iter().copied().collect();
        let mut names = HashSet::new();
        let mut has_symbols = false;
        for op in f.iter() {
            if !calls.contains_key(&op) {
                names.insert(f.symbol(op));
            }
            let args = f.regions(op).iter().flat_map(|&region| f.args(region));
            let mut values = f.results(op).iter().chain(args);
            has_symbols |= values.any(|&v| names_dims(&f, f.type_id(v)));
        }
        // Only imports of domains that the function has ops of are needed.
        let taken = &grown.taken;
        grown.opsets.retain(|domain, _| {
            let mut names = names.iter().map(|&name| f.text(name));
            taken.contains(domain) || names.any(|name| may_be_of(name, domain))
        });
        Callee {
            body: Body::new(f),
            has_symbols,
            calls,
            grown,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.body.f.function_name()
    }

    pub(crate) fn growth(&self) -> usize {
        self.grown.growth()
    }

    /// Returns an error if a call can't be inlined. `caller` has the caller's size so far.
    pub(crate) fn check(
        &self,
        f: &Function,
        call: OpId,
        caller: &Grown,
        max_ops: usize,
    ) -> Result<(), String> {
        let own = |domain: &str| caller.opsets.get(domain).copied();
        check_opsets(sorted(&self.grown.opsets), own)?;
        self.body.check(f, call)?;
        let ops = caller.ops + self.grown.ops;
        if ops > max_ops {
            return Err(format!(
                "the caller would have {ops} ops (`max_ops` is {max_ops})"
            ));
        }
        Ok(())
    }

    /// Copies the function's ops before a call, which must have passed [`check`](Callee::check).
    pub(crate) fn copy(&self, f: &mut Function, call: OpId) -> Result<Copied, PassError> {
        for (domain, version) in sorted(&self.grown.opsets) {
            f.set_opset(domain, version)?;
        }
        let copy = self.body.copy(f, call, &[])?;
        if self.has_symbols {
            self.body.rename_dims(f, &copy)?;
        }
        place_ops(f, &copy.all, call)?;
        let copies = self.body.f.iter().zip(copy.all);
        let calls = copies.filter_map(|(op, copy)| Some((copy, *self.calls.get(&op)?)));
        Ok(Copied {
            call,
            values: copy.values,
            args: copy.args,
            calls: calls.collect(),
        })
    }
}

/// Whether an op with this name may belong to a domain. Quoted names may belong to any.
fn may_be_of(name: &str, domain: &str) -> bool {
    let domain = if domain.is_empty() { "onnx" } else { domain };
    let rest = name.strip_prefix(domain);
    name.starts_with('"') || rest.is_some_and(|rest| rest.starts_with('.'))
}

fn sorted(opsets: &HashMap<String, i64>) -> Vec<(&str, i64)> {
    let opsets = opsets.iter().map(|(domain, version)| (&**domain, *version));
    let mut opsets: Vec<(&str, i64)> = opsets.collect();
    opsets.sort_unstable();
    opsets
}

/// Prefixes the locations of copies with that of the call.
fn place_ops(f: &mut Function, created: &[OpId], call: OpId) -> Result<(), EditError> {
    let at = f.loc(call);
    if at == LocId::NONE {
        return Ok(());
    }
    let Some(prefix) = f.loc_name(call).map(str::to_owned) else {
        for &op in created {
            let own = f.loc(op);
            if own == LocId::NONE {
                f.set_loc(op, at)?;
            }
        }
        return Ok(());
    };
    for &op in created {
        if f.is_terminator(op) {
            continue;
        }
        let loc = match f.loc_name(op).map(|own| format!("{prefix}/{own}")) {
            Some(name) => f.name_loc(&name)?,
            None => at,
        };
        f.set_loc(op, loc)?;
    }
    Ok(())
}
