//! Passes on models with many entities of one kind. Each of these would take minutes in quadratic time.
//! `cargo bench -p passdock-benches --bench scale` measures all passes on all shapes.

use passdock::{PassContext, Verify};
use passdock_benches::shapes::shapes;
use passdock_ir::{Module, text};
use passdock_tests::standard_registry;

const SIZE: usize = 10_000;

/// Returns a model of a shape.
#[track_caller]
fn model(shape: &str) -> Module {
    let shape = shapes().into_iter().find(|known| known.name == shape);
    let shape = shape.expect("a shape of this name");
    text::parse(&shape.text(SIZE)).expect("well-formed text")
}

/// Runs a pass on a model of a shape, and checks the resulting numbers of ops and functions.
#[track_caller]
fn check(shape: &str, pass: &str, ops: usize, functions: usize) {
    check_with(shape, pass, "", ops, functions);
}

#[track_caller]
fn check_with(shape: &str, pass: &str, options: &str, ops: usize, functions: usize) {
    let registry = standard_registry();
    let context = PassContext::builder()
        .registry(&registry)
        .verify(Verify::Changed)
        .on_diagnostic(|_| ())
        .build()
        .expect("a plain context");
    let options = options.parse().expect("TOML");
    let pass = registry.get_pass_with_options(pass, &options);
    let module = pass
        .expect("a standard pass")
        .call_in(model(shape), &context);
    let module = module.unwrap_or_else(|error| panic!("{shape}: {error}"));
    assert_eq!((module.op_count(), module.len()), (ops, functions));
}

#[test]
fn returned_copies() {
    let canonicalize = "relax.transform.CanonicalizeBindings";
    check("copies of a result, returned", canonicalize, SIZE, 1);
    let simplify = "relax.transform.SimplifyInference";
    check("dropouts of one value, returned", simplify, SIZE, 1);
}

#[test]
fn constant_copies_used_by_one_op() {
    let fold = "relax.transform.FoldConstant";
    check("copies of a constant, joined", fold, 1, 1);
}

/// Each body is parsed into a module with as many names as ops.
#[test]
fn decomposed_operators() {
    let decompose = "relax.transform.DecomposeOps";
    check("results returned", decompose, SIZE, 1);
}

#[test]
fn tuple_fields() {
    let infer = "relax.transform.InferType";
    check("a tuple of many fields", infer, SIZE / 3 * 2 + 2, 1);
}

#[test]
fn parameters() {
    let bind = "relax.transform.BindParams";
    let options: String = (0..SIZE)
        .step_by(2)
        .map(|at| format!("p{at} = [1, 2]\n"))
        .collect();
    check_with("parameters bound", bind, &options, SIZE, 1);
    let defaults = "parameters with defaults";
    check_with(defaults, bind, "defaults = true", 1, 1);
    let bind = "relax.transform.BindSymbolicVars";
    let options: String = (0..SIZE).map(|at| format!("s{at} = 2\n")).collect();
    check_with("symbols", bind, &options, SIZE, 1);
}

#[test]
fn nested_regions() {
    let nested = "nested regions";
    let ops = model(nested).op_count();
    check(nested, "relax.transform.ToGraphNormalForm", ops, 1);
    check(nested, "relax.transform.ToANormalForm", ops, 1);
    let merge = "relax.transform.EliminateCommonSubexpr";
    check(nested, merge, SIZE / 10 * 2 + 2, 1);
    let lift = "relax.transform.LambdaLift";
    let levels = SIZE / 10;
    check(nested, lift, ops + 2 * levels, 1 + 2 * levels);
}

#[test]
fn sibling_regions() {
    let lift = "relax.transform.LambdaLift";
    let ifs = SIZE / 3;
    check("regions under one condition", lift, 4 * ifs + 2, ifs + 1);
}

#[test]
fn functions() {
    let merge = "relax.transform.EliminateCommonSubexpr";
    check("unused functions", merge, SIZE + 1, SIZE + 1);
    // The whole chain determines whether calls may be merged.
    check("calls in a chain", merge, 2 * SIZE, SIZE + 1);
    let erase = "relax.transform.DeadCodeElimination";
    check(
        "every other function dead",
        erase,
        SIZE / 2 + 1,
        SIZE / 4 + 1,
    );
    let inline = "relax.transform.InlineFunctions";
    check("functions", inline, SIZE / 2 + 1, 1);
    check("calls in a chain", inline, SIZE, 1);
    check("attribute parameters", inline, SIZE, 1);
}

#[test]
fn fused_groups() {
    let (fuse, groups) = ("relax.transform.FuseOps", SIZE / 4);
    check("equal groups of ops", fuse, SIZE, 2);
    check("different groups of ops", fuse, SIZE, 1 + groups);
    // Groups of 256 ops, all equal except for the first and the last.
    check("a chain", fuse, SIZE, 4);
    check("users of one value", fuse, SIZE + 1, 2);
    let pattern = "patterns = [\"npu.two: onnx.Neg(onnx.LeakyRelu(%x))\"]";
    let by_pattern = "relax.transform.FuseOpsByPattern";
    check_with("equal groups of ops", by_pattern, pattern, SIZE, 2);
    let takes = "target = \"npu\"\ntraits = [\"elementwise\"]";
    let annotate = "relax.transform.AnnotateTarget";
    check_with("equal groups of ops", annotate, takes, SIZE, 4);
    check_with("different groups of ops", annotate, takes, SIZE, groups + 3);
}

#[test]
fn nested_loops() {
    let levels = SIZE / 10;
    let unroll = "tir.transform.UnrollLoop";
    check("nested loops of one iteration", unroll, 8 * levels, 1);
}

#[test]
fn outputs_and_regions_round_trip_through_onnx() {
    for shape in ["results returned", "nested regions"] {
        let module = model(shape);
        let output = passdock_onnx::write(&module, Default::default()).expect("a model");
        let mut bytes = Vec::new();
        output.write_to(&mut bytes).expect("bytes in memory");
        let again = passdock_onnx::read_bytes("model.onnx".as_ref(), bytes).expect("the model");
        assert_eq!(again.op_count(), module.op_count());
    }
}
