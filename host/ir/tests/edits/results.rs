//! A region's results: what isn't said of them stays known.

use expect_test::{Expect, expect};
use passdock_abi::{TypeId, ValueId};
use passdock_ir::{NewPort, text, verify};

/// The results in the header after a body gives out these values, with these names.
#[track_caller]
fn check(values: &[&str], names: &[&str], expected: Expect) {
    let source = r#"module {
  fn @f(%x: f32[2], %s: f32[3]) -> (%p: f32[n], %q: f32[2], _) {
    %a = onnx.Relu(%x) : f32[2]
    %b = onnx.Neg(%a) : f32[2]
    return %a, %b, %b
  }
}
"#;
    let mut module = text::parse(source).expect("it can be read");
    let name = module.symbols().intern("f");
    let f = module.function_mut(name).expect("is there");
    let values: Vec<ValueId> = values.iter().map(|name| crate::value(f, name)).collect();
    let ports = names.iter().chain(&[""; 8]).take(values.len());
    let ty = TypeId::NONE;
    let ports: Vec<NewPort<'_>> = ports.map(|name| NewPort { name, ty }).collect();
    f.set_results(f.body(), &values, &ports).expect("visible");
    assert_eq!(verify::verify(f), Ok(()));
    let text = text::print(&module);
    let header = text
        .lines()
        .nth(1)
        .and_then(|line| line.split(" -> ").nth(1));
    expected.assert_eq(header.expect("a header"));
}

#[test]
fn other_values_take_the_places_of_results() {
    check(
        &["a", "b", "b"],
        &[],
        expect!["(%p: f32[n], %q: f32[2], _) {"],
    );
    check(
        &["b", "a", "x"],
        &[],
        expect!["(%p: f32[n], %q: f32[2], _) {"],
    );
    check(
        &["b", "a", "x"],
        &["r"],
        expect!["(%r: f32[n], %q: f32[2], _) {"],
    );
    // What is declared of the old value and isn't true of the new one isn't said of it.
    check(
        &["s", "s", "s"],
        &[],
        expect!["(%p: f32[n], %q: f32[3], _) {"],
    );
}

#[test]
fn more_or_fewer_results_are_known_by_their_values() {
    check(&["b"], &[], expect!["(%q: f32[2]) {"]);
    check(&["b", "b"], &[], expect!["(%q: f32[2], _) {"]);
    check(
        &["x", "b", "a", "b", "b"],
        &[],
        expect!["(_, %q: f32[2], %p: f32[n], _, _) {"],
    );
}
