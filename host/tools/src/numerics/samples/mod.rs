//! Sample inputs: generated from a seed, by type and shape, or read from files (`files`).
//!
//! A symbol has the same size wherever it occurs, except in [`apart`]. For sizes that the options don't bind, and for
//! bounds of integers, a short list of guesses is tried until the model runs. For example, an index into a table of two
//! rows can't be 7.

mod files;

use std::collections::{BTreeMap, HashMap};

use fastrand::Rng;
use half::{bf16, f16};
use passdock_abi::DType;
use passdock_ir::constant::string_data;

use super::ort::{ModelPort, PortDim, Tensor, describe};
use crate::elements::is_integer;

pub(super) use files::read;

/// The inputs of one run: names and tensors.
pub(super) type Sample = Vec<(String, Tensor)>;

/// Returns the type of each input of a sample.
pub(super) fn types(sample: &Sample) -> BTreeMap<String, String> {
    let inputs = sample.iter();
    inputs
        .map(|(name, tensor)| (name.clone(), tensor.ty()))
        .collect()
}

/// Sizes to try: of an open first axis, and of any other axis.
const SIZES: [(i64, i64); 8] = [
    (2, 3),
    (2, 8),
    (1, 16),
    (3, 64),
    (1, 224),
    (1, 512),
    (2, 576),
    (1, 1024),
];
/// Upper bounds of integers to try: 8 for ids, then 2 for flags and small indices.
const BELOW: [i64; 2] = [8, 2];
/// The maximum number of elements of a generated input.
const MAX_ELEMENTS: u64 = 1 << 24;

/// A guess of the open sizes and of the bound of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guess {
    first: i64,
    other: i64,
    /// The exclusive upper bound of integers.
    pub(super) below: i64,
}

/// Returns all guesses, in the order in which they are tried.
pub(super) fn guesses() -> impl Iterator<Item = Guess> {
    let sizes = SIZES.into_iter();
    sizes.flat_map(|(first, other)| {
        BELOW.into_iter().map(move |below| Guess {
            first,
            other,
            below,
        })
    })
}

/// Returns the shapes of all inputs under a guess.
pub(super) fn shapes(
    inputs: &[ModelPort],
    dims: &BTreeMap<String, i64>,
    guess: Guess,
) -> Result<Vec<Vec<i64>>, String> {
    let size = |axis| if axis == 0 { guess.first } else { guess.other };
    let mut bound: HashMap<&str, i64> = HashMap::new();
    bound.extend(dims.iter().map(|(symbol, size)| (&**symbol, *size)));
    // Plain symbols first, so that `past + 1` is consistent with `past`.
    let types = inputs.iter().filter_map(|input| input.ty.as_ref().ok());
    for (axis, dim) in types.flat_map(|ty| ty.dims.iter().enumerate()) {
        if let PortDim::Symbol(symbol) = dim
            && is_name(symbol)
        {
            bound.entry(symbol).or_insert_with(|| size(axis));
        }
    }
    let shape = |input: &ModelPort| {
        let Ok(ty) = &input.ty else {
            return Ok(Vec::new());
        };
        let dims = ty.dims.iter().enumerate().map(|(axis, dim)| match dim {
            PortDim::Known(size) => *size,
            PortDim::Open => size(axis),
            PortDim::Symbol(symbol) => {
                let value = |name: &str| bound.get(name).copied().unwrap_or(guess.other);
                let bound = bound.get(&**symbol).copied();
                bound
                    .or_else(|| evaluate(symbol, value))
                    .unwrap_or_else(|| size(axis))
            }
        });
        let shape: Vec<i64> = dims.collect();
        match Tensor::elements(&shape) {
            Some(0..=MAX_ELEMENTS) => Ok(shape),
            _ => {
                let (name, ty) = (&input.name, describe(ty.dtype, shape.iter()));
                Err(format!("input `{name}` is too large to generate: {ty}"))
            }
        }
    };
    inputs.iter().map(shape).collect()
}

/// Returns shapes in which a symbol of several inputs has a different size in each, given shapes that the model
/// accepts. A runtime doesn't check that the sizes of a symbol are equal.
pub(super) fn apart(
    inputs: &[ModelPort],
    dims: &BTreeMap<String, i64>,
    shapes: &[Vec<i64>],
) -> Vec<(String, Vec<Vec<i64>>)> {
    // Operands that broadcast accept a 1 on either side; others may accept any size.
    type Sizes = fn(usize, i64) -> i64;
    const SIZES: [Sizes; 3] = [
        |at, size| if at == 0 { 1 } else { size.max(2) },
        |at, size| if at == 0 { size.max(2) } else { 1 },
        |at, size| size + at as i64,
    ];
    const MAX_NAMES: usize = 4;
    let has = |dim: &PortDim, symbol: &str| matches!(dim, PortDim::Symbol(name) if name == symbol);
    let dims_of = |input: &ModelPort| input.ty.clone().map_or(Vec::new(), |ty| ty.dims);
    let users = |symbol: &str| -> Vec<usize> {
        let uses = |at: &usize| dims_of(&inputs[*at]).iter().any(|dim| has(dim, symbol));
        (0..inputs.len()).filter(uses).collect()
    };
    let mut symbols = symbols(inputs);
    symbols.retain(|symbol| is_name(symbol) && !dims.contains_key(*symbol));
    symbols.retain(|symbol| users(symbol).len() > 1);
    let mut all = Vec::new();
    for symbol in symbols.into_iter().take(MAX_NAMES) {
        for sizes in SIZES {
            let mut shapes = shapes.to_vec();
            for (at, input) in users(symbol).into_iter().enumerate() {
                let own = dims_of(&inputs[input]).into_iter().zip(&mut shapes[input]);
                let own = own.filter(|(dim, _)| has(dim, symbol));
                own.for_each(|(_, size)| *size = sizes(at, *size));
            }
            all.push((symbol.to_owned(), shapes));
        }
    }
    all
}

fn is_name(symbol: &str) -> bool {
    !symbol.contains(['+', '-', '*', '(', ')', '/', ' '])
}

/// Evaluates an expression such as `a + b*2 - 1`; `None` if it can't be parsed.
fn evaluate(text: &str, value: impl Fn(&str) -> i64) -> Option<i64> {
    let atom = |text: &str| {
        let text = text.trim();
        let named = || (!text.is_empty() && is_name(text)).then(|| value(text));
        text.parse().ok().or_else(named)
    };
    let product = |text: &str| {
        let mut factors = text.split('*').map(atom);
        factors.try_fold(1_i64, |all, factor| all.checked_mul(factor?))
    };
    let mut sum = 0_i64;
    for positive in text.split('+') {
        let mut terms = positive.split('-').map(product);
        sum = sum.checked_add(terms.next()??)?;
        for term in terms {
            sum = sum.checked_sub(term?)?;
        }
    }
    Some(sum)
}

/// Returns the symbols of a model's inputs.
pub(super) fn symbols(inputs: &[ModelPort]) -> Vec<&str> {
    let mut symbols = Vec::new();
    let types = inputs.iter().filter_map(|input| input.ty.as_ref().ok());
    for dim in types.flat_map(|ty| &ty.dims) {
        if let PortDim::Symbol(symbol) = dim {
            let parts = symbol.split(['+', '-', '*']).map(str::trim);
            let names = parts.filter(|part| is_name(part) && part.parse::<i64>().is_err());
            symbols.extend([&**symbol].into_iter().chain(names));
        }
    }
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

/// Generates inputs of these shapes. Each pair of seeds yields a different sample.
///
/// # Errors
/// If an input has a type that can't be generated.
pub(super) fn generate(
    inputs: &[ModelPort],
    shapes: &[Vec<i64>],
    guess: Guess,
    seeds: [usize; 2],
) -> Result<Sample, String> {
    let generate = |(at, (input, shape)): (usize, (&ModelPort, &Vec<i64>))| {
        let name = &input.name;
        let ty = input.ty.as_ref();
        let ty = ty.map_err(|kind| {
            format!("cannot generate input `{name}`: expected a tensor, found {kind}")
        })?;
        let [seed, number] = seeds.map(|seed| seed as u64);
        // The instrument has no seed and uses 0.
        let seed = seed.rotate_left(32) ^ number ^ (at as u64) << 16;
        let data = elements(ty.dtype, shape, guess.below, &mut Rng::with_seed(seed));
        let data = data.ok_or_else(|| {
            let dtype = describe(ty.dtype, shape.iter());
            format!("cannot generate input `{name}`: unsupported type {dtype}")
        })?;
        let (dtype, shape) = (ty.dtype, shape.clone());
        Ok((name.clone(), Tensor { dtype, shape, data }))
    };
    inputs
        .iter()
        .zip(shapes)
        .enumerate()
        .map(generate)
        .collect()
}

/// Generates floats in [-1, 1), integers in [0, `below`), bools, and strings of one letter; `None` for other types.
fn elements(dtype: DType, shape: &[i64], below: i64, random: &mut Rng) -> Option<Vec<u8>> {
    let count = Tensor::elements(shape)?;
    let mut data = Vec::new();
    let mut floats = |count: u64, bytes: fn(f64) -> Vec<u8>| {
        (0..count).for_each(|_| data.extend(bytes(2.0 * random.f64() - 1.0)));
    };
    match dtype {
        DType::F32 => floats(count, |x| (x as f32).to_le_bytes().into()),
        DType::C64 => floats(2 * count, |x| (x as f32).to_le_bytes().into()),
        DType::F64 => floats(count, |x| x.to_le_bytes().into()),
        DType::C128 => floats(2 * count, |x| x.to_le_bytes().into()),
        DType::F16 => floats(count, |x| f16::from_f64(x).to_le_bytes().into()),
        DType::BF16 => floats(count, |x| bf16::from_f64(x).to_le_bytes().into()),
        DType::STRING => {
            let letters = (0..count).map(|_| [random.u8(b'a'..b'i')]);
            return Some(string_data(&letters.collect::<Vec<[u8; 1]>>()));
        }
        _ if dtype == DType::BOOL || is_integer(dtype) => {
            let below = match dtype {
                DType::BOOL | DType::I2 => 2,
                DType::U2 => below.min(4),
                _ => below,
            };
            let bits = u64::from(dtype.bits());
            data.resize(dtype.byte_len(count)? as usize, 0);
            for at in 0..count {
                // A small nonnegative number fits into the lowest byte.
                let (bit, value) = (at * bits, random.i64(0..below.max(1)) as u8);
                data[(bit / 8) as usize] |= value << (bit % 8);
            }
        }
        _ => return None,
    }
    Some(data)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::numerics::ort::PortType;

    fn input(name: &str, dtype: DType, dims: &[&str]) -> ModelPort {
        let dim = |dim: &&str| match (dim.parse(), *dim) {
            (Ok(size), _) => PortDim::Known(size),
            (_, "?") => PortDim::Open,
            (_, symbol) => PortDim::Symbol(symbol.to_owned()),
        };
        let dims = dims.iter().map(dim).collect();
        let (name, ty) = (name.to_owned(), Ok(PortType { dtype, dims }));
        ModelPort { name, ty }
    }

    fn first() -> Guess {
        guesses().next().unwrap()
    }

    #[track_caller]
    fn check_shapes(inputs: &[ModelPort], dims: &[(&str, i64)], expected: Expect) {
        let dims = dims
            .iter()
            .map(|(name, size)| ((*name).to_owned(), *size))
            .collect();
        let text = match shapes(inputs, &dims, first()) {
            Ok(shapes) => format!("{shapes:?}"),
            Err(error) => error,
        };
        expected.assert_eq(&text);
    }

    #[test]
    fn symbols_have_consistent_sizes() {
        let inputs = [
            input("ids", DType::I64, &["batch", "sequence"]),
            input("mask", DType::I64, &["batch", "past + sequence"]),
            input("past", DType::F32, &["2", "batch", "past", "?", "8"]),
        ];
        check_shapes(&inputs, &[], expect![["[[2, 3], [2, 6], [2, 2, 3, 3, 8]]"]]);
        let bound = [("sequence", 5), ("past", 0)];
        check_shapes(
            &inputs,
            &bound,
            expect![["[[2, 5], [2, 5], [2, 2, 0, 3, 8]]"]],
        );
        let whole = [("past + sequence", 9)];
        check_shapes(
            &inputs,
            &whole,
            expect![["[[2, 3], [2, 9], [2, 2, 3, 3, 8]]"]],
        );
        let names = ["batch", "past", "past + sequence", "sequence"];
        assert_eq!(symbols(&inputs), names);
        let large = [("batch", 1 << 30)];
        check_shapes(
            &inputs,
            &large,
            expect!["input `ids` is too large to generate: i64[1073741824,3]"],
        );
    }

    #[test]
    fn dim_expressions_are_evaluated() {
        let value = |name: &str| i64::from(name == "a") * 7;
        assert_eq!(evaluate("a + 1", value), Some(8));
        assert_eq!(evaluate("2*a - 4 + b", value), Some(10));
        assert_eq!(evaluate("floor(a)", value), None);
        assert_eq!(evaluate("a + ", value), None);
        assert_eq!(evaluate("9223372036854775807 + 1", value), None);
    }

    #[test]
    fn samples_are_deterministic_and_differ_by_number() {
        let inputs = [
            input("x", DType::F32, &["4"]),
            input("i", DType::I64, &["4"]),
        ];
        let shapes = shapes(&inputs, &BTreeMap::new(), first()).unwrap();
        let make = |number| generate(&inputs, &shapes, first(), [0, number]).unwrap();
        assert_eq!(make(0), make(0));
        assert_ne!(make(0), make(1));
        let sample = make(0);
        let (floats, _) = sample[0].1.data.as_chunks();
        let floats: Vec<f32> = floats
            .iter()
            .map(|&bytes| f32::from_le_bytes(bytes))
            .collect();
        assert!(
            floats.iter().all(|x| (-1.0..=1.0).contains(x)),
            "{floats:?}"
        );
        let (ints, _) = sample[1].1.data.as_chunks();
        let ints: Vec<i64> = ints
            .iter()
            .map(|&bytes| i64::from_le_bytes(bytes))
            .collect();
        expect!["[6, 7, 0, 0]"].assert_eq(&format!("{ints:?}"));
    }

    #[test]
    fn generated_data_has_the_size_of_its_shape() {
        for &dtype in DType::ALL {
            let inputs = [input("x", dtype, &["5"])];
            let made = generate(&inputs, &[vec![5]], first(), [0, 0]);
            match (dtype, made) {
                (DType::STRING, Ok(sample)) => assert_eq!(sample[0].1.data.len(), 6 * 8 + 5),
                (_, Ok(sample)) => {
                    assert_eq!(
                        Some(sample[0].1.data.len() as u64),
                        dtype.byte_len(5),
                        "{dtype:?}"
                    );
                }
                (_, Err(error)) => {
                    let known = ["f8", "f4", "f6", "index"];
                    let name = dtype.name().unwrap();
                    assert!(known.iter().any(|known| name.starts_with(known)), "{error}");
                }
            }
        }
    }

    #[test]
    fn only_tensors_are_generated() {
        let (name, ty) = ("s".to_owned(), Err("a sequence"));
        let error = generate(&[ModelPort { name, ty }], &[vec![]], first(), [0, 0]).unwrap_err();
        assert_eq!(
            error,
            "cannot generate input `s`: expected a tensor, found a sequence"
        );
    }
}
