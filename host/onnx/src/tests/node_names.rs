//! Names of nodes: they follow from the ops' locations and are unique.

use expect_test::expect;
use passdock_abi::{LocId, OpId};
use passdock_ir::{NewOp, Position};

use super::build::{graph, model, node};
use super::{bytes_of, fresh_bytes_of, main_of, op, read, value};

#[test]
fn fused_node_lists_its_sources() {
    let text = |name: &str| {
        format!(
            "module {{ fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {{
               %y = onnx.Relu(%x) : f32[2] loc({name}) return %y }} }}"
        )
    };
    let module = passdock_ir::text::parse(&text("\"conv\", \"bn\", \"conv\"")).unwrap();
    let written = bytes_of(&module);
    let print = |bytes: &[u8]| {
        let module = crate::detach(&read(bytes).unwrap()).unwrap();
        let text = passdock_ir::text::print(&module);
        let lines = text.lines().skip_while(|line| !line.contains("Relu"));
        lines
            .take_while(|line| !line.contains("return"))
            .map(|line| line.trim().to_owned() + "\n")
            .collect::<String>()
    };
    expect![[r#"
        %y = onnx.Relu(%x) : f32[2] loc("conv")
        meta {"passdock.merged_from" = "conv\nbn"}
    "#]]
    .assert_eq(&print(&written));
    // Merged a second time.
    let mut module = read(&written).unwrap();
    let f = main_of(&mut module);
    let relu = op(f, "y");
    let add = f.add_name_loc("add");
    let loc = f.fuse_locs(&[f.op(relu).loc, add]);
    f.set_loc(relu, loc).unwrap();
    expect![[r#"
        %y = onnx.Relu(%x) : f32[2] loc("conv")
        meta {"passdock.merged_from" = "conv\nbn\nadd"}
    "#]]
    .assert_eq(&print(&bytes_of(&module)));
    // Of many sources, only the first ones are listed.
    let fused: Vec<String> = (0..100).map(|at| format!("\"n{at}\"")).collect();
    let fused = passdock_ir::text::parse(&text(&fused.join(", "))).unwrap();
    let printed = print(&bytes_of(&fused));
    assert!(printed.contains("\\nn63\"}"), "{printed}");
    // A single source is only the node's name.
    let single = passdock_ir::text::parse(&text("\"a\"")).unwrap();
    assert!(!print(&bytes_of(&single)).contains("meta"));
}

/// Returns the names of the nodes of a model.
fn names(bytes: &[u8]) -> Vec<String> {
    let module = read(bytes).unwrap();
    let f = module.function_named("main").unwrap();
    let name = |op: OpId| match f.loc(f.op(op).loc) {
        Some(loc) => f.text(loc.name).to_owned(),
        None => String::new(),
    };
    let terminator = f.terminator(f.body());
    let ops = f.ops_in(f.body()).filter(|op| Some(*op) != terminator);
    ops.map(name).collect()
}

#[test]
fn nodes_with_equal_locations_get_unique_names() {
    let list = [
        node("a = Relu(x) #first"),
        node("b = Neg(a) #second"),
        node("c = Abs(b) #second_2"),
        node("y = Abs(c)"),
    ];
    let bytes = model(10, &graph(&list, &["x"], &["y"])).0;
    let mut module = read(&bytes).unwrap();
    let f = main_of(&mut module);
    let (first, second) = (op(f, "a"), op(f, "b"));
    // Before the node whose name they would have, and after it.
    for (at, from) in [(first, second), (op(f, "y"), second), (op(f, "y"), first)] {
        let name = f.op(from).name;
        let ty = f.value(value(f, "x")).ty;
        let new = NewOp {
            operands: &[value(f, "x")],
            result_types: &[ty],
            loc: f.op(from).loc,
            ..NewOp::new(name)
        };
        f.create_op(&new, Position::before(at)).unwrap();
    }
    let written = bytes_of(&module);
    let expected = [
        "second_3", "first", "second", "second_2", "second_4", "first_2", "",
    ];
    assert_eq!(names(&written), expected);
    assert_eq!(names(&fresh_bytes_of(&module)), expected);
}

#[test]
fn op_with_the_result_inherits_the_node_name() {
    let list = [node("a = Relu(x) #first"), node("y = Abs(a)")];
    let bytes = model(10, &graph(&list, &["x"], &["y"])).0;
    let mut module = read(&bytes).unwrap();
    let f = main_of(&mut module);
    let (old, x) = (op(f, "a"), value(f, "x"));
    let (name, loc, ty) = (f.op(old).name, f.op(old).loc, f.value(x).ty);
    let mut operand = x;
    for _ in 0..2 {
        let new = NewOp {
            operands: &[operand],
            result_types: &[ty],
            loc,
            ..NewOp::new(name)
        };
        let created = f.create_op(&new, Position::before(old)).unwrap();
        operand = f.results(created).next().unwrap();
    }
    f.replace_op_with(old, &[operand]).unwrap();
    assert_eq!(names(&bytes_of(&module)), ["first_2", "first", ""]);
}

#[test]
fn duplicate_node_names_of_the_file_are_kept() {
    let list = [
        node("a = Relu(x) #same"),
        node("b = Neg(a) #same"),
        node("y = Abs(b) #same"),
    ];
    let bytes = model(10, &graph(&list, &["x"], &["y"])).0;
    let mut module = read(&bytes).unwrap();
    let f = main_of(&mut module);
    let (neg, x) = (op(f, "b"), value(f, "x"));
    f.set_operand(neg, 0, x).unwrap();
    assert_eq!(names(&bytes_of(&module)), ["same"; 3]);
    // A copy of a node gets another name.
    let f = main_of(&mut module);
    let (name, loc) = (f.op(neg).name, f.op(neg).loc);
    let ty = f.value(x).ty;
    let new = NewOp {
        operands: &[x],
        result_types: &[ty],
        loc,
        ..NewOp::new(name)
    };
    f.create_op(&new, Position::before(neg)).unwrap();
    assert!(loc != LocId::NONE);
    assert_eq!(
        names(&bytes_of(&module)),
        ["same", "same_2", "same", "same"]
    );
}
