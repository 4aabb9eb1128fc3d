//! The comparison of two models' outputs, run by run and element by element.

use serde::Serialize;

use super::ort::{ModelOutput, OutputValue, Tensor};
use super::tolerance::{self, ElementDifference, Overrides, Peak};
use crate::elements::Element;

/// The comparison of an output, over all runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OutputComparison {
    /// The output's name; for a tensor of a sequence or map, followed by its path.
    pub name: String,
    /// Whether the output is the same in all runs.
    pub same: bool,
    /// The number of compared elements; a complex element counts as two.
    pub elements: u64,
    /// The number of elements beyond the tolerance.
    pub mismatched: u64,
    /// The largest distance relative to the tolerance; `null` in JSON if it isn't finite.
    pub tolerance_ratio: f64,
    /// The largest absolute distance; `None` if all elements are equal, or aren't numbers.
    pub max_abs: Option<ElementDifference>,
    /// The largest distance relative to the larger of the two elements.
    pub max_rel: Option<ElementDifference>,
    /// The element that exceeds the tolerance most.
    pub worst_mismatch: Option<ElementDifference>,
    /// The reason why elements weren't compared: different types, or an unsupported kind of output.
    pub reason: Option<String>,
}

impl OutputComparison {
    fn differ(&mut self, reason: String) {
        (self.same, self.tolerance_ratio) = (false, f64::INFINITY);
        self.reason.get_or_insert(reason);
    }

    fn add(&mut self, run: usize, before: &Tensor, after: &Tensor, overrides: Overrides) {
        if (before.dtype, &before.shape) != (after.dtype, &after.shape) {
            return self.differ(format!("changed from {} to {}", before.ty(), after.ty()));
        }
        let parts = tolerance::parts(before.dtype);
        let difference = |peak: Peak<'_>, value: f64| {
            let (at, x, y) = peak.pair?;
            Some(ElementDifference {
                value,
                run,
                index: tolerance::index(&before.shape, at / parts),
                before: x.text(before.dtype),
                after: y.text(before.dtype),
            })
        };
        let differences = tolerance::compare(before, after, overrides);
        self.elements += parts * Tensor::elements(&before.shape).unwrap_or(0);
        self.mismatched += differences.beyond;
        self.same &= differences.beyond == 0;
        let peak = differences.ratio;
        if differences.beyond > 0
            && (self.worst_mismatch.is_none() || peak.value > self.tolerance_ratio)
        {
            let distance = match peak.pair {
                Some((_, x @ Element::Float(_), y)) => x.distance(y),
                _ => f64::NAN,
            };
            self.worst_mismatch = difference(peak, distance);
        }
        self.tolerance_ratio = self.tolerance_ratio.max(peak.value);
        for (largest, peak) in [
            (&mut self.max_abs, differences.absolute),
            (&mut self.max_rel, differences.relative),
        ] {
            if peak.value > largest.as_ref().map_or(0.0, |largest| largest.value) {
                *largest = difference(peak, peak.value);
            }
        }
    }

    /// Describes the difference.
    fn message(&self) -> String {
        let name = &self.name;
        if let Some(reason) = &self.reason {
            return format!("output `{name}` {reason}");
        }
        let counted = format!("{} of {} elements differ", self.mismatched, self.elements);
        let Some(worst) = &self.worst_mismatch else {
            return format!("output `{name}`: {counted}");
        };
        let by = match worst.value.is_finite() {
            true => {
                let allowed = worst.value / self.tolerance_ratio;
                format!(" (difference {:.3e}, tolerance {allowed:.3e})", worst.value)
            }
            false => String::new(),
        };
        let (index, before, after) = (&worst.index, &worst.before, &worst.after);
        let largest = match &self.max_abs {
            Some(largest) if largest.value.is_finite() && largest.value > worst.value => {
                let (value, index) = (largest.value, &largest.index);
                format!("; largest difference {value:.3e} at {index:?}")
            }
            _ => String::new(),
        };
        format!("output `{name}`{index:?} changed from {before} to {after}{by}{largest}; {counted}")
    }
}

/// Returns the comparison of an output by name. Creates it on first use.
fn named(outputs: &mut Vec<OutputComparison>, name: String) -> &mut OutputComparison {
    let position = outputs.iter().position(|output| output.name == name);
    let at = position.unwrap_or_else(|| {
        outputs.push(OutputComparison {
            name,
            same: true,
            ..OutputComparison::default()
        });
        outputs.len() - 1
    });
    &mut outputs[at]
}

/// Compares the results of two models, run by run. Outputs that only one model has are skipped.
pub(super) fn compare_results(
    before: &[Vec<ModelOutput>],
    after: &[Vec<ModelOutput>],
    overrides: Overrides,
) -> Vec<OutputComparison> {
    let mut outputs: Vec<OutputComparison> = Vec::new();
    for (run, (before, after)) in before.iter().zip(after).enumerate() {
        for old in before {
            let Some(new) = after.iter().find(|new| new.name == old.name) else {
                continue;
            };
            let name = || old.name.clone();
            match (&old.value, &new.value) {
                (OutputValue::Tensors(from), OutputValue::Tensors(to)) => {
                    let positions = |parts: &[(String, Tensor)]| -> Vec<String> {
                        parts.iter().map(|part| part.0.clone()).collect()
                    };
                    if positions(from) != positions(to) {
                        let counts = format!("changed from {} tensors to {}", from.len(), to.len());
                        named(&mut outputs, name()).differ(counts);
                        continue;
                    }
                    for ((position, before), (_, after)) in from.iter().zip(to) {
                        named(&mut outputs, name() + position).add(run, before, after, overrides);
                    }
                }
                // An absent optional.
                (OutputValue::Opaque("absent"), OutputValue::Opaque("absent")) => {
                    named(&mut outputs, name());
                }
                (OutputValue::Opaque(kind), _) | (_, OutputValue::Opaque(kind)) => {
                    let reason =
                        format!("is {kind} in one of the models, which cannot be compared");
                    named(&mut outputs, name()).differ(reason);
                }
            }
        }
    }
    outputs
}

/// Describes the output with the largest difference; `None` if all are the same.
pub(super) fn worst(outputs: &[OutputComparison]) -> Option<String> {
    let differing = outputs.iter().filter(|output| !output.same);
    let worst = differing.max_by(|a, b| a.tolerance_ratio.total_cmp(&b.tolerance_ratio));
    worst.map(OutputComparison::message)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use passdock_abi::DType;
    use passdock_ir::constant::string_data;

    use super::*;

    fn tensor(dtype: DType, shape: &[i64], data: impl Into<Vec<u8>>) -> Tensor {
        let (shape, data) = (shape.to_vec(), data.into());
        Tensor { dtype, shape, data }
    }

    fn f32s(values: &[f32]) -> Tensor {
        let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        tensor(DType::F32, &[values.len() as i64], data)
    }

    fn f16s(values: &[f32]) -> Tensor {
        let half = |&x: &f32| half::f16::from_f32(x).to_le_bytes();
        let data: Vec<u8> = values.iter().flat_map(half).collect();
        tensor(DType::F16, &[values.len() as i64], data)
    }

    #[track_caller]
    fn check_with(before: Tensor, after: Tensor, overrides: Overrides, expected: Expect) {
        let output = |tensor| {
            let value = OutputValue::Tensors(vec![(String::new(), tensor)]);
            vec![vec![ModelOutput {
                name: "y".to_owned(),
                value,
            }]]
        };
        let outputs = compare_results(&output(before), &output(after), overrides);
        let same = || format!("same, {:.3}", outputs[0].tolerance_ratio);
        expected.assert_eq(&worst(&outputs).unwrap_or_else(same));
    }

    #[track_caller]
    fn check(before: Tensor, after: Tensor, expected: Expect) {
        check_with(before, after, Overrides::default(), expected);
    }

    #[test]
    fn floats_are_compared_with_tolerances() {
        // 1e-5 of 100 and 1e-4 of 1.
        check(
            f32s(&[1.0, 100.0]),
            f32s(&[1.0005, 100.0]),
            expect![["same, 0.455"]],
        );
        check(
            f32s(&[1.0, 100.0]),
            f32s(&[1.0012, 100.0]),
            expect![
                "output `y`[0] changed from 1 to 1.0012 (difference 1.200e-3, tolerance 1.100e-3); 1 of 2 elements \
                    differ"
            ],
        );
        check(
            f32s(&[0.0, 1.0]),
            f32s(&[1e-6, 1.0]),
            expect!["same, 0.100"],
        );
        // For tiny numbers, only the absolute tolerance matters.
        check(f32s(&[0.0]), f32s(&[1e-30]), expect!["same, 0.000"]);
        check(
            f16s(&[1.0, 2.0]),
            f16s(&[1.02, 2.0]),
            expect!["same, 0.651"],
        );
        check(
            f16s(&[1.0, 2.0]),
            f16s(&[1.04, 2.0]),
            expect![
                "output `y`[0] changed from 1 to 1.0400391 (difference 4.004e-2, tolerance 3.000e-2); 1 of 2 \
                    elements differ"
            ],
        );
    }

    #[test]
    fn tolerance_depends_on_the_compute_dtype() {
        let compute_dtype = |dtype| Overrides {
            compute_dtype: Some(dtype),
            ..Overrides::default()
        };
        let (a, b) = (f32s(&[1.0, 2.0]), f32s(&[1.02, 2.0]));
        check_with(
            a.clone(),
            b.clone(),
            compute_dtype(DType::F16),
            expect!["same, 0.667"],
        );
        check_with(
            a.clone(),
            b.clone(),
            compute_dtype(DType::BF16),
            expect!["same, 0.333"],
        );
        check_with(
            a,
            b,
            compute_dtype(DType::F64),
            expect![
                "output `y`[0] changed from 1 to 1.02 (difference 2.000e-2, tolerance 1.200e-4); 1 of 2 elements differ"
            ],
        );
    }

    #[test]
    fn nan_and_infinity_must_not_change() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        check(
            f32s(&[nan, inf, -inf]),
            f32s(&[-nan, inf, -inf]),
            expect![["same, 0.000"]],
        );
        check(
            f32s(&[0.0, 1.0]),
            f32s(&[-0.0, 1.0]),
            expect![["same, 0.000"]],
        );
        check(
            f32s(&[1.0, 2.0]),
            f32s(&[1.0, nan]),
            expect!["output `y`[1] changed from 2 to NaN; 1 of 2 elements differ"],
        );
        check(
            f32s(&[inf]),
            f32s(&[-inf]),
            expect!["output `y`[0] changed from inf to -inf; 1 of 1 elements differ"],
        );
        // An infinite element doesn't make the tolerance of the others infinite.
        check(
            f32s(&[inf, 1.0]),
            f32s(&[inf, 2.0]),
            expect![
                "output `y`[1] changed from 1 to 2 (difference 1.000e0, tolerance 1.100e-4); 1 of 2 elements differ"
            ],
        );
    }

    #[test]
    fn integers_bools_and_strings_are_compared_exactly() {
        let i64s = |values: [i64; 4]| {
            let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            tensor(DType::I64, &[2, 2], bytes)
        };
        check(
            i64s([1, 2, 3, 4]),
            i64s([1, 2, 3, 4]),
            expect![["same, 0.000"]],
        );
        check(
            i64s([1, 2, 3, 4]),
            i64s([1, 2, -3, 5]),
            expect!["output `y`[1, 0] changed from 3 to -3; 2 of 4 elements differ"],
        );
        let bools = |values: [u8; 2]| tensor(DType::BOOL, &[2], values);
        check(
            bools([0, 1]),
            bools([0, 0]),
            expect!["output `y`[1] changed from true to false; 1 of 2 elements differ"],
        );
        // Bits after the last element are ignored.
        let i4s = |values: [u8; 2]| tensor(DType::I4, &[3], values);
        check(
            i4s([0x21, 0x03]),
            i4s([0x21, 0xf3]),
            expect![["same, 0.000"]],
        );
        check(
            i4s([0x21, 0x03]),
            i4s([0x21, 0x0d]),
            expect!["output `y`[2] changed from 3 to -3; 1 of 3 elements differ"],
        );
        let strings = |values: [&str; 2]| tensor(DType::STRING, &[2], string_data(&values));
        check(
            strings(["a", "b"]),
            strings(["a", "c"]),
            expect![[r#"output `y`[1] changed from "b" to "c"; 1 of 2 elements differ"#]],
        );
    }

    #[test]
    fn types_and_shapes_must_match() {
        check(
            f32s(&[1.0]),
            f32s(&[1.0, 1.0]),
            expect!["output `y` changed from f32[1] to f32[2]"],
        );
        check(
            f32s(&[1.0]),
            f16s(&[1.0]),
            expect!["output `y` changed from f32[1] to f16[1]"],
        );
    }
}
