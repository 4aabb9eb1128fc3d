//! Whatever an op is given, an evaluation answers results of the right size or a reason: it never
//! panics. The calls are random, and the same in each run.

use std::borrow::Cow;

use passdock_plugin_api::DType;
use passdock_plugins_onnx_ops::eval::{Attr, Call, Tensor};
use passdock_plugins_onnx_ops::evaluate;
use passdock_plugins_onnx_ops::ops;

/// A small generator (xorshift): enough for choosing cases.
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

    /// Mostly small, sometimes as extreme as it gets.
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

    fn attr(&mut self) -> Attr<'static> {
        let ints = |dice: &mut Dice| (0..dice.roll(4)).map(|_| dice.int()).collect();
        match self.roll(6) {
            0 | 1 => Attr::Int(self.int()),
            2 => Attr::Float(self.float()),
            3 => {
                Attr::String(self.pick(&[&b"add"[..], b"LEFT", b"edge", b"reflect", b"wrap", b"?"]))
            }
            4 => Attr::Ints(Cow::Owned(ints(self))),
            _ => Attr::Tensor(self.tensor()),
        }
    }
}

#[test]
fn random_calls_are_answered() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut answered = 0;
    for operator in ops::all().filter(|operator| operator.evaluate.is_some()) {
        for _ in 0..400 {
            let (fewest, most) = operator.operands;
            let count = fewest as usize + dice.roll((most.min(fewest + 3) - fewest) as usize + 1);
            let mut inputs: Vec<Option<Tensor>> = Vec::new();
            for _ in 0..count {
                // Operands of one type are what most operators take.
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
                answered += 1;
                let shape = result.shape().to_vec();
                Tensor::from_bytes(result.dtype(), shape, result.bytes())
                    .unwrap_or_else(|error| panic!("{}: {error}", operator.name));
            }
        }
    }
    assert!(
        answered > 1000,
        "only {answered} results: the calls are too wild to say anything"
    );
}

/// The same tensor by itself.
fn copy(tensor: &Tensor) -> Tensor<'static> {
    match tensor.dtype() {
        DType::STRING => {
            let strings = tensor.strings().expect("it has strings");
            Tensor::from_strings(tensor.shape().to_vec(), strings.into_iter())
        }
        dtype => Tensor::from_vec(dtype, tensor.shape().to_vec(), tensor.bytes().to_vec()),
    }
}
