//! Randomly generated calls of operators, from the declarations of their definitions, and modules for passes.
//!
//! The same state of the random source generates the same text.

use std::iter::repeat_with;
use std::ops::Range;

use fastrand::Rng;
use passdock_core::{AttrInfo, OpInfo, PassError};

use super::corpus::Sample;

/// The version of ONNX's own operators in functions with ops of another domain. Bodies contain ONNX's own ops.
const ONNX_OPSET: i64 = 17;
/// The number of operands beyond the minimum that a call has at most.
const MORE_OPERANDS: u32 = 4;
/// Element types. Frequent ones are listed several times.
const DTYPES: [&str; 14] = [
    "f32", "f32", "f32", "f32", "f16", "f16", "i64", "i64", "i64", "i32", "u8", "bool", "f64",
    "str",
];
const SHAPES: [&[usize]; 12] = [
    &[],
    &[],
    &[1],
    &[3],
    &[4],
    &[2, 3],
    &[3, 3],
    &[1, 3],
    &[1, 2, 3],
    &[2, 1, 3],
    &[1, 2, 3, 3],
    &[0, 2],
];
const INTS: [i64; 11] = [-1, -1, 0, 0, 1, 1, 2, -2, 3, 7, 10];
const FLOATS: [f32; 8] = [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 3.0];
/// The kind of an attribute that is a region.
const GRAPH: &str = "graph";
const STRINGS: [&str; 3] = ["a", "b", ""];

/// How the operands after the first one relate to it.
#[derive(Clone, Copy)]
enum Relation {
    /// They have its type.
    Same,
    /// They have its element type, and a shape that is broadcast to its shape.
    Broadcast,
    /// They are vectors of integers, such as axes.
    Integers,
    /// They have any type.
    None,
}

/// The operands that are constant.
#[derive(Clone, Copy, PartialEq)]
enum Constants {
    All,
    AllButFirst,
    None,
}

/// Returns a module with a call of an operator, as text of one line. `None` if the operator requires an attribute whose
/// kind isn't generated.
pub(super) fn call(info: &OpInfo, random: &mut Rng) -> Option<String> {
    let attributes = attributes(info, random)?;
    let operands = Operands::new(info, random);
    let most = info.max_results.unwrap_or(u32::MAX).clamp(1, 3);
    let count = match random.u8(0..16) {
        0 => 3,
        1 | 2 => 2,
        _ => 1,
    };
    let results = match count.clamp(info.min_results.min(most), most) {
        3 => "%r, %s, %t",
        2 => "%r, %s",
        _ => "%r",
    };
    let (name, opset) = (&info.name, opset(info));
    let Operands {
        params,
        constants,
        names,
    } = operands;
    let graphs = info.attributes.iter().flatten();
    let graphs = graphs.filter(|attr| attr.kind == GRAPH && attr.required);
    let regions: String = graphs
        .map(|attr| region(attr.name, &names, random))
        .collect();
    let (params, names) = (params.join(", "), names.join(", "));
    Some(format!(
        "module {{ fn @main({params}) -> (%r) {opset} {{ {constants}{results} = {name}({names}){attributes} \
         {regions}return %r }} }}"
    ))
}

/// Returns the text of a region with random arguments and results. Its ops use the arguments and outer values.
fn region(name: &str, outer: &[String], random: &mut Rng) -> String {
    let args: Vec<String> = (0..random.usize(0..5))
        .map(|at| format!("%{name}{at}"))
        .collect();
    let params = args.iter().map(|arg| {
        let (dtype, shape) = (pick(&DTYPES, random), pick(&SHAPES, random));
        format!("{arg}: {}", dynamic_type(dtype, shape, random))
    });
    let params: Vec<String> = params.collect();
    let mut ops = format!("%{name}_k = const bool[] {} ", random.bool());
    let mut values = vec![format!("%{name}_k")];
    values.extend(args);
    values.extend(outer.iter().filter(|name| *name != "_").cloned());
    for at in 0..random.usize(0..3) {
        let operand = &values[random.usize(0..values.len())];
        ops += &format!("%{name}_{at} = onnx.Identity({operand}) ");
        values.push(format!("%{name}_{at}"));
    }
    let count = random.usize(0..5);
    let yielded = repeat_with(|| values[random.usize(0..values.len())].clone());
    let yielded: Vec<String> = yielded.take(count).collect();
    format!(
        "region {name}({}) {{ {ops}yield {} }} ",
        params.join(", "),
        yielded.join(", ")
    )
}

/// Returns the text of a valid module with elementwise ops, constants, an `If` and a call.
pub(super) fn module(random: &mut Rng) -> String {
    let ty = pick(&["f32[3,3]", "f32[n,3]", "f16[2,?]", "?"], random);
    let main = body(ty, random.usize(1..24), true, random);
    let other = body(ty, random.usize(1..6), false, random);
    format!(
        "module {{\n  fn @main(%x0: {ty}, %x1: {ty}, %c: bool[]) -> (%r: {ty}) opset(\"\" = 17) {{\n{main}  }}\n  \
            fn @other(%x0: {ty}, %x1: {ty}) -> (%r: {ty}) opset(\"\" = 17) {{\n{other}  }}\n}}\n"
    )
}

/// Returns a sequence of ops that use the values before them, and a `return`.
fn body(ty: &str, count: usize, is_main: bool, random: &mut Rng) -> String {
    const UNARY: [&str; 8] = [
        "Relu", "Neg", "Abs", "Sigmoid", "Identity", "Exp", "Dropout", "Softmax",
    ];
    const BINARY: [&str; 6] = ["Add", "Add", "Mul", "Sub", "Div", "Pow"];
    let scalar = ty.split('[').next().filter(|dtype| *dtype != "?");
    let mut text = String::new();
    for at in 2..count + 2 {
        let annotation = if random.u8(0..4) > 0 { ty } else { "?" };
        let (a, b) = (random.usize(0..at), random.usize(0..at));
        text += &match (random.u8(0..12), scalar) {
            (0, Some(dtype)) => {
                let number = pick(&FLOATS, random);
                format!(
                    "    %k{at} = const {dtype}[] {number:?}\n    %x{at} = onnx.Mul(%x{a}, %k{at}) : {annotation}\n"
                )
            }
            (1, _) if is_main => format!("    %x{at} = other(%x{a}, %x{b}) : {annotation}\n"),
            (2, _) if is_main => format!(
                "    %x{at} = onnx.If(%c) {{then_branch = region, else_branch = region}} : {annotation}\n      \
                 region then_branch -> (%t{at}: {ty}) {{ %t{at} = onnx.{}(%x{a}) : {ty} yield %t{at} }}\n      \
                 region else_branch {{ yield %x{b} }}\n",
                pick(&UNARY, random)
            ),
            (3..=6, _) => format!(
                "    %x{at} = onnx.{}(%x{a}, %x{b}) : {annotation}\n",
                pick(&BINARY, random)
            ),
            _ => format!(
                "    %x{at} = onnx.{}(%x{a}) : {annotation}\n",
                pick(&UNARY, random)
            ),
        };
    }
    text + &format!("    return %x{}\n", count + 1)
}

fn opset(info: &OpInfo) -> String {
    // The name `onnx.Relu` is in ONNX's own domain, `""`.
    let domain = info.name.rsplit_once('.').map_or("", |(domain, _)| domain);
    match domain {
        "onnx" => format!("opset(\"\" = {})", info.since),
        domain => format!("opset(\"\" = {ONNX_OPSET}, {domain:?} = {})", info.since),
    }
}

/// The operands of a call, as text.
#[derive(Default)]
struct Operands {
    params: Vec<String>,
    constants: String,
    names: Vec<String>,
}

impl Operands {
    fn new(info: &OpInfo, random: &mut Rng) -> Operands {
        let most = info.max_operands.unwrap_or(u32::MAX);
        let most = most.min(info.min_operands.saturating_add(MORE_OPERANDS));
        let count = random.u32(info.min_operands..=most.max(info.min_operands));
        let (dtype, shape) = (pick(&DTYPES, random), pick(&SHAPES, random));
        let relation = pick(
            &[
                Relation::Same,
                Relation::Same,
                Relation::Broadcast,
                Relation::Integers,
                Relation::None,
            ],
            random,
        );
        let constants = [
            Constants::All,
            Constants::All,
            Constants::AllButFirst,
            Constants::None,
        ];
        let constants = pick(&constants, random);
        let mut operands = Operands::default();
        for at in 0..count {
            if at >= info.min_operands && random.u8(0..8) == 0 {
                operands.names.push("_".to_owned());
                continue;
            }
            let (dtype, shape) = match relation {
                _ if at == 0 => (dtype, shape.to_vec()),
                Relation::Same => (dtype, shape.to_vec()),
                Relation::Broadcast => (dtype, broadcast(shape, random)),
                Relation::Integers => ("i64", vec![random.usize(1..4)]),
                Relation::None => (pick(&DTYPES, random), pick(&SHAPES, random).to_vec()),
            };
            let is_constant =
                constants == Constants::All || (constants == Constants::AllButFirst && at > 0);
            operands.add(at, dtype, &shape, is_constant, random);
        }
        operands
    }

    fn add(&mut self, at: u32, dtype: &str, shape: &[usize], is_constant: bool, random: &mut Rng) {
        let name = format!("%x{at}");
        if is_constant {
            let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
            let (dims, data) = (dims.join(","), data(dtype, shape, random));
            self.constants += &format!("{name} = const {dtype}[{dims}] {data} ");
        } else {
            self.params
                .push(format!("{name}: {}", dynamic_type(dtype, shape, random)));
        }
        self.names.push(name);
    }
}

/// Returns a shape that is broadcast to another one.
fn broadcast(shape: &[usize], random: &mut Rng) -> Vec<usize> {
    let shape = &shape[random.usize(0..=shape.len())..];
    let sizes = shape.iter();
    let sizes = sizes.map(|&size| if random.u8(0..4) == 0 { 1 } else { size });
    sizes.collect()
}

/// Returns the text of a type, of which parts may be unknown.
fn dynamic_type(dtype: &str, shape: &[usize], random: &mut Rng) -> String {
    match random.u8(0..10) {
        0 => "?".to_owned(),
        1 => format!("{dtype}[*]"),
        _ => {
            let sizes = shape.iter().map(|size| match random.u8(0..6) {
                0 => "n".to_owned(),
                1 => "m".to_owned(),
                2 => "?".to_owned(),
                _ => size.to_string(),
            });
            let sizes: Vec<String> = sizes.collect();
            format!("{dtype}[{}]", sizes.join(","))
        }
    }
}

/// Returns the text of a tensor's elements.
fn data(dtype: &str, shape: &[usize], random: &mut Rng) -> String {
    let element = || match dtype {
        "bool" => random.bool().to_string(),
        "str" => format!("{:?}", pick(&STRINGS, random)),
        "u8" => random.u8(0..4).to_string(),
        _ if dtype.starts_with('i') => random.i64(-2..4).to_string(),
        _ => format!("{:?}", pick(&FLOATS, random)),
    };
    let mut elements = repeat_with(element);
    if shape.is_empty() {
        return elements.next().unwrap_or_default();
    }
    let elements: Vec<String> = elements.take(shape.iter().product()).collect();
    format!("[{}]", elements.join(", "))
}

/// Returns the text of the required attributes, and of some other ones.
fn attributes(info: &OpInfo, random: &mut Rng) -> Option<String> {
    let mut given = Vec::new();
    for attr in info.attributes.iter().flatten() {
        if !attr.required && (attr.kind == GRAPH || random.bool()) {
            continue;
        }
        match value(attr, random) {
            Some(value) => given.push(format!("{} = {value}", attr.name)),
            None if attr.required => return None,
            None => {}
        }
    }
    Some(match given.is_empty() {
        true => String::new(),
        false => format!(" {{{}}}", given.join(", ")),
    })
}

/// Returns the text of an attribute's value. `None` if values of its kind aren't generated.
fn value(attr: &AttrInfo, random: &mut Rng) -> Option<String> {
    if let Some(default) = &attr.default
        && attr.kind == "string"
        && random.bool()
    {
        return Some(default.to_string());
    }
    let count = random.usize(0..5);
    Some(match attr.kind {
        "int" => pick(&INTS, random).to_string(),
        "float" => format!("{:?}", pick(&FLOATS, random)),
        "string" => format!("{:?}", pick(&STRINGS, random)),
        "ints" | "floats" | "strings" if count == 0 => format!("{}[]", attr.kind),
        "ints" => list(count, || pick(&INTS, random).to_string()),
        "floats" => list(count, || format!("{:?}", pick(&FLOATS, random))),
        "strings" => list(count, || format!("{:?}", pick(&STRINGS, random))),
        "tensor" => {
            let (dtype, shape) = (pick(&DTYPES, random), [count]);
            format!("tensor {dtype}[{count}] {}", data(dtype, &shape, random))
        }
        GRAPH => "region".to_owned(),
        "type" => format!("type {}[3]", pick(&DTYPES, random)),
        _ => return None,
    })
}

fn list(count: usize, item: impl FnMut() -> String) -> String {
    let items: Vec<String> = repeat_with(item).take(count).collect();
    format!("[{}]", items.join(", "))
}

fn pick<T: Copy>(from: &[T], random: &mut Rng) -> T {
    from[random.usize(0..from.len())]
}

/// Returns a random module for each seed, with the name that `name` gives to the seed.
///
/// # Errors
/// If the generated IR text is invalid, which is a bug.
pub(super) fn samples(
    seeds: Range<u64>,
    name: impl Fn(u64) -> String,
) -> Result<Vec<Sample>, PassError> {
    let samples = seeds.map(|seed| {
        let text = module(&mut Rng::with_seed(seed));
        Sample::from_text(&name(seed), &text)
    });
    samples.collect()
}

#[cfg(test)]
mod tests {
    use passdock_abi::AttrKind;
    use passdock_driver::model_file;

    use super::*;

    #[test]
    fn generated_modules_are_valid() {
        for seed in 0..100 {
            let text = module(&mut Rng::with_seed(seed));
            let parsed = model_file::parse_text("a module", &text);
            let parsed = parsed.unwrap_or_else(|error| panic!("{error}\n{text}"));
            let verified = passdock_core::verify::all(&parsed);
            verified.unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }

    #[test]
    fn generated_calls_are_valid_and_reproducible() {
        let info = OpInfo {
            name: "acme.Sum".to_owned(),
            since: 2,
            min_operands: 2,
            max_operands: None,
            traits: Vec::new(),
            type_inference: true,
            evaluation: true,
            decomposition: false,
            layouts: false,
            extends: false,
            min_results: 0,
            max_results: None,
            targets: Vec::new(),
            attributes: Some(vec![AttrInfo {
                name: "body",
                kind: GRAPH,
                kind_code: AttrKind::REGION,
                required: true,
                default: None,
                doc: "",
            }]),
            plugin: "acme".to_owned(),
        };
        let (mut random, mut same) = (Rng::with_seed(1), Rng::with_seed(1));
        for _ in 0..200 {
            let text = call(&info, &mut random).expect("a call");
            assert_eq!(Some(&text), call(&info, &mut same).as_ref());
            let parsed = model_file::parse_text("a call", &text);
            assert!(parsed.is_ok(), "{text}");
            assert!(text.contains("opset(\"\" = 17, \"acme\" = 2)"), "{text}");
        }
    }
}
