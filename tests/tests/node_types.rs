//! Shape inference on ONNX's node tests. The inferred types have to be correct, and per operator at least as precise as
//! those of ONNX's own inference.
//!
//! `tests/python/node_types.py DIRECTORY` writes the cases. The test is skipped unless `PASSDOCK_NODE_CASES` is that
//! directory. With `PASSDOCK_NODE_CASES_DETAILS`, each result is printed whose type isn't known in all dims.

#![allow(
    clippy::print_stderr,
    reason = "the counts are what the test is run for"
)]

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use expect_test::expect_file;
use passdock::{PassContext, PassRef};
use passdock_abi::{DType, Dim, DimKind, ExprId, ExprKind, SymbolId, TypeId, TypeKind};
use passdock_ir::Function;
use passdock_tests::standard_registry;
use serde_json::Value;

/// How precise an inferred type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// The complete type.
    Exact,
    /// A correct type with unknown parts.
    General,
    /// No type.
    Nothing,
    /// An incorrect type.
    Wrong,
}

/// The numbers of results, by [`Known`].
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Counts([usize; 4]);

impl Counts {
    fn add(&mut self, known: Known) {
        self.0[known as usize] += 1;
    }

    fn of(&self, known: Known) -> usize {
        self.0[known as usize]
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [exact, general, nothing, wrong] = self.0;
        write!(
            f,
            "{exact:5} exact {general:4} general {nothing:4} none {wrong:3} wrong"
        )
    }
}

/// The counts of both inferences for each operator.
#[derive(Default)]
struct Tally {
    counts: BTreeMap<(String, String), (Counts, Counts)>,
    wrong: Vec<String>,
}

#[test]
fn inference_is_as_precise_as_onnx() {
    let Some(directory) = std::env::var_os("PASSDOCK_NODE_CASES") else {
        return;
    };
    let directory = Path::new(&directory);
    let lines =
        std::fs::read_to_string(directory.join("types.jsonl")).expect("the cases are readable");
    let models = std::fs::read(directory.join("models.bin")).expect("their models are readable");
    let infer = Infer::new();
    let mut tally = Tally::default();
    for line in lines.lines() {
        let case = serde_json::from_str(line).expect("a case is JSON");
        infer.judge(&case, &models, &mut tally);
    }
    eprint!("{}", tally.totals());
    let less_precise: Vec<String> = tally
        .counts
        .iter()
        .filter(|(_, (ours, theirs))| ours.of(Known::Exact) < theirs.of(Known::Exact))
        .map(|((op, variant), (ours, theirs))| format!("{op}, {variant}: {ours}, onnx {theirs}"))
        .collect();
    assert!(
        less_precise.is_empty() && tally.wrong.is_empty(),
        "wrong:\n{}\nless than onnx knows:\n{}",
        tally.wrong.join("\n"),
        less_precise.join("\n")
    );
    expect_file!["node_types.txt"].assert_eq(&tally.to_string());
}

/// Prints a row for each operator and variant. Operators with only exact types are only in the totals.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.totals())?;
        for ((op, variant), (ours, theirs)) in &self.counts {
            if ours.of(Known::Exact) < ours.0.iter().sum() {
                writeln!(f, "{op:52} {variant:9} {ours}   onnx {theirs}")?;
            }
        }
        Ok(())
    }
}

impl Tally {
    /// Returns the totals for single operators, and for operators that are decomposed into others.
    fn totals(&self) -> String {
        let mut totals = BTreeMap::<_, (Counts, Counts)>::new();
        for ((op, variant), (ours, theirs)) in &self.counts {
            let kind = match op.ends_with("as others") {
                true => "operators as others",
                false => "operators",
            };
            let total = totals.entry((kind, variant)).or_default();
            for known in 0..4 {
                total.0.0[known] += ours.0[known];
                total.1.0[known] += theirs.0[known];
            }
        }
        let row = |((kind, variant), (ours, theirs)): (&(&str, &String), &(Counts, Counts))| {
            format!("{kind:52} {variant:9} {ours}   onnx {theirs}\n")
        };
        totals.iter().map(row).collect()
    }
}

/// The pass, and the warnings of its last run.
struct Infer {
    context: PassContext,
    pass: PassRef,
    warnings: Arc<Mutex<Vec<String>>>,
    details: bool,
}

impl Infer {
    fn new() -> Infer {
        let registry = standard_registry();
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let list = warnings.clone();
        let context = PassContext::builder()
            .registry(&registry)
            .opt_level(4)
            .jobs(1)
            .on_diagnostic(move |diagnostic| {
                let message = diagnostic.message.clone();
                list.lock().expect("the lock is not poisoned").push(message);
            })
            .build();
        let pass = registry.get_pass("relax.transform.InferType");
        Infer {
            context: context.expect("the context is well made"),
            pass: pass.expect("the pass is there"),
            warnings,
            details: std::env::var_os("PASSDOCK_NODE_CASES_DETAILS").is_some(),
        }
    }

    /// Infers the types of a case and compares them with the expected ones.
    fn judge(&self, case: &Value, models: &[u8], tally: &mut Tally) {
        let text = |value: &Value| value.as_str().expect("a string").to_owned();
        let (name, op, variant) = (
            text(&case["name"]),
            text(&case["op"]),
            text(&case["variant"]),
        );
        let number = |value: &Value| value.as_u64().expect("a number") as usize;
        let (start, len) = (number(&case["model"][0]), number(&case["model"][1]));
        let bytes = models[start..start + len].to_vec();
        let module = passdock_onnx::read_bytes(Path::new(&name), bytes)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let module = self
            .context
            .scope(|_| self.pass.call(module))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let warnings =
            std::mem::take(&mut *self.warnings.lock().expect("the lock is not poisoned"));
        let complaints = warnings
            .iter()
            .map(|warning| format!("{name}, {variant}: {warning}"));
        tally.wrong.extend(complaints);
        let main = module.functions().next().expect("there is a main graph");
        let end = main.terminator(main.body()).expect("it ends with a return");
        let (ours, theirs) = tally.counts.entry((op, variant.clone())).or_default();
        let wanted = case["outputs"].as_array().expect("a list");
        let onnx = case["onnx"].as_array().expect("a list");
        for (index, (wanted, onnx)) in wanted.iter().zip(onnx).enumerate() {
            let ty = main.value(main.operands(end)[index].value).ty;
            let known = compare(main, ty, wanted);
            ours.add(known);
            theirs.add(match onnx.as_str() {
                Some("exact") => Known::Exact,
                Some("general") => Known::General,
                Some("none") => Known::Nothing,
                _ => Known::Wrong,
            });
            let inferred = passdock_ir::text::type_text(main, ty);
            if known == Known::Wrong {
                let message =
                    format!("{name}, {variant}: result {index} is {wanted}, not {inferred}");
                tally.wrong.push(message);
            } else if self.details && known != Known::Exact {
                eprintln!(
                    "{name}, {variant}: result {index} is {wanted}: {inferred} (onnx: {onnx})"
                );
            }
        }
    }
}

/// Compares an inferred type with that of the actual result.
fn compare(f: &Function, ty: TypeId, wanted: &Value) -> Known {
    let record = f.ty(ty);
    if record.kind == TypeKind::UNKNOWN {
        return Known::Nothing;
    }
    let kind = match wanted[0].as_str() {
        Some("tensor") => TypeKind::TENSOR,
        Some("sequence") => TypeKind::SEQUENCE,
        _ => TypeKind::OPTIONAL,
    };
    if record.kind != kind {
        return Known::Wrong;
    }
    if kind != TypeKind::TENSOR {
        return match f.items_of(record).next() {
            Some(item) => compare(f, item, &wanted[1]),
            None => Known::Nothing,
        };
    }
    if record.dtype == DType::NONE {
        return Known::Nothing;
    }
    if Some(u64::from(record.dtype.0)) != wanted[1].as_u64() {
        return Known::Wrong;
    }
    let Some(sizes) = wanted[2].as_array() else {
        return Known::Exact;
    };
    let Some(dims) = f.shape(ty) else {
        return Known::General;
    };
    if dims.len() != sizes.len() {
        return Known::Wrong;
    }
    let one = |(&dim, wanted): (&Dim, &Value)| match (size(f, dim), wanted.as_i64()) {
        (_, None) => Known::Exact,
        (None, Some(_)) => Known::General,
        (Some(size), Some(wanted)) if size == wanted => Known::Exact,
        _ => Known::Wrong,
    };
    dims.iter()
        .zip(sizes)
        .map(one)
        .max()
        .unwrap_or(Known::Exact)
}

/// Returns the size of a dim, where the symbol `s5` has the size 5.
fn size(f: &Function, dim: Dim) -> Option<i64> {
    match dim.kind {
        DimKind::CONST => Some(dim.value),
        DimKind::SYMBOL => f
            .text(SymbolId(dim.value as u32))
            .strip_prefix('s')?
            .parse()
            .ok(),
        DimKind::EXPR => {
            let expr = *f.expr(ExprId(dim.value as u32));
            let (a, b) = (size(f, expr.lhs)?, size(f, expr.rhs)?);
            match expr.kind {
                ExprKind::ADD => Some(a + b),
                ExprKind::MUL => Some(a * b),
                ExprKind::FLOORDIV => a.checked_div_euclid(b),
                ExprKind::MOD => a.checked_rem_euclid(b),
                ExprKind::MIN => Some(a.min(b)),
                ExprKind::MAX => Some(a.max(b)),
                ExprKind::BROADCAST => Some(if a == 1 { b } else { a }),
                _ => None,
            }
        }
        _ => None,
    }
}
