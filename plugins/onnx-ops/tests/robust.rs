//! For any call, an evaluation returns results of the right size or an error, and never
//! panics. The calls are random, and the same in each run.

use std::borrow::Cow;

use passdock_plugin_api::DType;
use passdock_plugins_onnx_ops::eval::{Call, EvalAttr, Tensor};
use passdock_plugins_onnx_ops::evaluate;
use passdock_plugins_onnx_ops::ops;

/// A small random generator (xorshift) for choosing cases.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len())]
    }

    /// Returns a mostly small, sometimes extreme number.
    fn int(&mut self) -> i64 {
        let small = self.roll(7) as i64 - 3;
        self.pick(&[small, small, small, i64::MIN, i64::MAX, 1 << 31, 1 << 62])
    }

    fn float(&mut self) -> f32 {
        self.pick(&[
            0.0,
            -0.0,
            1.0,
            -2.5,
            1e30,
            f32::NAN,
            f32::INFINITY,
            f32::MIN,
        ])
    }

    fn shape(&mut self) -> Vec<usize> {
        (0..self.roll(4))
            .map(|_| self.pick(&[0, 1, 1, 2, 3]))
            .collect()
    }

    fn tensor(&mut self) -> Tensor<'static> {
        let shape = self.shape();
        let count = shape.iter().product();
        let elements = || 0..count;
        match self.pick(&[1, 1, 2, 2, 2, 2, 3, 4, 5]) {
            1 => {
                let values: Vec<f32> = elements().map(|_| self.float()).collect();
                Tensor::from_vec(DType::F32, shape, values)
            }
            2 => {
                let values: Vec<i64> = elements().map(|_| self.int()).collect();
                Tensor::from_vec(DType::I64, shape, values)
            }
            3 => {
                let values: Vec<bool> = elements().map(|_| self.roll(2) == 1).collect();
                Tensor::from_vec(DType::BOOL, shape, values)
            }
            4 => {
                let texts: Vec<&[u8]> = elements()
                    .map(|_| self.pick(&[&b"1"[..], b"", b"x", b"\xff"]))
                    .collect();
                Tensor::from_strings(shape, texts.into_iter())
            }
            _ => {
                let dtype = self.pick(DType::ALL);
                let dtype = if dtype == DType::STRING {
                    DType::U8
                } else {
                    dtype
                };
                let bytes = dtype.byte_len(count as u64).unwrap_or(0) as usize;
                let values: Vec<u8> = (0..bytes).map(|_| self.roll(256) as u8).collect();
                Tensor::from_vec(dtype, shape, values)
            }
        }
    }

    fn attr(&mut self) -> EvalAttr<'static> {
        let ints = |dice: &mut Dice| (0..dice.roll(4)).map(|_| dice.int()).collect();
        match self.roll(6) {
            0 | 1 => EvalAttr::Int(self.int()),
            2 => EvalAttr::Float(self.float()),
            3 => EvalAttr::String(self.pick(&[
                &b"add"[..],
                b"LEFT",
                b"edge",
                b"reflect",
                b"wrap",
                b"?",
            ])),
            4 => EvalAttr::Ints(Cow::Owned(ints(self))),
            _ => EvalAttr::Tensor(self.tensor()),
        }
    }
}

#[test]
fn random_calls_do_not_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut results = 0;
    for operator in ops::all().filter(|operator| operator.evaluate.is_some()) {
        for _ in 0..400 {
            let (fewest, most) = operator.operands;
            let count = fewest as usize + dice.roll((most.min(fewest + 3) - fewest) as usize + 1);
            let mut inputs: Vec<Option<Tensor>> = Vec::new();
            for _ in 0..count {
                // Most operators need operands of one type.
                let again = inputs
                    .first()
                    .and_then(Option::as_ref)
                    .filter(|_| dice.roll(2) == 0);
                inputs.push(match again {
                    Some(first) => {
                        Tensor::from_bytes(first.dtype(), first.shape().to_vec(), first.bytes())
                            .ok()
                            .map(|same| copy(&same))
                    }
                    None => (dice.roll(10) > 0).then(|| dice.tensor()),
                });
            }
            let mut attrs = Vec::new();
            for name in operator.attrs.into_iter().flatten().map(|attr| attr.name) {
                if dice.roll(2) == 0 {
                    attrs.push((name, dice.attr()));
                }
            }
            let call = Call {
                name: operator.name,
                version: dice.pick(&[7, 9, 11, 13, 17, 18, 23, 28]),
                inputs: &inputs,
                attrs: &attrs,
                attr_defs: &[],
                outputs: 1 + dice.roll(2),
                max_bytes: 1 << 16,
            };
            for result in evaluate(&call).unwrap_or_default() {
                results += 1;
                let shape = result.shape().to_vec();
                Tensor::from_bytes(result.dtype(), shape, result.bytes())
                    .unwrap_or_else(|error| panic!("{}: {error}", operator.name));
            }
        }
    }
    assert!(
        results > 1000,
        "only {results} results: the calls are too wild to say anything"
    );
}

/// Images and lists of integers get further in convolutions, pools, Resize and Einsum.
#[test]
fn random_window_ops_do_not_panic() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let names = [
        "Conv",
        "MaxPool",
        "AveragePool",
        "LpPool",
        "GlobalMaxPool",
        "Einsum",
        "Resize",
        "HannWindow",
    ];
    let mut results = 0;
    for _ in 0..40_000 {
        let name = format!("onnx.{}", dice.pick(&names));
        let image = |dice: &mut Dice| -> Tensor<'static> {
            let shape: Vec<usize> = (0..1 + dice.roll(4))
                .map(|_| dice.pick(&[1, 1, 2, 3, 0]))
                .collect();
            let count = shape.iter().product();
            // Without elements, the other dims may have any size.
            let huge = |&dim: &usize| if count == 0 && dim > 1 { 1 << 20 } else { dim };
            let shape = shape.iter().map(huge).collect();
            Tensor::from_vec(DType::F32, shape, vec![dice.float(); count])
        };
        let mut inputs = vec![Some(image(&mut dice)), Some(image(&mut dice))];
        if name == "onnx.Resize" {
            let rank = inputs[0].as_ref().map_or(0, Tensor::rank);
            let sizes: Vec<i64> = (0..rank)
                .map(|_| {
                    let wild = wild(&mut dice);
                    dice.pick(&[1, 2, 5, wild])
                })
                .collect();
            inputs[1] = Some(image(&mut dice));
            inputs.extend([None, Some(Tensor::from_vec(DType::I64, vec![rank], sizes))]);
        }
        if name == "onnx.HannWindow" {
            let size = dice.int();
            inputs = vec![Some(Tensor::from_vec(DType::I64, vec![], vec![size]))];
        }
        if name.contains("Pool") {
            inputs.truncate(1);
        }
        let mut attrs = Vec::new();
        for list in ["kernel_shape", "strides", "dilations", "pads", "axes"] {
            if dice.roll(3) == 0 {
                let count = dice.roll(5);
                let ints: Vec<i64> = (0..count)
                    .map(|_| {
                        let wild = wild(&mut dice);
                        dice.pick(&[1, 1, 1, 1, 2, 0, wild])
                    })
                    .collect();
                attrs.push((list, EvalAttr::Ints(Cow::Owned(ints))));
            }
        }
        let words = [
            (
                "auto_pad",
                &[&b"SAME_UPPER"[..], b"VALID", b"SAME_LOWER"][..],
            ),
            ("mode", &[b"linear", b"cubic"]),
            (
                "coordinate_transformation_mode",
                &[b"tf_crop_and_resize", b"align_corners"],
            ),
            ("keep_aspect_ratio_policy", &[b"not_larger", b"not_smaller"]),
            (
                "equation",
                &[
                    b"ab,ab",
                    b"...a,...a->...",
                    b"i,j->ij",
                    b"......,a",
                    b"\xff,a->",
                    b"aa,b",
                ],
            ),
        ];
        for (word, choices) in words {
            if dice.roll(3) == 0 {
                attrs.push((word, EvalAttr::String(dice.pick(choices))));
            }
        }
        for flag in [
            "ceil_mode",
            "count_include_pad",
            "antialias",
            "exclude_outside",
            "group",
            "p",
        ] {
            if dice.roll(4) == 0 {
                attrs.push((flag, EvalAttr::Int(dice.int())));
            }
        }
        let version = dice.pick(&[10, 12, 17, 19, 28]);
        let row = ops::find(&name, version);
        attrs.retain(|(name, _)| row.is_some_and(|row| row.attr(name).is_some()));
        let call = Call {
            name: &name,
            version,
            inputs: &inputs,
            attrs: &attrs,
            attr_defs: &[],
            outputs: 1,
            max_bytes: 1 << 16,
        };
        results += evaluate(&call).unwrap_or_default().len();
    }
    assert!(results > 2000, "only {results} results");
}

/// Returns a size that makes sums and products overflow.
fn wild(dice: &mut Dice) -> i64 {
    dice.pick(&[3, 1 << 20, 1 << 40, i64::MAX, -1, i64::MIN])
}

/// Returns an owned copy of a tensor.
fn copy(tensor: &Tensor) -> Tensor<'static> {
    match tensor.dtype() {
        DType::STRING => {
            let strings = tensor.strings().expect("it has strings");
            Tensor::from_strings(tensor.shape().to_vec(), strings.into_iter())
        }
        dtype => Tensor::from_vec(dtype, tensor.shape().to_vec(), tensor.bytes().to_vec()),
    }
}
