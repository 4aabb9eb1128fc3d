//! Visibility of edits in snapshots, threads and modules.

use expect_test::expect;
use passdock_abi::{SymbolId, TypeId};
use passdock_ir::{
    Entity, Extras, Function, Module, ModuleSource, NewOp, Position, Symbols, text, verify,
};

use crate::{SOURCE, function, new_op, op, source};

#[test]
fn snapshot_is_not_changed_by_edits() {
    let mut module = source();
    let snapshot = module.clone();
    assert!(module.is_same(&snapshot));
    let f = function(&mut module, "f");
    let shape = op(f, "onnx.Shape");
    f.erase_op(shape).expect("unused");
    assert_eq!(text::print(&snapshot), SOURCE);
    assert_ne!(text::print(&module), SOURCE);
    // Only the changed function was copied, and its weights weren't.
    let same = |name: &str| {
        let (a, b) = (module.function_named(name), snapshot.function_named(name));
        std::sync::Arc::ptr_eq(a.expect("a function"), b.expect("a function"))
    };
    assert!(!same("f") && same("g"));
    let data = |module: &Module| {
        let f = module.function_named("f").expect("a function").clone();
        let (id, _) = f.live_constants().next().expect("a constant");
        std::sync::Arc::as_ptr(f.constant_data(id))
    };
    assert_eq!(data(&module), data(&snapshot));
}

#[test]
fn module_properties_count_as_changes() {
    let before = source();
    let pairs = |value: &str| vec![("key".to_owned(), value.to_owned())];
    let mut named = before.clone();
    named.set_metadata(pairs("a"));
    assert!(!named.is_same(&before));
    let mut other = named.clone();
    other.set_metadata(pairs("b"));
    assert!(!other.is_same(&named));
    other.set_metadata(pairs("a"));
    assert!(other.is_same(&named));

    let mut documented = before.clone();
    let doc = Some("what it is".into());
    documented.set_extras(Extras {
        doc,
        ..Extras::default()
    });
    assert!(!documented.is_same(&before));
    documented.set_extras(Extras::default());
    assert!(documented.is_same(&before));

    let mut from_a_file = before.clone();
    from_a_file.set_source(Some(std::sync::Arc::new(File)));
    assert!(!from_a_file.is_same(&before) && from_a_file.is_same(&from_a_file.clone()));
}

struct File;

impl ModuleSource for File {
    fn metadata<'a>(&'a self, _: &Function, _: Entity) -> Vec<(&'a str, &'a str)> {
        Vec::new()
    }
}

#[test]
fn two_threads_edit_two_functions() {
    let mut module = source();
    let mut functions: Vec<Function> = module.functions().map(|f| (**f).clone()).collect();
    std::thread::scope(|scope| {
        for f in &mut functions {
            scope.spawn(move || {
                for at in 0..500 {
                    let new = NewOp {
                        operands: &[f.args(f.body()).next().expect("a parameter")],
                        result_types: &[TypeId::NONE],
                        ..new_op(f, &format!("t.op{}", at % 7))
                    };
                    let op = f.create_op(&new, Position::end(f.body())).expect("an op");
                    let result = f.result(op, 0).expect("one");
                    f.set_name(result, &format!("name{at}"))
                        .expect("a live value");
                }
            });
        }
    });
    for f in functions {
        module.replace(f).expect("an existing name");
    }
    verify::verify_module(&module).expect("valid after edits");
    assert_eq!(module.op_count(), 7 + 500 * 2);
}

#[test]
fn functions_of_other_modules_are_rejected() {
    let mut module = source();
    let f = (**module.function_named("f").expect("a function")).clone();
    let twice = module.insert(f).unwrap_err();
    let foreign = Function::new(
        Symbols::new(),
        passdock_abi::FunctionKind::GRAPH,
        SymbolId(0),
    );
    let symbols = module.insert(foreign).unwrap_err();
    let name = module.symbols().intern("h");
    let missing = module.remove(name).unwrap_err();
    expect![[r#"
        the module already has a function `@f`
        the function uses the symbol table of another module
        the module has no function `@h`"#]]
    .assert_eq(&format!("{twice}\n{symbols}\n{missing}"));
}
