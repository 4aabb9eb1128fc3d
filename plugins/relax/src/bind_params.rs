//! `relax.transform.BindParams`: makes constants of parameters.
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
//! Parameters are bound by name, in the functions that nobody calls. With `defaults = true` those that
//! have a default (ONNX's initializers that are inputs, too) become what they default to. A value
//! has to be one of the parameter's type: integers, bools and strings exactly, numbers with a point
//! rounded to the nearest. `"scale.npy"` is the tensor in that file, as `numpy.save` writes it, of just the
//! parameter's element type; a relative path begins where the host runs. The value's sizes become those of
//! the parameter's dim symbols, everywhere.
//! A name that no parameter has, and a value of another shape, are errors.
//!
//! It does not fold what is constant now: that is FoldConstant's. Functions that skip optimization are
//! bound, too: this is no optimization, but what the model's user said that it is.
//!
//! Source: TVM `src/relax/transform/bind_params.cc`.

use passdock_plugin_api::DimKind;
use passdock_plugin_api::prelude::*;

use crate::bind_symbolic_vars::bind;
use crate::entries;
use crate::literal::{Literal, from_file, literal};

options! {
    /// Which parameters become constants.
    pub struct BindParams {
        /// Whether parameters that have a default become what they default to.
        defaults: bool = false,
        /// A value for each parameter, by its name.
        #[rest]
        params: Table<OptionValue> = [],
    }
}

pub(crate) fn bind_params(m: &mut Module<'_>, cx: &PassContext) -> PassResult {
    let options = cx.options::<BindParams>()?;
    let entries = entries::entries(m)?;
    let mut known: Vec<String> = Vec::new();
    for &entry in &entries {
        let f = m.snapshot(entry)?;
        let params = f.params().iter();
        known.extend(params.filter_map(|&param| f.value_name(param).map(str::to_owned)));
    }
    let is_known = |name: &str| known.iter().any(|known| known == name);
    if let Some((name, _)) = options.params.iter().find(|(name, _)| !is_known(name)) {
        return Err(entries::unknown("parameter", name, &known));
    }
    for entry in entries {
        let mut f = m.edit(entry)?;
        for param in f.params().to_vec() {
            let value = f
                .value_name(param)
                .and_then(|name| options.params.get(name));
            match value {
                Some(value) => bind_param(&mut f, cx, param, value)?,
                None if options.defaults && f.default_of(param).is_some() => f.freeze_arg(param)?,
                None => {}
            }
        }
    }
    Ok(())
}

/// Puts a constant in the place of a parameter.
fn bind_param(
    f: &mut Function,
    cx: &PassContext,
    param: ValueId,
    value: &OptionValue,
) -> PassResult {
    let name = f.value_name(param).unwrap_or_default().to_owned();
    let ty = f.type_of(param);
    let wrong = |why: String| {
        let message = format!("The parameter `{name}` is {ty} and can't be {value}: {why}.");
        PassError::new(message).within(f)
    };
    if !ty.is_tensor() || ty.dtype() == DType::NONE {
        return Err(wrong(
            "only tensors of a known element type can be bound".to_owned(),
        ));
    }
    let dtype = ty.dtype();
    let read = match value {
        // A string is no value of any other type.
        OptionValue::String(path) if dtype != DType::STRING => from_file(path, dtype),
        value => literal(value, dtype),
    };
    let Literal { shape, bytes } = read.map_err(wrong)?;
    let mut sizes: Vec<(SymbolId, i64)> = Vec::new();
    if let Some(dims) = ty.dims() {
        let dims: Vec<Dim> = dims.collect();
        let other = || wrong(format!("its shape is {shape:?}"));
        if dims.len() != shape.len() {
            return Err(other());
        }
        for (dim, &size) in dims.iter().zip(&shape) {
            match dim.kind {
                DimKind::CONST if dim.value != size => return Err(other()),
                DimKind::SYMBOL => {
                    let symbol = SymbolId(dim.value as u32);
                    match sizes.iter().find(|(known, _)| *known == symbol) {
                        Some((_, known)) if *known != size => return Err(other()),
                        Some(_) => {}
                        None => sizes.push((symbol, size)),
                    }
                }
                _ => {}
            }
        }
    }
    bind(f, cx, sizes)?;
    let ty = f.add_type(&TypeSpec::shaped(dtype, &shape))?;
    let constant = f.add_constant(&ConstantSpec::new(ty, &bytes))?;
    f.replace_uses(param, constant)?;
    f.remove_arg(param)?;
    // Not before: two values can't have one name.
    f.set_value_name(constant, &name)?;
    Ok(())
}
