//! The comparison: whether results are the same, as far as computing with rounded numbers allows.

use std::fmt;

use super::elements::{self, Overrides};
use super::ort::{ModelOutput, OutputValue, Tensor};

/// The comparison of a module's results with another's.
pub(super) enum Compared {
    /// The results are the same.
    Same {
        /// The largest error, as a part of what is allowed.
        worst: f64,
    },
    /// The results differ.
    Different(Box<Difference>),
    /// There is no telling, and why.
    NotChecked(String),
}

impl Compared {
    /// Compares the outputs of all samples.
    pub(super) fn new(
        before: &[Vec<ModelOutput>],
        after: &[Vec<ModelOutput>],
        overrides: Overrides,
    ) -> Compared {
        let mut worst: f64 = 0.0;
        for (sample, (before, after)) in before.iter().zip(after).enumerate() {
            let names = |outputs: &[ModelOutput]| {
                let names: Vec<&str> = outputs.iter().map(|output| &*output.name).collect();
                names.join(", ")
            };
            let (old, new) = (names(before), names(after));
            if old != new {
                return Compared::NotChecked(format!(
                    "the model's outputs were {old} and are {new} now"
                ));
            }
            match outputs(before, after, sample, overrides) {
                Ok(error) => worst = worst.max(error),
                Err(difference) => return Compared::Different(difference),
            }
        }
        let opaque = |output: &ModelOutput| match output.value {
            OutputValue::Opaque(kind) if kind != "nothing" => Some(format!(
                "the output `{}` is {kind}, which can't be compared",
                output.name
            )),
            _ => None,
        };
        match after.iter().flatten().find_map(opaque) {
            Some(reason) => Compared::NotChecked(reason),
            None => Compared::Same { worst },
        }
    }

    /// A module that ran before and fails now.
    pub(super) fn failing(error: String) -> Compared {
        Compared::Different(Box::new(Difference {
            output: String::new(),
            sample: 0,
            what: Differing::Fails(error),
        }))
    }

    /// The largest error over what is allowed; `None` if it can't be told.
    pub(super) fn error(&self) -> Option<f64> {
        match self {
            Compared::Same { worst } => Some(*worst),
            Compared::Different(difference) => Some(difference.ratio()),
            Compared::NotChecked(_) => None,
        }
    }
}

/// The first difference of two results.
pub(super) struct Difference {
    /// The output, and where in it if it is a sequence or a map.
    output: String,
    /// The number of the sample that showed it, from 0.
    sample: usize,
    /// The kind of difference.
    what: Differing,
}

/// The kind of a difference in an output.
pub(super) enum Differing {
    /// Element type, shape or length, as IR text spells them.
    Type {
        /// Before the pass.
        before: String,
        /// After it.
        after: String,
    },
    /// Elements.
    Element {
        /// The index of the one that differs most.
        index: Vec<u64>,
        /// The element before the pass.
        before: String,
        /// The element after it.
        after: String,
        /// The distance of the two; not a number where only equality counts.
        error: f64,
        /// The distance that is allowed.
        allowed: f64,
        /// The number of elements that differ by more than is allowed.
        count: u64,
        /// The number of elements.
        of: u64,
    },
    /// ONNX Runtime runs the model before, and fails to run the one after.
    Fails(String),
}

impl Difference {
    /// The largest error over what is allowed; infinite where there is no such number.
    fn ratio(&self) -> f64 {
        match self.what {
            Differing::Element { error, allowed, .. } if error.is_finite() => error / allowed,
            _ => f64::INFINITY,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (output, sample) = (&self.output, self.sample);
        match &self.what {
            Differing::Type { before, after } => {
                write!(f, "output `{output}` was {before} and is {after} now")?;
            }
            Differing::Fails(error) => {
                return write!(f, "the model ran before, and fails now: {error}");
            }
            Differing::Element {
                index,
                before,
                after,
                error,
                allowed,
                count,
                of,
            } => {
                let index: Vec<String> = index.iter().map(u64::to_string).collect();
                let index = index.join(", ");
                write!(
                    f,
                    "output `{output}`[{index}] was {before} and is {after} now"
                )?;
                if error.is_finite() {
                    write!(f, ", {error:.3e} apart where {allowed:.3e} is allowed")?;
                }
                write!(f, "; {count} of {of} elements differ")?;
            }
        }
        write!(f, " (sample {sample})")
    }
}

/// Compares the outputs of one run with those of another; the largest error over what is allowed.
///
/// # Errors
/// The first output that differs.
fn outputs(
    before: &[ModelOutput],
    after: &[ModelOutput],
    sample: usize,
    overrides: Overrides,
) -> Result<f64, Box<Difference>> {
    let mut worst: f64 = 0.0;
    for (a, b) in before.iter().zip(after) {
        let differ = |place: &str, what| {
            let output = format!("{}{place}", a.name);
            Box::new(Difference {
                output,
                sample,
                what,
            })
        };
        let typed = |before: String, after: String| Differing::Type { before, after };
        let (OutputValue::Tensors(from), OutputValue::Tensors(to)) = (&a.value, &b.value) else {
            if a.value != b.value {
                return Err(differ("", typed(kind(&a.value), kind(&b.value))));
            }
            continue;
        };
        // A longer sequence has another last place.
        let places = |parts: &[(String, Tensor)]| parts.last().map(|(place, _)| place.clone());
        if from.len() != to.len() || places(from) != places(to) {
            return Err(differ("", typed(kind(&a.value), kind(&b.value))));
        }
        for ((place, a), (_, b)) in from.iter().zip(to) {
            if (a.dtype, &a.shape) != (b.dtype, &b.shape) {
                return Err(differ(place, typed(a.ty(), b.ty())));
            }
            worst =
                worst.max(elements::compare(a, b, overrides).map_err(|what| differ(place, what))?);
        }
    }
    Ok(worst)
}

fn kind(value: &OutputValue) -> String {
    match value {
        OutputValue::Opaque(kind) => (*kind).to_owned(),
        OutputValue::Tensors(parts) => match &parts[..] {
            [(place, tensor)] if place.is_empty() => tensor.ty(),
            parts => format!("a sequence or map of {} tensors", parts.len()),
        },
    }
}

/// Whether every number of these outputs is NaN, so that comparing them says nothing.
pub(super) fn says_nothing(outputs: &[ModelOutput]) -> bool {
    let tensors = outputs.iter().flat_map(|output| match &output.value {
        OutputValue::Tensors(parts) => &parts[..],
        OutputValue::Opaque(_) => &[],
    });
    let mut tensors = tensors
        .map(|(_, tensor)| tensor)
        .filter(|tensor| !tensor.data.is_empty())
        .peekable();
    tensors.peek().is_some() && tensors.all(elements::is_all_nan)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use half::f16;
    use passdock_abi::DType;
    use passdock_ir::constant::string_data;

    use super::*;

    fn tensor(dtype: DType, shape: &[i64], data: impl Into<Vec<u8>>) -> Tensor {
        Tensor {
            dtype,
            shape: shape.to_vec(),
            data: data.into(),
        }
    }

    fn f32s(values: &[f32]) -> Tensor {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        tensor(DType::F32, &[values.len() as i64], bytes)
    }

    fn f16s(values: &[f32]) -> Tensor {
        let bytes = values.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes());
        tensor(
            DType::F16,
            &[values.len() as i64],
            bytes.collect::<Vec<u8>>(),
        )
    }

    #[track_caller]
    fn check(a: Tensor, b: Tensor, expected: Expect) {
        check_with(a, b, Overrides::default(), expected);
    }

    #[track_caller]
    fn check_with(a: Tensor, b: Tensor, overrides: Overrides, expected: Expect) {
        let output = |tensor| {
            let value = OutputValue::Tensors(vec![(String::new(), tensor)]);
            let name = "y".to_owned();
            [ModelOutput { name, value }]
        };
        let text = match outputs(&output(a), &output(b), 0, overrides) {
            Ok(worst) => format!("same, {worst:.3}"),
            Err(difference) => difference.to_string(),
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn floats_may_be_a_little_apart() {
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
                "output `y`[0] was 1 and is 1.0012 now, 1.200e-3 apart where 1.100e-3 is allowed; 1 of 2 elements differ (sample 0)"
            ],
        );
        check(
            f32s(&[0.0, 1.0]),
            f32s(&[1e-6, 1.0]),
            expect!["same, 0.100"],
        );
        // Where all is tiny, only the distance counts.
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
                "output `y`[0] was 1 and is 1.0400391 now, 4.004e-2 apart where 3.000e-2 is allowed; 1 of 2 elements differ (sample 0)"
            ],
        );
    }

    #[test]
    fn floats_are_as_near_as_what_they_are_computed_in() {
        let computed_in = |dtype| Overrides {
            computed_in: Some(dtype),
            ..Overrides::default()
        };
        let (a, b) = (f32s(&[1.0, 2.0]), f32s(&[1.02, 2.0]));
        check_with(
            a.clone(),
            b.clone(),
            computed_in(DType::F16),
            expect!["same, 0.667"],
        );
        check_with(
            a.clone(),
            b.clone(),
            computed_in(DType::BF16),
            expect!["same, 0.333"],
        );
        check_with(
            a,
            b,
            computed_in(DType::F64),
            expect![
                "output `y`[0] was 1 and is 1.02 now, 2.000e-2 apart where 1.200e-4 is allowed; 1 of 2 elements differ (sample 0)"
            ],
        );
    }

    #[test]
    fn what_is_no_number_has_to_stay_so() {
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
            expect!["output `y`[1] was 2 and is NaN now; 1 of 2 elements differ (sample 0)"],
        );
        check(
            f32s(&[inf]),
            f32s(&[-inf]),
            expect!["output `y`[0] was inf and is -inf now; 1 of 1 elements differ (sample 0)"],
        );
        // Beside an infinity not everything is allowed.
        check(
            f32s(&[inf, 1.0]),
            f32s(&[inf, 2.0]),
            expect![
                "output `y`[1] was 1 and is 2 now, 1.000e0 apart where 1.100e-4 is allowed; 1 of 2 elements differ (sample 0)"
            ],
        );
    }

    #[test]
    fn integers_bools_and_strings_are_equal_or_not() {
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
            expect!["output `y`[1, 0] was 3 and is -3 now; 2 of 4 elements differ (sample 0)"],
        );
        let bools = |values: [u8; 2]| tensor(DType::BOOL, &[2], values);
        check(
            bools([0, 1]),
            bools([0, 0]),
            expect!["output `y`[1] was true and is false now; 1 of 2 elements differ (sample 0)"],
        );
        // What is behind the last element isn't an element.
        let i4s = |values: [u8; 2]| tensor(DType::I4, &[3], values);
        check(
            i4s([0x21, 0x03]),
            i4s([0x21, 0xf3]),
            expect![["same, 0.000"]],
        );
        check(
            i4s([0x21, 0x03]),
            i4s([0x21, 0x0d]),
            expect!["output `y`[2] was 3 and is -3 now; 1 of 3 elements differ (sample 0)"],
        );
        let strings = |values: [&str; 2]| tensor(DType::STRING, &[2], string_data(&values));
        check(
            strings(["a", "b"]),
            strings(["a", "c"]),
            expect![[r#"output `y`[1] was "b" and is "c" now; 1 of 2 elements differ (sample 0)"#]],
        );
    }

    #[test]
    fn types_and_shapes_are_equal() {
        check(
            f32s(&[1.0]),
            f32s(&[1.0, 1.0]),
            expect!["output `y` was f32[1] and is f32[2] now (sample 0)"],
        );
        check(
            f32s(&[1.0]),
            f16s(&[1.0]),
            expect!["output `y` was f32[1] and is f16[1] now (sample 0)"],
        );
    }

    #[test]
    fn only_nan_says_nothing() {
        let output = |tensor| ModelOutput {
            name: "y".to_owned(),
            value: OutputValue::Tensors(vec![(String::new(), tensor)]),
        };
        assert!(says_nothing(&[output(f32s(&[f32::NAN, f32::NAN]))]));
        assert!(!says_nothing(&[output(f32s(&[f32::NAN, 0.0]))]));
        assert!(!says_nothing(&[
            output(f32s(&[f32::NAN])),
            output(tensor(DType::BOOL, &[1], [1]))
        ]));
        assert!(!says_nothing(&[output(f32s(&[]))]));
    }
}
