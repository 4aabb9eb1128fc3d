//! Properties of the standard passes on real models.

use std::fs;
use std::path::Path;

use passdock::{PassContext, Registry, Verify};
use passdock_filetests::CaseFile;
use passdock_ir::Module;
use passdock_tests::{PASSES, models, standard_registry};

/// Runs passes in this order with full verification, and returns the text of the result.
#[track_caller]
fn run(registry: &Registry, model: &std::path::Path, order: &[&str], jobs: usize) -> Vec<u8> {
    let context = PassContext::builder()
        .registry(registry)
        .opt_level(3)
        .verify(Verify::All)
        .jobs(jobs)
        .on_diagnostic(|_| ())
        .build()
        .expect("a plain context");
    let mut module = passdock_onnx::read(model).expect("a model");
    for name in order {
        let pass = registry.get_pass(name).expect("a standard pass");
        module = context
            .scope(|_| pass.call(module))
            .unwrap_or_else(|error| panic!("{} after {order:?}: {error}", model.display()));
    }
    let mut bytes = Vec::new();
    let options = passdock_onnx::EncodeOptions::default();
    let encoded = passdock_onnx::write(&module, options).expect("a model again");
    encoded.write_to(&mut bytes).expect("bytes in memory");
    bytes
}

/// Returns all permutations of the passes.
fn orders() -> Vec<Vec<&'static str>> {
    let mut orders = vec![Vec::new()];
    for pass in PASSES {
        let longer = |order: &Vec<&'static str>| {
            (0..=order.len())
                .map(|at| {
                    let mut longer = order.clone();
                    longer.insert(at, pass);
                    longer
                })
                .collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders
}

#[test]
fn passes_verify_in_any_order() {
    let registry = standard_registry();
    let orders = orders();
    assert_eq!(orders.len(), (1..=PASSES.len()).product::<usize>());
    let models = models();
    for order in &orders {
        run(&registry, &models[0], order, 1);
    }
    for model in &models[1..] {
        for order in orders.iter().step_by(17) {
            run(&registry, model, order, 1);
        }
    }
}

#[test]
fn result_is_independent_of_thread_count() {
    let registry = standard_registry();
    for model in models() {
        let one = run(&registry, &model, &PASSES, 1);
        assert!(
            one == run(&registry, &model, &PASSES, 3),
            "{}",
            model.display()
        );
    }
}

#[test]
fn standard_passes_reach_a_fixed_point() {
    let registry = standard_registry();
    for model in models() {
        let runs = |times: usize| run(&registry, &model, &PASSES.repeat(times), 1);
        assert!(runs(1) == runs(2), "{}", model.display());
    }
}

/// Returns the modules of the case files next to the standard passes.
fn sources() -> Vec<String> {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins");
    let mut pending = vec![plugins.join("relax/src"), plugins.join("tir/src")];
    let mut sources = Vec::new();
    while let Some(dir) = pending.pop() {
        for file in fs::read_dir(dir).expect("a directory").flatten() {
            if file.path().is_dir() {
                pending.push(file.path());
                continue;
            }
            if file
                .path()
                .extension()
                .is_none_or(|extension| extension != "ir")
            {
                continue;
            }
            let text = fs::read_to_string(file.path()).expect("a file of cases");
            let cases = CaseFile::parse(&text).expect("a file of cases").cases;
            sources.extend(cases.into_iter().map(|case| case.source));
        }
    }
    sources
}

#[test]
fn passes_are_idempotent() {
    let registry = standard_registry();
    let onnx = models().into_iter();
    let onnx = onnx.map(|path| passdock_onnx::read(&path).expect("a model"));
    let sources = sources();
    assert!(sources.len() > 100, "{} modules", sources.len());
    // Some of them are invalid on purpose.
    let text = sources
        .iter()
        .filter_map(|text| passdock_ir::text::parse(text).ok());
    let context = PassContext::builder()
        .registry(&registry)
        .opt_level(3)
        .on_diagnostic(|_| ())
        .build()
        .expect("a plain context");
    for module in onnx.chain(text) {
        for name in registry.pass_names() {
            let pass = registry.get_pass(&name).expect("a standard pass");
            // A later pass of a Sequential may enable an earlier one.
            if pass.as_sequential().is_some() {
                continue;
            }
            let run = |module: &Module| context.scope(|_| pass.call(module.clone()));
            let Ok(once) = run(&module) else {
                continue;
            };
            let twice = run(&once).expect("the pass succeeds again");
            let text = || passdock_ir::text::print(&once);
            assert!(twice.is_same(&once), "{name} again on {}", text());
        }
    }
}
