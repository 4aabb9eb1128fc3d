//! `relax.transform.BindParams`: binds parameters to constants.
//!
//! ```ir
//! fn @main(%x: f32[n], %scale: f32[]) -> (%y: f32[n]) opset("" = 17) {
//!   %0 = onnx.Mul(%x, %scale) : f32[n]
//!   return %0
//! }
//! → { scale = 0.5 }
//! fn @main(%x: f32[n]) -> (%y: f32[n]) opset("" = 17) {
//!   %scale = const f32[] 0.5
//!   %0 = onnx.Mul(%x, %scale) : f32[n]
//!   return %0
//! }
//! ```
//!
//! Parameters of entry functions (functions without callers in the module) are bound by name. With `defaults = true`,
//! parameters with a default are replaced by their default; these include ONNX's initializers that are also inputs. A
//! value must match the parameter's type. Integers, bools and strings must be exact; floats are rounded to nearest.
//! `"scale.npy"` is the tensor in that file, in the format of `numpy.save`, with exactly the parameter's element type.
//! Relative paths are resolved against the host's working directory. The value's sizes replace the parameter's dim
//! symbols in the whole function.
//!
//! Unknown parameter names and values of the wrong shape are errors.
//!
//! The pass doesn't fold expressions that become constant; run FoldConstant for that. Functions that skip optimization
//! are bound as well, because binding isn't an optimization: it applies a fact that the user states about the model.
//!
//! Source: TVM `src/relax/transform/bind_params.cc`.

use std::collections::{BTreeMap, HashMap, HashSet};

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::bind_symbolic_vars::bind;
use crate::shared::call_graph::{entries, unknown};
use crate::shared::literal::{Literal, from_file, literal};
use crate::shared::read::add_tensor;

options! {
    /// Options of BindParams.
    pub struct BindParams {
        /// Whether parameters with a default are replaced by their default.
        defaults: bool = false,
        /// Values of parameters, by parameter name.
        #[rest]
        params: Table<OptionValue> = [],
    }
}

pub(crate) fn bind_params(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<BindParams>()?;
    let entries = entries(m)?;
    let mut known: Vec<String> = Vec::new();
    for &entry in &entries {
        let f = m.snapshot(entry)?;
        let params = f.params().iter();
        known.extend(params.filter_map(|&param| f.value_name(param).map(str::to_owned)));
    }
    let names: HashSet<&str> = known.iter().map(String::as_str).collect();
    let is_known = |name: &str| names.contains(name);
    if let Some((name, _)) = options.params.iter().find(|(name, _)| !is_known(name)) {
        return Err(unknown("parameter", name, &known));
    }
    let values: HashMap<&str, &OptionValue> = options.params.iter().collect();
    for entry in entries {
        let f = m.edit(entry)?;
        bind_params_of(f, cx, &values)?;
        if options.defaults {
            let params = f.params().iter().copied();
            let defaults = params.filter(|&param| f.default_of(param).is_some());
            let defaults: Vec<ValueId> = defaults.collect();
            f.freeze_args(&defaults)?;
        }
    }
    Ok(())
}

/// Replaces all bound parameters of a function with constants. All sizes are bound in one step, because each binding of
/// sizes infers all types again.
fn bind_params_of(
    f: &mut Function,
    cx: &PassContext,
    values: &HashMap<&str, &OptionValue>,
) -> PassResult {
    let mut bound: Vec<(ValueId, &OptionValue, DType, Literal)> = Vec::new();
    let mut sizes = BTreeMap::new();
    for &param in f.params() {
        let name = f.value_name(param).unwrap_or_default();
        if let Some(&value) = values.get(name) {
            let (dtype, literal) = literal_for(f, param, value)?;
            let dims = f.dims(param).into_iter().flatten();
            for (dim, &size) in dims.zip(&literal.shape) {
                if dim.kind == DimKind::SYMBOL {
                    sizes.entry(SymbolId(dim.value as u32)).or_insert(size);
                }
            }
            bound.push((param, value, dtype, literal));
        }
    }
    bind(f, cx, sizes.into_iter().collect())?;
    let mut names = Vec::new();
    for (param, value, dtype, literal) in &bound {
        check_shape(f, *param, value, &literal.shape)?;
        let constant = add_tensor(f, *dtype, &literal.shape, &literal.bytes)?;
        f.replace_uses(*param, constant)?;
        let name = f.value_name(*param).unwrap_or_default();
        names.push((constant, name.to_owned()));
    }
    let params: Vec<ValueId> = bound.iter().map(|(param, ..)| *param).collect();
    f.remove_args(&params)?;
    for (constant, name) in names {
        // Set after the parameters are removed: two values can't have the same name.
        f.set_value_name(constant, &name)?;
    }
    Ok(())
}

/// Converts an option value to a tensor of a parameter's type.
fn literal_for(
    f: &Function,
    param: ValueId,
    value: &OptionValue,
) -> Result<(DType, Literal), PassError> {
    let ty = f.type_of(param);
    let Some(dtype) = ty.dtype().filter(|_| ty.is_tensor()) else {
        let why = "only tensors with a known element type can be bound".to_owned();
        return Err(mismatch(f, param, value, why));
    };
    let read = match value {
        // A string is only valid for string parameters; for others it is a path.
        OptionValue::String(path) if dtype != DType::STRING => from_file(path, dtype),
        value => literal(value, dtype),
    };
    let literal = read.map_err(|why| mismatch(f, param, value, why))?;
    check_shape(f, param, value, &literal.shape)?;
    Ok((dtype, literal))
}

/// Rejects a shape that contradicts the known sizes of a parameter.
fn check_shape(f: &Function, param: ValueId, value: &OptionValue, shape: &[i64]) -> PassResult {
    let Some(mut dims) = f.dims(param) else {
        return Ok(());
    };
    let fits = |(dim, &size): (Dim, &i64)| dim.as_const().is_none_or(|known| known == size);
    if dims.len() != shape.len() || !dims.by_ref().zip(shape).all(fits) {
        let why = format!("the value has shape {shape:?}");
        return Err(mismatch(f, param, value, why));
    }
    Ok(())
}

fn mismatch(f: &Function, param: ValueId, value: &OptionValue, why: String) -> PassError {
    let (name, ty) = (f.value_name(param).unwrap_or_default(), f.type_of(param));
    let message = format!("cannot bind parameter `{name}` of type {ty} to {value}: {why}");
    PassError::config(message).within(f)
}
