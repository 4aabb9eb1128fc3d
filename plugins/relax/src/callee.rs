//! A function that is put in the place of its calls.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::Snapshot;
use passdock_plugin_api::abi::{DimKind, LocId};
use passdock_plugin_api::prelude::*;

use crate::retype::{Retype, Words, names_dims};

/// What is looked at once for all calls of a function.
pub(crate) struct Callee<'h> {
    f: Snapshot<'h>,
    /// The names of its ops.
    ops: HashSet<SymbolId>,
    /// The attribute parameters that its ops refer to.
    params: Vec<SymbolId>,
    /// Whether types of it name dims.
    has_symbols: bool,
}

/// Why a call stays.
type Why = Result<(), String>;

impl<'h> Callee<'h> {
    pub(crate) fn new(f: Snapshot<'h>) -> Callee<'h> {
        let (mut ops, mut params) = (HashSet::new(), Vec::new());
        let mut seen = HashSet::new();
        let mut has_symbols = false;
        for op in f.iter() {
            ops.insert(f.symbol(op));
            for (_, attr) in f.attrs(op) {
                if let Attr::Reference(param) = attr
                    && seen.insert(param)
                {
                    params.push(param);
                }
            }
            let args = f.regions(op).iter().flat_map(|&region| f.args(region));
            has_symbols |= f
                .results(op)
                .iter()
                .chain(args)
                .any(|&v| names_dims(&f, f.type_id(v)));
        }
        Callee {
            f,
            ops,
            params,
            has_symbols,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.f.function_name()
    }

    /// Whether a call can be replaced.
    pub(crate) fn check(&self, f: &Function, call: OpId, max_ops: i64) -> Result<Why, EditError> {
        let (takes, gives) = (self.f.params().len(), self.f.ports(self.f.body()).len());
        if f.operand_count(call) > takes {
            return Ok(Err(format!(
                "it has more operands than the {takes} that the function takes"
            )));
        }
        if f.result_count(call) > gives {
            return Ok(Err(format!(
                "it has more results than the {gives} that the function gives"
            )));
        }
        for (domain, version) in self.opsets() {
            match f.opset(domain) {
                Some(own) if own != version => {
                    let domain = if domain.is_empty() { "onnx" } else { domain };
                    return Ok(Err(format!(
                        "the function is of version {version} of `{domain}`, its caller of {own}"
                    )));
                }
                _ => {}
            }
        }
        for &param in &self.params {
            if let Err(why) = self.binding(f, call, param) {
                return Ok(Err(why));
            }
        }
        let ops = f.op_count() + self.f.op_count();
        if i64::try_from(ops).is_ok_and(|ops| ops > max_ops) {
            return Ok(Err(format!(
                "its caller would have {ops} ops (`max_ops` is {max_ops})"
            )));
        }
        Ok(Ok(()))
    }

    /// The function's opset versions, of the domains that it has ops of.
    fn opsets(&self) -> impl Iterator<Item = (&str, i64)> {
        let used = |domain: &str| {
            let prefix = if domain.is_empty() { "onnx" } else { domain };
            let is_of = |name: &str| match name.strip_prefix(prefix) {
                Some(rest) => rest.starts_with('.'),
                // Its domain may be any, in quotes.
                None => name.starts_with('"'),
            };
            self.ops.iter().any(|&name| is_of(self.f.text(name)))
        };
        self.f.opsets().filter(move |(domain, _)| used(domain))
    }

    /// What an attribute parameter is in a call; `None`: nothing.
    fn binding(
        &self,
        f: &Function,
        call: OpId,
        param: SymbolId,
    ) -> Result<Option<AttrValue>, String> {
        let name = f.text(param);
        if let Some(given) = f.attr(call, param) {
            let value = given.to_value();
            return match value {
                Some(value) => Ok(Some(value)),
                None => Err(format!("its attribute `{name}` is a graph")),
            };
        }
        match self.f.function_attr(param) {
            None | Some(Attr::Unset) => Ok(None),
            Some(default) => match default.to_value() {
                // Ids of the function's own.
                None
                | Some(
                    AttrValue::Tensor(_)
                    | AttrValue::Tensors(_)
                    | AttrValue::Type(_)
                    | AttrValue::Types(_)
                    | AttrValue::Reference(_),
                ) => Err(format!("the default of `{name}` isn't a number or text")),
                value => Ok(value),
            },
        }
    }

    /// Puts the function's ops in the place of a call that was checked.
    pub(crate) fn inline(&self, f: &mut Function, call: OpId) -> Result<(), EditError> {
        for (domain, version) in self.opsets() {
            f.set_opset(domain, version)?;
        }
        let mut bindings = HashMap::new();
        for &param in &self.params {
            let value = self.binding(f, call, param).unwrap_or_default();
            bindings.insert(param, value);
        }
        let mut args: Vec<ValueId> = f.operands(call).collect();
        args.resize(self.f.params().len(), ValueId::NONE);
        let before = f.previous_op(call);
        let at = Position::before(call);
        let mut values = f.clone_region_from(&self.f, self.f.body(), at, &args)?;
        let first = match before {
            Some(before) => f.next_op(before),
            None => f.first_op(f.parent_region(call)),
        };
        let made = between(f, first, call);
        for &op in &made {
            bind(f, op, &bindings)?;
        }
        if self.has_symbols {
            self.rename_dims(f, &made, &args)?;
        }
        place(f, &made, call)?;
        values.truncate(f.result_count(call));
        replace(f, call, &values, &args)
    }

    /// Says in the callers' words how large what was copied is.
    fn rename_dims(
        &self,
        f: &mut Function,
        made: &[OpId],
        args: &[ValueId],
    ) -> Result<(), EditError> {
        let mut dims: HashMap<i64, Dim> = HashMap::new();
        for (&param, &arg) in self.f.params().iter().zip(args) {
            let (Some(own), Some(theirs)) = (self.f.dims(param), f.dims(arg)) else {
                continue;
            };
            for (own, theirs) in own.zip(theirs) {
                if own.kind == DimKind::SYMBOL && theirs.kind != DimKind::UNKNOWN {
                    dims.insert(own.value, theirs);
                }
            }
        }
        let mut retype = Retype::new(None, Words::Listed(dims));
        for &op in made {
            let mut values = f.results(op).to_vec();
            let regions = f.regions(op).to_vec();
            for &region in &regions {
                values.extend(f.args(region));
            }
            for value in values {
                let (old, ty) = (f.type_id(value), retype.ty(f, f.type_id(value))?);
                if ty != old {
                    // What was said in other words is forgotten.
                    let unknown = f.add_type(&TypeSpec::unknown())?;
                    f.set_type(value, unknown)?;
                    f.set_type(value, ty)?;
                }
            }
            for region in regions {
                rename_ports(f, region, &mut retype)?;
            }
        }
        Ok(())
    }
}

/// The ops from one up to another of its region, with what is nested in them.
fn between(f: &Function, first: Option<OpId>, end: OpId) -> Vec<OpId> {
    let mut ops = Vec::new();
    let mut next = first;
    while let Some(op) = next.filter(|&op| op != end) {
        ops.push(op);
        for &region in f.regions(op) {
            ops.extend(f.iter_in(region));
        }
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
    let references: Vec<(SymbolId, SymbolId)> = f
        .attrs(op)
        .filter_map(|(name, attr)| match attr {
            Attr::Reference(param) => Some((name, param)),
            _ => None,
        })
        .collect();
    for (name, param) in references {
        match bindings.get(&param) {
            Some(Some(value)) => f.set_attr(op, name, value.clone())?,
            _ => f.remove_attr(op, name)?,
        }
    }
    Ok(())
}

/// Lets the locations of copies begin with that of the call.
fn place(f: &mut Function, made: &[OpId], call: OpId) -> Result<(), EditError> {
    let at = f.loc(call);
    if at == LocId::NONE {
        return Ok(());
    }
    let Some(prefix) = f.loc_name(call).map(str::to_owned) else {
        for &op in made {
            let own = f.loc(op);
            if own == LocId::NONE {
                f.set_loc(op, at)?;
            }
        }
        return Ok(());
    };
    for &op in made {
        if f.terminator(f.parent_region(op)) == Some(op) {
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

/// Lets values stand for a call's results, with their names, and what was known of them.
fn replace(
    f: &mut Function,
    call: OpId,
    values: &[ValueId],
    args: &[ValueId],
) -> Result<(), EditError> {
    let results = f.results(call).to_vec();
    let mut names = Vec::new();
    for (&result, &value) in results.iter().zip(values) {
        if value.is_none() || args.contains(&value) || f.constant(value).is_some() {
            continue;
        }
        if f.type_of(value).rank().is_none() {
            f.set_type(value, f.type_id(result))?;
        }
        if let Some(name) = f.value_name(result) {
            names.push((value, name.to_owned()));
        }
    }
    f.replace_op_with(call, values)?;
    for (value, name) in names {
        f.set_value_name(value, &name)?;
    }
    Ok(())
}

/// Says in the caller's words what a region declares of what it gives out.
fn rename_ports(f: &mut Function, region: RegionId, retype: &mut Retype) -> Result<(), EditError> {
    let Some(terminator) = f.terminator(region) else {
        return Ok(());
    };
    let values: Vec<ValueId> = f.operands(terminator).collect();
    let ports: Vec<_> = f.ports(region).collect();
    if !ports.iter().any(|port| names_dims(f, port.ty)) {
        return Ok(());
    }
    let mut results = Vec::new();
    for (port, value) in ports.iter().zip(values) {
        let name = port
            .name
            .option()
            .map_or("", |name| f.text(name))
            .to_owned();
        results.push((name, retype.ty(f, port.ty)?, value));
    }
    let results: Vec<_> = results
        .iter()
        .map(|(name, ty, value)| (&**name, *ty, *value))
        .collect();
    f.set_named_results(region, &results)
}
