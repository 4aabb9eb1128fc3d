//! Extraction of a part of a model: the ops between some of its values.
//!
//! [`extract`] turns the inputs into parameters and the outputs into results, and removes dead ops. Weights, names and
//! called functions don't change.

use passdock_abi::{DType, OpId, SymbolId, TypeId, TypeKind, Value, ValueId};
use passdock_core::{ErrorKind, PassError, suggest};
use passdock_ir::edit::NewPort;
use passdock_ir::{EditFailure, Function, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::queries::{
    FunctionResult, function_results, operands_inside, set_results, unused_constants,
};

/// The values at which a part begins and ends, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The inputs of the part; if empty, the model's own inputs that the outputs need.
    pub inputs: Vec<String>,
    /// The outputs of the part; if empty, the model's own outputs.
    pub outputs: Vec<String>,
}

/// A part of a model.
#[derive(Debug, Serialize)]
pub struct ModelPart {
    /// The part, as a model.
    #[serde(skip)]
    pub module: Module,
    /// The number of ops in the whole main graph.
    pub ops_before: usize,
    /// The number of ops in the main graph of the part.
    pub ops_after: usize,
    /// Inputs that no output needs.
    pub unused_inputs: Vec<String>,
    /// Inputs and outputs of unknown shape. Their shapes should be declared in an ONNX file.
    pub unknown_shapes: Vec<String>,
}

/// Extracts the part of a model between some of its values.
///
/// # Errors
/// If the main graph has no such value, or if an output depends on values that aren't among the inputs.
pub fn extract(module: &Module, bounds: &Bounds) -> Result<ModelPart, PassError> {
    let Some(f) = module.function_named("main") else {
        return Err(usage("the model has no main graph"));
    };
    let names = Names::new(module, f);
    let inputs = names.find_all(&bounds.inputs)?;
    let own = function_results(f).unwrap_or_default();
    let mut outputs = match bounds.outputs.is_empty() {
        true => own,
        false => {
            let values = names.find_all(&bounds.outputs)?.into_iter();
            let outputs = values.map(|value| {
                let name = names.text(value);
                // The type that the model declares for its output.
                let declared = own.iter().find(|own| (own.0, &own.1) == (value, &name));
                let ty = declared.map_or(TypeId::NONE, |own| own.2);
                (value, name, ty)
            });
            outputs.collect()
        }
    };
    for (value, _, ty) in outputs.iter_mut().filter(|output| output.2.is_none()) {
        *ty = f.value(*value).ty;
    }
    let edit_error = |error: EditFailure| {
        let message = format!("could not extract the part: {error}");
        PassError::new(ErrorKind::Write, message)
    };
    let mut part = module.clone();
    let Some(edited) = part.function_mut(f.name()) else {
        return Err(usage("the model has no main graph"));
    };
    if !inputs.is_empty() {
        check_dependence(f, &names, &inputs, &outputs)?;
    }
    let params = cut(edited, &inputs, &outputs).map_err(edit_error)?;
    check_params(edited, &params, bounds, &outputs)?;
    let unused_inputs = inputs.iter().zip(&params);
    let unused_inputs = unused_inputs.filter(|(_, param)| edited.value(**param).use_count == 0);
    let unused_inputs = unused_inputs.map(|(&input, _)| names.text(input)).collect();
    let (args, results) = (edited.args(edited.body()), function_results(edited));
    let args = args.map(|arg| (arg, describe(edited, arg)));
    let results = results.into_iter().flatten();
    let all = args.chain(results.map(|(value, name, _)| (value, name)));
    let unknown_shapes = all.filter(|(value, _)| !is_shaped(edited, *value));
    let unknown_shapes = unknown_shapes.map(|(_, name)| name).collect();
    let ops_after = edited.op_count();
    drop_uncalled(&mut part, f.name());
    Ok(ModelPart {
        ops_before: f.op_count(),
        ops_after,
        unused_inputs,
        unknown_shapes,
        module: part,
    })
}

/// Reduces the main function to the ops between inputs and outputs. Returns the parameters of the inputs.
fn cut(
    f: &mut Function,
    inputs: &[ValueId],
    outputs: &[FunctionResult],
) -> Result<Vec<ValueId>, EditFailure> {
    let mut params = Vec::new();
    let mut names = Vec::new();
    for &input in inputs {
        let Value {
            flags, name, ty, ..
        } = *f.value(input);
        if flags & Value::KIND == Value::ARG {
            params.push(input);
            continue;
        }
        let param = f.add_arg(f.body(), &NewPort { name: "", ty })?;
        f.replace_uses(input, param)?;
        params.push(param);
        names.push((input, param, name));
    }
    let outputs: Vec<FunctionResult> = outputs
        .iter()
        .map(|(value, name, ty)| {
            let at = inputs.iter().position(|input| input == value);
            (at.map_or(*value, |at| params[at]), name.clone(), *ty)
        })
        .collect();
    set_results(f, &outputs)?;
    let end = f.terminator(f.body());
    let ops: Vec<OpId> = f.ops_in(f.body()).filter(|op| Some(*op) != end).collect();
    // In reverse order, so that the users of an op are erased before it.
    for op in ops.into_iter().rev() {
        if f.results(op).all(|result| f.value(result).use_count == 0) {
            f.erase_op(op)?;
        }
    }
    for id in unused_constants(f) {
        f.erase_constant(id)?;
    }
    for (input, param, name) in names {
        // The parameter takes the name even if the op is kept for its other results.
        if f.live_value(input).is_ok() {
            f.set_name(input, "")?;
        }
        if name.is_some() {
            // Not `set_name`: it would reject the name, which an output of the model may still have.
            f.import_name(param, name);
        }
    }
    let is_unused = |arg: &ValueId| f.value(*arg).use_count == 0 && !params.contains(arg);
    let unused: Vec<ValueId> = f.args(f.body()).filter(is_unused).collect();
    f.remove_args(&unused)?;
    Ok(params)
}

/// Checks that each parameter has a type and that, if inputs are given, the outputs need no other parameters.
fn check_params(
    f: &Function,
    params: &[ValueId],
    bounds: &Bounds,
    outputs: &[FunctionResult],
) -> Result<(), PassError> {
    // A parameter with a default isn't required as an input.
    let is_missing = |arg: &ValueId| !params.contains(arg) && f.value(*arg).constant.is_none();
    let missing = f.args(f.body()).filter(is_missing);
    let missing: Vec<String> = missing.map(|arg| describe(f, arg)).collect();
    if !bounds.inputs.is_empty() && !missing.is_empty() {
        let inputs = suggest::listed(bounds.inputs.iter().map(String::as_str));
        let outputs = suggest::listed(outputs.iter().map(|(_, name, _)| name.as_str()));
        let more = suggest::listed(missing.iter().map(String::as_str));
        let message = format!("cannot compute {outputs} from {inputs}; missing {more}");
        let all = [&bounds.inputs[..], &missing].concat().join(",");
        return Err(usage(message).help(format!(
            "add the inputs (`--inputs {all}`), or values between them and the outputs"
        )));
    }
    let Some(untyped) = f.args(f.body()).find(|arg| !is_typed(f, *arg)) else {
        return Ok(());
    };
    let name = describe(f, untyped);
    let message = format!("input `{name}` has an unknown type");
    Err(usage(message)
        .help("pass `--plugin FILE` with the plugin that defines the operators before it"))
}

/// Checks that each output depends on an input.
fn check_dependence(
    f: &Function,
    names: &Names<'_>,
    inputs: &[ValueId],
    outputs: &[FunctionResult],
) -> Result<(), PassError> {
    let mut dependent: FxHashSet<ValueId> = inputs.iter().copied().collect();
    for op in f.ops_in(f.body()) {
        if operands_inside(f, op).any(|value| dependent.contains(&value)) {
            dependent.extend(f.results(op));
        }
    }
    let mut outputs = outputs.iter();
    let Some((value, name, _)) = outputs.find(|output| !dependent.contains(&output.0)) else {
        return Ok(());
    };
    let inputs: Vec<String> = inputs.iter().map(|&input| names.text(input)).collect();
    let on = suggest::listed(inputs.iter().map(String::as_str));
    let message = match inputs.len() {
        1 => format!("output `{name}` does not depend on input {on}"),
        _ => format!("output `{name}` depends on none of the inputs {on}"),
    };
    let mut needed = FxHashSet::default();
    let mut stack = vec![*value];
    while let Some(value) = stack.pop() {
        if value.is_some() && needed.insert(value) {
            stack.extend(
                f.defining_op(value)
                    .into_iter()
                    .flat_map(|op| operands_inside(f, op)),
            );
        }
    }
    let args = f.args(f.body()).filter(|arg| needed.contains(arg));
    let args: Vec<String> = args.map(|arg| names.text(arg)).collect();
    let args = match args.is_empty() {
        true => "constants only".to_owned(),
        false => suggest::listed(args.iter().map(String::as_str)),
    };
    Err(usage(message).note(format!("`{name}` depends on {args}")))
}

fn is_typed(f: &Function, value: ValueId) -> bool {
    let ty = f.live_type(f.value(value).ty);
    ty.is_ok_and(|ty| match ty.kind {
        TypeKind::UNKNOWN => false,
        TypeKind::TENSOR | TypeKind::SPARSE => ty.dtype != DType::NONE,
        _ => true,
    })
}

/// Whether a value's type has all that an ONNX file has to declare about an input or output.
fn is_shaped(f: &Function, value: ValueId) -> bool {
    let ty = f.value(value).ty;
    let is_tensor = f.live_type(ty).is_ok_and(|ty| ty.kind == TypeKind::TENSOR);
    is_typed(f, value) && (!is_tensor || f.shape(ty).is_some())
}

/// Returns a value's name, or a description of a value without a name.
fn describe(f: &Function, value: ValueId) -> String {
    match f.value(value).name.option() {
        Some(name) => f.text(name).to_owned(),
        None => f.describe(value),
    }
}

/// Removes the functions that aren't reachable from `main` by calls.
fn drop_uncalled(module: &mut Module, main: SymbolId) {
    let mut called: FxHashSet<SymbolId> = FxHashSet::default();
    let mut stack = vec![main];
    while let Some(name) = stack.pop() {
        let Some(f) = module.function(name) else {
            continue;
        };
        if called.insert(name) {
            stack.extend(f.walk(f.body()).map(|op| f.op(op).name));
        }
    }
    module.retain(|f| called.contains(&f.name()));
}

/// A map from names to values of the body.
struct Names<'f> {
    module: &'f Module,
    f: &'f Function,
    values: FxHashMap<String, ValueId>,
    /// The names of outputs that differ from the names of their values.
    outputs: FxHashMap<ValueId, String>,
}

impl<'f> Names<'f> {
    fn new(module: &'f Module, f: &'f Function) -> Names<'f> {
        let results = f.ops_in(f.body()).flat_map(|op| f.results(op));
        let constants = f.live_constants().map(|(_, constant)| constant.value);
        let constants =
            constants.filter(|value| value.is_some() && f.region_of(*value) == f.body());
        let all = f.args(f.body()).chain(results).chain(constants);
        let mut values: FxHashMap<String, ValueId> = FxHashMap::default();
        for value in all.filter(|value| f.value(*value).name.is_some()) {
            values.entry(describe(f, value)).or_insert(value);
        }
        let mut outputs = FxHashMap::default();
        for (value, name, _) in function_results(f).into_iter().flatten() {
            if !name.is_empty() && !values.contains_key(&name) {
                values.insert(name.clone(), value);
                outputs.entry(value).or_insert(name);
            }
        }
        Names {
            module,
            f,
            values,
            outputs,
        }
    }

    fn text(&self, value: ValueId) -> String {
        match self.outputs.get(&value) {
            Some(name) if self.f.value(value).name.is_none() => name.clone(),
            _ => describe(self.f, value),
        }
    }

    /// Finds the values of these names, without duplicates.
    fn find_all(&self, names: &[String]) -> Result<Vec<ValueId>, PassError> {
        let mut values = Vec::new();
        for name in names {
            let Some(&value) = self.values.get(name) else {
                return Err(self.unknown(name));
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Ok(values)
    }

    fn unknown(&self, name: &str) -> PassError {
        if let Some(region) = self.elsewhere(name) {
            let error = usage(format!("value `{name}` is in {region}"));
            return error.help("use values of the main graph outside of regions");
        }
        let help = suggest::help(name, self.values.keys().map(String::as_str));
        let default = || "run `passdock convert MODEL -` to list all values".to_owned();
        let error = usage(format!("the main graph has no value `{name}`"));
        error.help(help.unwrap_or_else(default))
    }

    /// Describes the region or the function that contains a value of this name.
    fn elsewhere(&self, name: &str) -> Option<String> {
        self.module.functions().find_map(|f| {
            let symbol = f.symbols().find(name)?;
            let value = (0..f.value_ids() as u32).map(ValueId).find(|&value| {
                f.live_value(value)
                    .is_ok_and(|record| record.name == symbol && record.flags & Value::SCRATCH == 0)
            })?;
            if f.name() != self.f.name() {
                return Some(format!("function `@{}`", f.text(f.name())));
            }
            let region = f.live_region(f.region_of(value)).ok()?;
            let kind = f.text(f.op(region.parent.option()?).name);
            Some(match region.name.option() {
                Some(name) => format!("region `{}` of `{kind}`", f.text(name)),
                None => format!("a region of `{kind}`"),
            })
        })
    }
}

fn usage(message: impl Into<String>) -> PassError {
    PassError::new(ErrorKind::Usage, message)
}
