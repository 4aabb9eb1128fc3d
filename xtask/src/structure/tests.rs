//! Small crates, and the arrows that they have.

use super::{Structure, of_text};

/// The arrows of a crate but for those of its root: `from:line path > to`.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let structure = of_text(files);
    let short = |file: usize| structure.files[file].path.trim_start_matches("krate/src/");
    let arrows = structure
        .arrows
        .iter()
        .filter(|arrow| !structure.files[arrow.from].is_root);
    arrows
        .map(|arrow| {
            format!(
                "{}:{} {} > {}",
                short(arrow.from),
                arrow.line,
                arrow.path,
                short(arrow.to)
            )
        })
        .collect()
}

/// The arrows that code in `user.rs` has to other files, all of which can be named.
fn of_code(code: &str) -> Vec<String> {
    let arrows = arrows(&[
        (
            "lib.rs",
            "mod user;\nmod facade;\nmod a;\n#[macro_use]\nmod macros;\npub struct Root;",
        ),
        ("user.rs", code),
        (
            "facade.rs",
            "pub use crate::a::{Thing, Thing as Other, deep}; pub use crate::a::deep::*; pub use std::fmt;",
        ),
        (
            "a/mod.rs",
            "pub mod deep;\npub struct Thing; pub fn make() {} pub trait Do {} pub enum Sort { One }",
        ),
        (
            "a/deep.rs",
            "pub struct Inner; pub const NUMBER: u8 = 0; pub fn inner() {}",
        ),
        (
            "macros.rs",
            "macro_rules! local { () => { $crate::a::make() } }\n#[macro_export]\nmacro_rules! shared { () => {} }\n",
        ),
    ]);
    let of_user = arrows
        .iter()
        .filter_map(|arrow| arrow.strip_prefix("user.rs:"));
    of_user.map(str::to_owned).collect()
}

#[test]
fn paths_count_wherever_they_stand() {
    for (code, expected) in [
        ("use crate::a::Thing;", "1 crate::a::Thing > a/mod.rs"),
        (
            "\nfn f() { crate::a::make(); }",
            "2 crate::a::make > a/mod.rs",
        ),
        (
            "fn f(x: super::a::Thing) {}",
            "1 super::a::Thing > a/mod.rs",
        ),
        (
            "mod inner { fn f() { super::super::a::make(); } }",
            "1 super::super::a::make > a/mod.rs",
        ),
        (
            "const A: &[u8] = &[self::super::a::deep::NUMBER];",
            "1 self::super::a::deep::NUMBER > a/deep.rs",
        ),
        (
            "fn f(x: u8) { match x { crate::a::deep::NUMBER => {} _ => {} } }",
            "1 crate::a::deep::NUMBER > a/deep.rs",
        ),
        ("struct S<T: crate::a::Do>(T);", "1 crate::a::Do > a/mod.rs"),
        ("impl crate::a::Do for u8 {}", "1 crate::a::Do > a/mod.rs"),
        (
            "fn f() -> Vec<Option<crate::a::Thing>> { Vec::new() }",
            "1 crate::a::Thing > a/mod.rs",
        ),
        (
            "fn f() { let x = crate::a::Sort::One; }",
            "1 crate::a::Sort::One > a/mod.rs",
        ),
        (
            "fn f() { <u8 as crate::a::Do>::go(); }",
            "1 crate::a::Do::go > a/mod.rs",
        ),
        (
            "#[serde(with = \"crate::a::deep\")]\nstruct S;",
            "1 crate::a::deep > a/deep.rs",
        ),
        (
            "#[derive(crate::a::Do)]\nstruct S;",
            "1 crate::a::Do > a/mod.rs",
        ),
        ("fn f(x: crate::Root) {}", "1 crate::Root > lib.rs"),
        ("fn f() { use crate::a::*; }", "1 crate::a > a/mod.rs"),
    ] {
        assert_eq!(of_code(code), [expected], "{code}");
    }
}

#[test]
fn tokens_of_macros_count() {
    for (code, expected) in [
        (
            "fn f() { println!(\"{}\", crate::a::make()); }",
            "1 crate::a::make > a/mod.rs",
        ),
        (
            "fn f() { vec![Some([super::a::deep::NUMBER])]; }",
            "1 super::a::deep::NUMBER > a/deep.rs",
        ),
        (
            "macro_rules! m { ($x:expr) => { $crate::a::deep::inner($x) } }",
            "1 crate::a::deep::inner > a/deep.rs",
        ),
        (
            "items! { use crate::a::{Thing}; }",
            "1 crate::a::Thing > a/mod.rs",
        ),
        ("fn f() { local!(); }", "1 local > macros.rs"),
        (
            "fn f() { crate::shared!(); }",
            "1 crate::shared > macros.rs",
        ),
    ] {
        assert_eq!(of_code(code), [expected], "{code}");
    }
    let not_paths =
        "use crate::a::*; fn f() { m!(x.make(), $Thing, 'Thing, <X>::Thing, a != b, ::std::fmt); }";
    assert_eq!(of_code(not_paths), ["1 crate::a > a/mod.rs"]);
}

#[test]
fn reexports_are_seen_through() {
    for (code, expected) in [
        (
            "use crate::facade::Thing;",
            "1 crate::facade::Thing > a/mod.rs",
        ),
        (
            "use crate::facade::Other as Third;",
            "1 crate::facade::Other > a/mod.rs",
        ),
        (
            "fn f() { crate::facade::deep::inner(); }",
            "1 crate::facade::deep::inner > a/deep.rs",
        ),
        (
            "use crate::facade::Inner;",
            "1 crate::facade::Inner > a/deep.rs",
        ),
    ] {
        assert_eq!(of_code(code), [expected], "{code}");
    }
    assert!(of_code("use crate::facade::fmt::Write;").is_empty());
    let chain = arrows(&[
        ("lib.rs", "mod user; mod a; pub use a::Second as Third;"),
        ("user.rs", "use crate::Third;"),
        ("a/mod.rs", "mod b; pub(crate) use b::First as Second;"),
        ("a/b.rs", "mod c; pub use self::c::*;"),
        ("a/b/c.rs", "pub struct First;"),
    ]);
    assert_eq!(
        chain,
        [
            "user.rs:1 crate::Third > a/b/c.rs",
            "a/mod.rs:1 b::First > a/b/c.rs",
            "a/b.rs:1 self::c > a/b/c.rs",
        ]
    );
}

#[test]
fn names_brought_in_lead_where_they_come_from() {
    assert_eq!(
        of_code("use crate::a::deep as d;\nfn f() { d::inner(); }"),
        ["1 crate::a::deep > a/deep.rs", "2 d::inner > a/deep.rs"]
    );
    assert_eq!(
        of_code("use crate::facade::*;\nfn f(x: Inner) { inner(); let inner = 1; g(inner); }"),
        ["1 crate::facade > facade.rs", "2 Inner > a/deep.rs"]
    );
    assert_eq!(
        of_code("use crate::facade::*;\nfn f() { inner(); }")[1],
        "2 inner > a/deep.rs"
    );
    assert_eq!(
        of_code("use krate::a::Thing;"),
        ["1 krate::a::Thing > a/mod.rs"]
    );
    assert_eq!(
        of_code("use ::krate::a::Thing;"),
        ["1 krate::a::Thing > a/mod.rs"]
    );
    for elsewhere in [
        "use serde::a::Thing;",
        "use ::serde::a::Thing;",
        "fn f(a: u8) { a + Self::b; self.a; }",
    ] {
        assert!(of_code(elsewhere).is_empty(), "{elsewhere}");
    }
}

#[test]
fn a_child_module_is_used_by_a_bare_path_and_not_by_its_declaration() {
    let crate_with = |code: &str| {
        arrows(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", &format!("mod child; {code}")),
            ("a/child.rs", "pub fn f() {}"),
        ])
    };
    assert!(crate_with("pub(super) fn g() {}").is_empty());
    assert_eq!(
        crate_with("fn g() { child::f(); }"),
        ["a/mod.rs:1 child::f > a/child.rs"]
    );
}

#[test]
fn items_that_macros_make_are_where_the_macro_is_called() {
    let arrows = arrows(&[
        ("lib.rs", "mod user; mod a;"),
        ("user.rs", "use crate::a::Made; use crate::a::unseen;"),
        (
            "a.rs",
            "use elsewhere::*; options! { /// It.\n pub struct Made { size: u8 = 3 } }",
        ),
    ]);
    assert_eq!(arrows, ["user.rs:1 crate::a::Made > a.rs"]);
    let nothing_else = self::arrows(&[
        ("lib.rs", "mod user; mod a;"),
        ("user.rs", "use crate::a::unseen;"),
        ("a.rs", "make! {}"),
    ]);
    assert_eq!(nothing_else, ["user.rs:1 crate::a::unseen > a.rs"]);
}

#[test]
fn tests_are_no_part_of_it() {
    let code = "\
#[cfg(test)]
use crate::a::Thing;
#[cfg(all(unix, test))]
mod inner { use crate::a::Thing; }
#[test]
fn f() { crate::a::make(); }
struct S;
impl S {
    #[cfg(test)]
    fn g() { crate::a::make(); }
}
fn h() {
    #[cfg(test)]
    crate::a::make();
}
#[cfg(test)] mod tests { use crate::a::Thing; }
#[cfg(not(test))]
use crate::a::deep;
";
    assert_eq!(of_code(code), ["18 crate::a::deep > a/deep.rs"]);
    let structure = of_text(&[
        (
            "lib.rs",
            "mod a; #[cfg(test)] mod checks; #[cfg(test)] mod tests;",
        ),
        ("a.rs", code),
        ("tests/mod.rs", "use crate::a;"),
    ]);
    let sizes = structure
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.lines));
    assert_eq!(
        sizes.collect::<Vec<_>>(),
        [("krate/src/lib.rs", 0), ("krate/src/a.rs", 7)]
    );
}

fn folders(structure: &Structure) -> Vec<(&str, &str)> {
    structure
        .files
        .iter()
        .map(|file| {
            (
                file.path.trim_start_matches("krate/src/"),
                file.folder.as_str(),
            )
        })
        .collect()
}

#[test]
fn a_file_beside_a_folder_belongs_to_it_and_a_sub_folder_is_its_own() {
    let structure = of_text(&[
        ("lib.rs", "mod a; mod b; mod plain;"),
        ("a/mod.rs", "pub mod sub; pub struct A;"),
        ("a/sub/mod.rs", "use super::A; pub struct Sub;"),
        ("b.rs", "mod c; #[path = \"odd.rs\"] mod d;"),
        ("b/c.rs", "use crate::a::sub::Sub;"),
        ("odd.rs", ""),
        ("plain.rs", "#[cfg(test)] mod tests;"),
    ]);
    assert_eq!(
        folders(&structure),
        [
            ("lib.rs", "src"),
            ("a/mod.rs", "a"),
            ("a/sub/mod.rs", "a/sub"),
            ("b.rs", "b"),
            ("b/c.rs", "b"),
            ("odd.rs", "src"),
            ("plain.rs", "src"),
        ]
    );
    let graph = structure.between_folders();
    let edges: Vec<_> = graph.edges().map(|(from, to, _)| (from, to)).collect();
    assert_eq!(edges, [("a/sub", "a"), ("b", "a/sub")]);
    assert_eq!(graph.layers(), [vec!["a", "src"], vec!["a/sub"], vec!["b"]]);
}

#[test]
fn what_a_root_uses_is_no_arrow_and_a_sub_folder_closes_a_circle_with_its_parent() {
    let graph_of = |parent: &str| {
        let structure = of_text(&[
            ("lib.rs", "mod a; pub use a::A;\npub struct Root;"),
            ("a/mod.rs", parent),
            ("a/sub/mod.rs", "use crate::a::A; pub fn f() {}"),
        ]);
        let graph = structure.between_folders();
        graph
            .circles()
            .iter()
            .map(|circle| graph.shortest(circle).join(" "))
            .collect::<Vec<_>>()
    };
    assert!(graph_of("mod sub; pub struct A(crate::Root);").is_empty());
    assert_eq!(
        graph_of("mod sub; pub struct A; fn f() { sub::f(); }"),
        ["a a/sub"]
    );
    assert_eq!(
        graph_of("mod sub; pub struct A; pub use sub::f;"),
        ["a a/sub"]
    );
}
