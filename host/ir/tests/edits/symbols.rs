//! Symbols that sizes are put in the place of, and parameters that become constants.

use expect_test::{Expect, expect};
use passdock_abi::{Dim, SymbolId};
use passdock_ir::{Edit, Function, text, verify};

use crate::support::changed;
use crate::{function, value};

const SOURCE: &str = r#"module {
  fn @f(%x: f32[n,m], %s: seq<f32[n*4]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[n+m]) {
    %a = acme.A(%x) {ty = type f32[m,7], tys = [type f32[n], type f32[]]} : f32[n*m,(n+2)/2@H]
    %b = acme.B(%a) {body = region} : f32[max(n,m)]
      region body(%p: f32[n]) -> (_: f32[m+-2]) {
        %q = acme.Q(%p)
        yield %q
      }
    %c = acme.C(%b) : f32[?]
    return %c
  }
}
"#;

#[track_caller]
fn check(edit: impl FnOnce(&mut Function) -> Edit, expected: Expect) {
    let mut module = text::parse(SOURCE).expect("it can be read");
    let before = text::print(&module);
    let f = function(&mut module, "f");
    let version = f.version();
    match edit(f) {
        Err(error) => {
            assert_eq!(f.version(), version, "a refused edit changes nothing");
            assert_eq!(text::print(&module), before);
            expected.assert_eq(&error.message);
        }
        Ok(()) => {
            assert_eq!(verify::verify_module(&module), Ok(()));
            expected.assert_eq(&changed(&before, &text::print(&module)));
        }
    }
}

fn sized(f: &Function, sizes: &[(&str, i64)]) -> Vec<(SymbolId, Dim)> {
    let symbol = |name| f.symbols().find(name).expect("a symbol");
    let sizes = sizes.iter();
    sizes
        .map(|&(name, size)| (symbol(name), Dim::constant(size)))
        .collect()
}

#[test]
fn sizes_go_everywhere() {
    check(
        |f| f.replace_symbols(&sized(f, &[("n", 4), ("m", 3)])),
        expect![[r#"
            @@ -1,6 +1,6 @@
             module {
            -  fn @f(%x: f32[n,m], %s: seq<f32[n*4]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[m+n]) {
            -    %a = acme.A(%x) {ty = type f32[m,7], tys = [type f32[n], type f32[]]} : f32[m*n,n/2+1]
            -    %b = acme.B(%a) {body = region} : f32[max(m,n)]
            -      region body(%p: f32[n]) -> (_: f32[m-2]) {
            +  fn @f(%x: f32[4,3], %s: seq<f32[16]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[7]) {
            +    %a = acme.A(%x) {ty = type f32[3,7], tys = [type f32[4], type f32[]]} : f32[12,3]
            +    %b = acme.B(%a) {body = region} : f32[4]
            +      region body(%p: f32[4]) -> (_: f32[1]) {
                     %q = acme.Q(%p)
        "#]],
    );
    check(
        |f| f.replace_symbols(&sized(f, &[("m", 6)])),
        expect![[r#"
            @@ -1,6 +1,6 @@
             module {
            -  fn @f(%x: f32[n,m], %s: seq<f32[n*4]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[m+n]) {
            -    %a = acme.A(%x) {ty = type f32[m,7], tys = [type f32[n], type f32[]]} : f32[m*n,n/2+1]
            -    %b = acme.B(%a) {body = region} : f32[max(m,n)]
            -      region body(%p: f32[n]) -> (_: f32[m-2]) {
            +  fn @f(%x: f32[n,6], %s: seq<f32[n*4]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[n+6]) {
            +    %a = acme.A(%x) {ty = type f32[6,7], tys = [type f32[n], type f32[]]} : f32[n*6,n/2+1]
            +    %b = acme.B(%a) {body = region} : f32[max(n,6)]
            +      region body(%p: f32[n]) -> (_: f32[4]) {
                     %q = acme.Q(%p)
        "#]],
    );
}

#[test]
fn symbols_change_places_at_once() {
    check(
        |f| {
            let (n, m) = (sized(f, &[("n", 0)])[0].0, sized(f, &[("m", 0)])[0].0);
            f.replace_symbols(&[(n, Dim::symbol(m)), (m, Dim::symbol(n))])
        },
        expect![[r#"
            @@ -1,6 +1,6 @@
             module {
            -  fn @f(%x: f32[n,m], %s: seq<f32[n*4]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[m+n]) {
            -    %a = acme.A(%x) {ty = type f32[m,7], tys = [type f32[n], type f32[]]} : f32[m*n,n/2+1]
            +  fn @f(%x: f32[m,n], %s: seq<f32[m*4]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[m+n]) {
            +    %a = acme.A(%x) {ty = type f32[n,7], tys = [type f32[m], type f32[]]} : f32[m*n,m/2+1]
                 %b = acme.B(%a) {body = region} : f32[max(m,n)]
            -      region body(%p: f32[n]) -> (_: f32[m-2]) {
            +      region body(%p: f32[m]) -> (_: f32[n-2]) {
                     %q = acme.Q(%p)
        "#]],
    );
}

#[test]
fn what_cant_be_is_refused() {
    check(
        |f| f.replace_symbols(&sized(f, &[("m", 1)])),
        expect!["A size of the result 0 of region1, of type f32[m-2], would be negative."],
    );
    check(
        |f| f.replace_symbols(&sized(f, &[("k", 3)])),
        expect!["The default of %d is of type f32[2] and would have to be of type f32[3]."],
    );
    check(
        |f| f.replace_symbols(&sized(f, &[("n", 1), ("n", 1)])),
        expect!["The symbol `n` would be replaced twice."],
    );
    check(
        |f| f.replace_symbols(&[(SymbolId(9999), Dim::constant(1))]),
        expect!["There is no symbol sym9999 to replace."],
    );
}

#[test]
fn the_symbols_are_those_of_types() {
    let mut module = text::parse(SOURCE).expect("it can be read");
    let f = function(&mut module, "f");
    let params = f.args(f.body()).map(|param| f.value(param).ty);
    let symbols = f.dim_symbols(params);
    let names: Vec<&str> = symbols.iter().map(|&id| f.text(id)).collect();
    assert_eq!(names, ["n", "m", "k"]);
}

#[test]
fn a_default_becomes_a_constant() {
    check(
        |f| f.freeze_args(&[value(f, "d")]),
        expect![[r#"
            @@ -1,3 +1,4 @@
             module {
            -  fn @f(%x: f32[n,m], %s: seq<f32[n*4]>, %d: f32[k] = const f32[2] [1.0, 2.0]) -> (%y: f32[m+n]) {
            +  fn @f(%x: f32[n,m], %s: seq<f32[n*4]>) -> (%y: f32[m+n]) {
            +    %d = const f32[2] [1.0, 2.0]
                 %a = acme.A(%x) {ty = type f32[m,7], tys = [type f32[n], type f32[]]} : f32[m*n,n/2+1]
        "#]],
    );
    check(
        |f| f.freeze_args(&[value(f, "x")]),
        expect!["%x isn't a parameter with a default."],
    );
    check(
        |f| f.freeze_args(&[value(f, "a")]),
        expect!["%a isn't a parameter with a default."],
    );
}
