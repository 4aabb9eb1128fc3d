//! ONNX's node test cases: folded results and inferred types must be correct.
//!
//! `node_cases.py DIRECTORY` writes the cases. Without `PASSDOCK_NODE_CASES`, which names that directory, the tests are
//! skipped. With `PASSDOCK_NODE_CASES_DETAILS`, each case that isn't folded is printed
//! with its reason.

#![allow(
    clippy::print_stderr,
    reason = "the counts are what the tests are run for"
)]

#[path = "support/cases.rs"]
mod cases;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use cases::Case;
use expect_test::expect_file;
use passdock::{PassInfo, Registry, create_function_pass};
use passdock_plugin_api::prelude::*;
use passdock_plugins_onnx_ops::eval::{self, Call, Tensor};
use passdock_plugins_onnx_ops::evaluate;
use passdock_plugins_onnx_ops::ops;

#[test]
fn evaluated_results_match_onnx() {
    let Some((lines, blob)) = cases::files() else {
        return;
    };
    let details = std::env::var_os("PASSDOCK_NODE_CASES_DETAILS").is_some();
    let mut wrong = Vec::new();
    // Per operator: the number of correct cases, and the total.
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for case in cases::cases(&lines, &blob) {
        let attrs = case.attrs();
        let call = Call {
            name: &case.op,
            version: case.version,
            inputs: &case.inputs,
            attrs: &attrs,
            attr_defs: &[],
            outputs: case.outputs.len(),
            max_bytes: 1 << 24,
        };
        let (right, all) = counts.entry(case.op.clone()).or_default();
        *all += 1;
        match evaluate(&call) {
            Err(reason) => {
                if details && defined(&case).is_some_and(|row| row.evaluate.is_some()) {
                    eprintln!("{}: {reason}", case.name);
                }
            }
            Ok(results) => {
                let compare = |(index, result)| case.compare(index, result).err();
                let errors: Vec<String> = results.iter().enumerate().filter_map(compare).collect();
                *right += usize::from(errors.is_empty());
                wrong.extend(errors);
            }
        }
    }
    assert!(wrong.is_empty(), "wrong results:\n{}", wrong.join("\n"));
    // Each case that isn't folded has a reason, which `PASSDOCK_NODE_CASES_DETAILS` prints.
    eprintln!("evaluated, none of them wrong:\n{}", table(&counts));
    expect_file!["node_cases.txt"].assert_eq(&table(&counts));
}

/// The operators that fold the shapes and constants of real models. ONNX has 419 plain cases
/// of them; two of Identity are about a sequence and an optional, not tensors.
const FOLD_OPERATORS: &[&str] = &[
    "Abs",
    "Add",
    "And",
    "Cast",
    "CastLike",
    "Ceil",
    "Concat",
    "ConstantOfShape",
    "Cos",
    "DequantizeLinear",
    "Div",
    "Equal",
    "Expand",
    "Flatten",
    "Floor",
    "Gather",
    "GatherElements",
    "Greater",
    "GreaterOrEqual",
    "Identity",
    "Less",
    "LessOrEqual",
    "Log",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Not",
    "Pow",
    "Range",
    "Reciprocal",
    "ReduceMax",
    "ReduceMin",
    "ReduceProd",
    "Reshape",
    "ScatterND",
    "Shape",
    "Sin",
    "Slice",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Tile",
    "Transpose",
    "Unsqueeze",
    "Where",
];

/// Formats a line for all cases, one for the fold operators, and one for each operator with an evaluation.
fn table(counts: &BTreeMap<String, (usize, usize)>) -> String {
    let sum = |chosen: &dyn Fn(&str) -> bool| {
        let of = counts
            .iter()
            .filter(|(name, _)| chosen(name.trim_start_matches("onnx.")));
        of.fold((0, 0), |sum, (_, &(right, all))| {
            (sum.0 + right, sum.1 + all)
        })
    };
    let (right, all) = sum(&|_| true);
    let (folds, of) = sum(&|name| FOLD_OPERATORS.contains(&name));
    let mut lines = format!("{right} of {all}; of the fold operators {folds} of {of}\n");
    for (name, (right, all)) in counts.iter().filter(|(_, (right, _))| *right > 0) {
        lines += &format!("{name} {right} of {all}\n");
    }
    lines
}

fn defined(case: &Case) -> Option<&'static ops::Operator> {
    ops::find(&case.op, case.version)
}

#[test]
fn inferred_types_match_onnx() {
    judge("static shapes", false, false);
    judge("symbols", true, false);
}

#[test]
fn constants_folded_by_the_host_match_onnx() {
    judge("constants", false, true);
}

/// The numbers of cases by result.
#[derive(Default)]
struct Tally {
    known: usize,
    partly: usize,
    unknown: usize,
    folded: usize,
    wrong: Vec<String>,
}

/// Runs the definitions on every case through the host.
fn judge(what: &'static str, symbols: bool, fold: bool) {
    let Some((lines, blob)) = cases::files() else {
        return;
    };
    let tally = Arc::new(Mutex::new(Tally::default()));
    let shared = tally.clone();
    let registry = Registry::new();
    registry
        .load_static(passdock_plugins_onnx_ops::PLUGIN)
        .expect("the plugin is well made");
    let pass = create_function_pass(PassInfo::new("test.transform.Judge"), move |f, cx| {
        let mut tally = shared.lock().expect("the lock is not poisoned");
        for case in cases::cases(&lines, &blob) {
            if f.opset("") != Some(case.version) {
                continue;
            }
            if let Some(op) = make(f, &case, symbols, fold)? {
                ask(f, cx, op, &case, fold, &mut tally)?;
            }
        }
        Ok(())
    });
    registry.register(pass).expect("the name is free");
    // A function imports one version of ONNX.
    let function = |version| format!("fn @v{version}() opset(\"\" = {version}) {{ return }}\n");
    let newest = ops::all().map(|row| row.since).max().expect("a row");
    let functions: String = (1..=newest).map(function).collect();
    let source = format!("module {{\n{functions}}}");
    let passes = ["test.transform.Judge"];
    let text = passdock::testing::run_on_text(&registry, &passes, &source, |context| context);
    let tally = tally.lock().expect("the pass is done");
    eprintln!(
        "{what}: {} types known, {} partly, {} unknown, {} wrong; {} cases folded",
        tally.known,
        tally.partly,
        tally.unknown,
        tally.wrong.len(),
        tally.folded
    );
    assert!(text.starts_with("module"), "{text}");
    assert!(tally.known > 0, "no type was inferred");
    assert!(tally.wrong.is_empty(), "wrong:\n{}", tally.wrong.join("\n"));
}

/// Creates the op of a case; `None` if that isn't possible. Operands are constants, or values of known
/// type. Short lists of integers, which are mostly shapes, are always constants.
fn make(
    f: &mut Function,
    case: &Case,
    symbols: bool,
    constants: bool,
) -> Result<Option<OpId>, EditError> {
    let at = Position {
        region: f.body(),
        before: OpId::NONE,
    };
    let mut op = OpBuilder::new(case.op.as_str());
    for input in &case.inputs {
        let Some(tensor) = input else {
            op = op.operand(ValueId::NONE);
            continue;
        };
        let list = tensor.rank() <= 1 && tensor.len() <= 16;
        let control = list && matches!(tensor.dtype(), DType::I64 | DType::I32);
        let value = if constants || control {
            constant(f, tensor)?
        } else {
            let ty = type_of(f, tensor, symbols)?;
            let source = f.create_op(OpBuilder::new("test.Source").result(ty), at)?;
            f.result(source, 0)
        };
        op = op.operand(value);
    }
    for (name, value) in case.attrs() {
        op = match value {
            eval::EvalAttr::Int(value) => op.attr(name, value),
            eval::EvalAttr::Float(value) => op.attr(name, value),
            eval::EvalAttr::String(value) => op.attr(name, AttrValue::String(value.to_vec())),
            eval::EvalAttr::Ints(values) => op.attr(name, values.into_owned()),
            eval::EvalAttr::Floats(values) => op.attr(name, values.into_owned()),
            eval::EvalAttr::Strings(values) => {
                let values = values.into_iter().map(<[u8]>::to_vec).collect();
                op.attr(name, AttrValue::Strings(values))
            }
            _ => return Ok(None),
        };
    }
    let op = f.create_op(op.untyped_results(case.outputs.len()), at)?;
    Ok(Some(op))
}

fn constant(f: &mut Function, tensor: &Tensor) -> Result<ValueId, EditError> {
    let ty = type_of(f, tensor, false)?;
    f.add_constant(&ConstantSpec::new(ty, tensor.bytes()))
}

/// Returns the type of a tensor; with symbols, a dim of 5 is the symbol `s5`.
fn type_of(f: &mut Function, tensor: &Tensor, symbols: bool) -> Result<TypeId, EditError> {
    let mut dims = Vec::new();
    for &size in tensor.shape() {
        dims.push(if symbols && size > 1 {
            Dim::symbol(f.intern(&format!("s{size}"))?)
        } else {
            Dim::constant(size as i64)
        });
    }
    f.add_type(&TypeSpec::tensor(tensor.dtype(), dims))
}

/// Compares inferred types and folded values with the expected ones.
fn ask(
    f: &mut Function,
    cx: &PassContext,
    op: OpId,
    case: &Case,
    fold: bool,
    tally: &mut Tally,
) -> Result<(), EditError> {
    if let Err(error) = cx.infer(f, op) {
        tally
            .wrong
            .push(format!("{}: {}", case.name, error.message));
        return Ok(());
    }
    for (index, wanted) in case.outputs.iter().enumerate() {
        let Some(wanted) = wanted else { continue };
        let ty = f.type_of(f.result(op, index));
        let inferred = ty.to_string();
        match (ty.dims(), ty.dtype() == Some(wanted.dtype())) {
            (None, true) => tally.partly += 1,
            _ if ty.kind() == TypeKind::UNKNOWN => tally.unknown += 1,
            (Some(dims), true) if dims.len() == wanted.rank() => {
                let sizes: Vec<Option<i64>> = sizes(&inferred);
                let mut pairs = sizes.iter().zip(wanted.shape());
                if !pairs.all(|(dim, &size)| dim.is_none_or(|dim| dim == size as i64)) {
                    tally.wrong.push(format!(
                        "{}: {inferred} for {:?}",
                        case.name,
                        wanted.shape()
                    ));
                } else if sizes.iter().all(Option::is_some) {
                    tally.known += 1;
                } else {
                    tally.partly += 1;
                }
            }
            _ => tally
                .wrong
                .push(format!("{}: {inferred} for {wanted:?}", case.name)),
        }
    }
    if !fold || !f.traits(op).folds() {
        return Ok(());
    }
    let Some(values) = cx.evaluate(f, op, 1 << 24)? else {
        return Ok(());
    };
    tally.folded += 1;
    for (index, value) in values.into_iter().enumerate() {
        let shape = f.shape(value).unwrap_or_default();
        let shape = shape.into_iter().map(|size| size as usize).collect();
        let bytes = f.constant_data(value)?.unwrap_or_default();
        let dtype = f.dtype(value).unwrap_or(DType::NONE);
        let compared = match Tensor::from_bytes(dtype, shape, bytes) {
            Ok(result) => case.compare(index, &result),
            Err(error) => Err(format!("{}: {error}", case.name)),
        };
        tally.wrong.extend(compared.err());
    }
    Ok(())
}

/// Parses the dims of a printed type, `f32[(s5 * 2),?,3]`, with 5 for `s5`; `None` for `?`.
fn sizes(ty: &str) -> Vec<Option<i64>> {
    let inside = ty
        .split_once('[')
        .map_or("", |(_, rest)| rest.trim_end_matches(']'));
    inside
        .split(',')
        .filter(|dim| !dim.is_empty())
        .map(|dim| size(&mut dim.trim()))
        .collect()
}

/// Parses one dim at the start of a text.
fn size(text: &mut &str) -> Option<i64> {
    if let Some(rest) = text.strip_prefix('(') {
        *text = rest;
        let left = size(text)?;
        let (operator, rest) = text.trim_start().split_once(' ')?;
        *text = rest;
        let right = size(text)?;
        *text = text.strip_prefix(')')?;
        return match operator {
            "+" => Some(left + right),
            "*" => Some(left * right),
            "floordiv" => Some(left.div_euclid(right)),
            "mod" => Some(left.rem_euclid(right)),
            "min" => Some(left.min(right)),
            "max" => Some(left.max(right)),
            "broadcast" => Some(if left == 1 { right } else { left }),
            _ => None,
        };
    }
    let end = text.find([' ', ')']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    *text = rest;
    word.trim_start_matches('s').parse().ok()
}
