//! Float types that passes introduced, whose rounding determines the tolerance.

use passdock_abi::{DType, ValueId};
use passdock_ir::Module;

/// Returns the coarsest float type below `f32` that occurs in the module after, but not in the one before.
pub(super) fn introduced_dtype(before: &Module, after: &Module) -> Option<DType> {
    let mut types = [DType::BF16, DType::F16].into_iter();
    types.find(|&dtype| has(after, dtype) && !has(before, dtype))
}

/// Whether a result of an op, or a constant, has an element type.
fn has(module: &Module, dtype: DType) -> bool {
    module.functions().any(|f| {
        let is_of = |value: ValueId| {
            let ty = (value.is_some()).then(|| f.value(value).ty);
            ty.is_some_and(|ty| ty.is_some() && f.ty(ty).dtype == dtype)
        };
        let mut results = f.live_ops().flat_map(|(op, _)| f.results(op));
        let mut constants = f.live_constants().map(|(_, constant)| constant.value);
        results.any(is_of) || constants.any(is_of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast_to(dtype: &str, other: &str) -> Module {
        let text = format!(
            "module {{ fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {{
               %w = const {other}[] 1.0
               %0 = onnx.Cast(%x) : {dtype}[2]
               %y = onnx.Cast(%0) : f32[2]
               return %y
             }} }}"
        );
        passdock_ir::text::parse(&text).unwrap()
    }

    #[test]
    fn coarsest_new_compute_dtype_is_found() {
        let plain = cast_to("f32", "f32");
        let new_dtype =
            |before: &Module, after: &Module| introduced_dtype(before, after).and_then(DType::name);
        assert_eq!(new_dtype(&plain, &cast_to("f16", "f32")), Some("f16"));
        assert_eq!(new_dtype(&plain, &cast_to("f32", "f16")), Some("f16"));
        assert_eq!(new_dtype(&plain, &cast_to("bf16", "f16")), Some("bf16"));
        assert_eq!(
            new_dtype(&cast_to("f16", "f32"), &cast_to("bf16", "f16")),
            Some("bf16")
        );
        // The model before already computed in this type, or the new one isn't smaller.
        assert_eq!(
            new_dtype(&cast_to("f32", "f16"), &cast_to("f16", "f32")),
            None
        );
        assert_eq!(new_dtype(&plain, &cast_to("f64", "f32")), None);
        assert_eq!(new_dtype(&cast_to("f16", "f32"), &plain), None);
    }
}
