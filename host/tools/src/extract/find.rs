//! The selection of values by name, and of the ops between them.

use passdock_abi::{DType, OpId, TypeKind, ValueId};
use passdock_core::{PassError, suggest};
use passdock_ir::Function;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Bounds, usage};

/// The values and ops of the part, in the main function.
pub(super) struct Selection {
    /// The values that it takes, with the names that were asked for.
    pub(super) inputs: Vec<ValueId>,
    pub(super) outputs: Vec<(ValueId, String)>,
    /// The ops of the body that it keeps.
    pub(super) ops: FxHashSet<OpId>,
    pub(super) idle: Vec<String>,
    pub(super) unshaped: Vec<String>,
}

pub(super) fn find(f: &Function, bounds: &Bounds) -> Result<Selection, PassError> {
    let names = Names::new(f);
    let mut inputs = names.all(&bounds.inputs)?;
    let outputs = match bounds.outputs.is_empty() {
        true => own_outputs(f),
        false => {
            let values = names.all(&bounds.outputs)?;
            let named = values.iter().map(|&value| (value, names.text(value)));
            named.collect()
        }
    };
    let mut needed = Needed::new(f, &inputs);
    outputs.iter().for_each(|(value, _)| needed.visit(*value));
    needed.finish();
    if !bounds.inputs.is_empty() {
        check_missing(f, &names, &needed, bounds, &outputs)?;
    }
    let idle = inputs
        .iter()
        .filter(|input| !needed.reached.contains(input));
    let idle = idle.map(|&input| names.text(input)).collect();
    // Those with a default stay parameters, too.
    let own = f.args(f.body()).filter(|arg| needed.reached.contains(arg));
    inputs.extend(own.filter(|arg| !needed.inputs.contains(arg)));
    for &input in &inputs {
        if !is_typed(f, input) {
            let name = names.text(input);
            let message = format!("The type of `{name}` isn't known, and an input needs one.");
            return Err(usage(message)
                .help("Give the plugin that defines the operators before it: `--plugin FILE`."));
        }
    }
    let given_out = outputs.iter().map(|(value, _)| value);
    let unshaped = inputs.iter().chain(given_out);
    let unshaped = unshaped.filter(|value| !is_shaped(f, **value));
    Ok(Selection {
        unshaped: unshaped.map(|value| names.text(*value)).collect(),
        inputs,
        ops: needed.ops,
        idle,
        outputs,
    })
}

fn is_typed(f: &Function, value: ValueId) -> bool {
    let ty = f.live_type(f.value(value).ty);
    ty.is_ok_and(|ty| match ty.kind {
        TypeKind::UNKNOWN => false,
        TypeKind::TENSOR | TypeKind::SPARSE => ty.dtype != DType::NONE,
        _ => true,
    })
}

/// Whether a value's type is all that a model's file has to say of its interface.
fn is_shaped(f: &Function, value: ValueId) -> bool {
    let ty = f.value(value).ty;
    let is_tensor = f.live_type(ty).is_ok_and(|ty| ty.kind == TypeKind::TENSOR);
    is_typed(f, value) && (!is_tensor || f.shape(ty).is_some())
}

/// The values that the function gives out, by the names of its ports.
fn own_outputs(f: &Function) -> Vec<(ValueId, String)> {
    let Some(end) = f.terminator(f.body()) else {
        return Vec::new();
    };
    let ports = f.operands(end).iter().zip(f.ports(f.body()));
    let named = ports.map(|(slot, port)| {
        let name = port.name.option().map_or("", |name| f.text(name));
        (slot.value, name.to_owned())
    });
    named.collect()
}

/// Checks that the outputs need nothing but the inputs.
fn check_missing(
    f: &Function,
    names: &Names<'_>,
    needed: &Needed<'_>,
    bounds: &Bounds,
    outputs: &[(ValueId, String)],
) -> Result<(), PassError> {
    let has_default = |arg: &ValueId| f.value(*arg).constant.is_some();
    let missing = needed
        .parameters()
        .filter(|arg| !needed.inputs.contains(arg));
    let missing: Vec<String> = missing
        .filter(|arg| !has_default(arg))
        .map(|arg| names.text(arg))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let given = suggest::listed(bounds.inputs.iter().map(String::as_str));
    let what = suggest::listed(outputs.iter().map(|(_, name)| name.as_str()));
    let more = suggest::listed(missing.iter().map(String::as_str));
    let (verb, values) = match outputs.len() {
        1 => ("needs", "output"),
        _ => ("need", "outputs"),
    };
    let message = format!("The {values} {what} {verb} more than {given}: also {more}.");
    let all = bounds.inputs.iter().chain(&missing);
    let all: Vec<&str> = all.map(String::as_str).collect();
    Err(usage(message).help(format!(
        "Add them, `--inputs {}`, or values between them and the {values}.",
        all.join(",")
    )))
}

/// The values that an op takes from around it: its operands, and those of ops in its regions.
fn taken(f: &Function, op: OpId) -> Vec<ValueId> {
    let mut values: Vec<ValueId> = f.operands(op).iter().map(|slot| slot.value).collect();
    for inner in f.regions_of(op).flat_map(|region| f.walk(region)) {
        values.extend(f.operands(inner).iter().map(|slot| slot.value));
    }
    let body = f.body();
    values.retain(|value| value.is_some() && f.home(*value) == body);
    values
}

/// What values need, back to the inputs.
struct Needed<'f> {
    f: &'f Function,
    inputs: FxHashSet<ValueId>,
    ops: FxHashSet<OpId>,
    reached: FxHashSet<ValueId>,
    stack: Vec<ValueId>,
}

impl<'f> Needed<'f> {
    fn new(f: &'f Function, inputs: &[ValueId]) -> Needed<'f> {
        Needed {
            f,
            inputs: inputs.iter().copied().collect(),
            ops: FxHashSet::default(),
            reached: FxHashSet::default(),
            stack: Vec::new(),
        }
    }

    fn visit(&mut self, value: ValueId) {
        if self.reached.insert(value) {
            self.stack.push(value);
        }
    }

    fn finish(&mut self) {
        while let Some(value) = self.stack.pop() {
            let op = self.f.defining_op(value);
            let Some(op) = op.filter(|_| !self.inputs.contains(&value)) else {
                continue;
            };
            if self.ops.insert(op) {
                taken(self.f, op).into_iter().for_each(|v| self.visit(v));
            }
        }
    }

    /// The function's parameters that were reached.
    fn parameters(&self) -> impl Iterator<Item = ValueId> {
        let args = self.f.args(self.f.body());
        args.filter(|arg| self.reached.contains(arg))
    }
}

/// The names of the body's values.
struct Names<'f> {
    f: &'f Function,
    of: FxHashMap<ValueId, String>,
    values: FxHashMap<String, ValueId>,
}

impl<'f> Names<'f> {
    fn new(f: &'f Function) -> Names<'f> {
        let mut names = Names {
            f,
            of: FxHashMap::default(),
            values: FxHashMap::default(),
        };
        let results = f.ops_in(f.body()).flat_map(|op| f.results(op));
        let constants = f.live_constants().map(|(_, constant)| constant.value);
        let constants = constants.filter(|value| value.is_some() && f.home(*value) == f.body());
        for value in f.args(f.body()).chain(results).chain(constants) {
            let name = f.value(value).name;
            if name.is_some() {
                names.add(value, f.text(name).to_owned());
            }
        }
        // An output's own name, where its value has another or none.
        for (value, name) in own_outputs(f) {
            if !name.is_empty() && !names.values.contains_key(&name) {
                names.add(value, name);
            }
        }
        names
    }

    fn add(&mut self, value: ValueId, name: String) {
        self.of.entry(value).or_insert_with(|| name.clone());
        self.values.entry(name).or_insert(value);
    }

    fn text(&self, value: ValueId) -> String {
        let name = self.of.get(&value).cloned();
        name.unwrap_or_else(|| self.f.describe(value))
    }

    /// The values of these names, each once.
    fn all(&self, asked: &[String]) -> Result<Vec<ValueId>, PassError> {
        let mut values = Vec::new();
        for name in asked {
            let value = match self.values.get(name) {
                Some(&value) => value,
                None => return Err(self.unknown(name)),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Ok(values)
    }

    fn unknown(&self, name: &str) -> PassError {
        let known = self.values.keys().map(String::as_str);
        let error = usage(format!("The main graph has no value `{name}`."));
        match suggest::help(name, known) {
            Some(help) => error.help(help),
            None => error.help("`passdock convert MODEL -` shows all of them; those of regions and functions don't count."),
        }
    }
}
