//! Reads and writes all models of a directory in several ways, for a checker that knows ONNX.
//!
//! `passdock-corpus IN OUT` reads each `IN/x.onnx` once and writes `OUT/x.KIND.onnx` for each of [`KINDS`].
//! `OUT/report.json` has the error of each model and kind, or `null`. It also has the kind `same`, which has no file:
//! the unchanged module has the same bytes, before and after passes that find nothing to do.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use passdock::{
    Module, PassContext, PassInfo, PassRef, Registry, Sequential, Verify, create_function_pass,
    model_file,
};
use passdock_onnx::EncodeOptions;
use passdock_plugin_api::{EditError, Function, OpBuilder, OpId};
use passdock_tests::{PASSES, standard_registry};

/// Encoded again; converted to text and back; with one op edited in several ways; optimized.
const KINDS: [(&str, Make); 7] = [
    ("fresh", fresh),
    ("text", as_text),
    ("renamed", renamed),
    ("attribute", with_attribute),
    ("value", with_renamed_value),
    ("replaced", replaced),
    ("optimized", optimized),
];
/// More threads would only wait for files.
const THREADS: usize = 2;

type Make = fn(&Work, &Module, &Path) -> Result<(), String>;
/// The errors, by kind.
type Findings = BTreeMap<&'static str, Option<String>>;

/// The state that all models share.
struct Work {
    registry: Registry,
    context: PassContext,
    out: PathBuf,
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [input, out] = &arguments[..] else {
        return Err("usage: passdock-corpus IN OUT".into());
    };
    let mut models = models_in(Path::new(input)).map_err(|error| format!("{input}: {error}"))?;
    models.sort();
    let findings = Mutex::new(BTreeMap::new());
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), String> {
        let work = Work::new(Path::new(out))?;
        while let Some(model) = models.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = work.model(model);
            if let Ok(mut all) = findings.lock() {
                all.insert(name_of(model), found);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .map_err(|_| "a thread ended before its time".to_owned())?
        })
    })?;
    let report = serde_json::to_string(&findings).map_err(|error| error.to_string())?;
    fs::write(Path::new(out).join("report.json"), report).map_err(|error| error.to_string())
}

fn models_in(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let files = fs::read_dir(directory)?.map(|file| Ok(file?.path()));
    let models = files.filter(|path: &std::io::Result<PathBuf>| {
        path.as_ref()
            .map_or(true, |path| path.extension().is_some_and(|e| e == "onnx"))
    });
    models.collect()
}

fn name_of(model: &Path) -> String {
    let name = model.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

impl Work {
    fn new(out: &Path) -> Result<Work, String> {
        let registry = standard_registry();
        let context = PassContext::builder()
            .registry(&registry)
            .opt_level(2)
            .verify(Verify::All)
            .jobs(1)
            .on_diagnostic(|_| ())
            .build();
        Ok(Work {
            registry,
            context: context.map_err(|error| error.to_string())?,
            out: out.to_owned(),
        })
    }

    /// Runs all kinds on a model.
    fn model(&self, path: &Path) -> Findings {
        let mut findings = Findings::new();
        let read = guarded(|| model_file::read(path).map_err(whole));
        let module = match read {
            Ok(module) => module,
            Err(why) => {
                findings.insert("read", Some(why));
                return findings;
            }
        };
        findings.insert("same", guarded(|| self.same(&module, path)).err());
        for (kind, make) in KINDS {
            let out = self.out.join(format!("{}.{kind}.onnx", name_of(path)));
            findings.insert(kind, guarded(|| make(self, &module, &out)).err());
        }
        findings
    }

    fn same(&self, module: &Module, path: &Path) -> Result<(), String> {
        let given = fs::read(path).map_err(|error| error.to_string())?;
        let mut passes = vec![create_function_pass(
            PassInfo::new("tests.transform.LookAround"),
            |f, _| {
                f.iter().for_each(|op| _ = f.name(op));
                Ok(())
            },
        )];
        passes.push(self.pass("tir.transform.UnrollLoop")?);
        let after = self.run(passes, module)?;
        for module in [module, &after] {
            let mut bytes = Vec::new();
            let encoded = passdock_onnx::write(module, EncodeOptions::default());
            let encoded = encoded.map_err(|error| error.to_string())?;
            encoded
                .write_to(&mut bytes)
                .map_err(|error| error.to_string())?;
            if bytes != given {
                let same = bytes.iter().zip(&given).take_while(|(a, b)| a == b);
                let (at, len) = (same.count(), given.len());
                return Err(format!("byte {at} of {len} differs"));
            }
        }
        Ok(())
    }

    fn pass(&self, name: &str) -> Result<PassRef, String> {
        self.registry.get_pass(name).map_err(whole)
    }

    fn run(&self, passes: Vec<PassRef>, module: &Module) -> Result<Module, String> {
        let sequential = Sequential::new(passes).into_pass();
        sequential
            .call_in(module.clone(), &self.context)
            .map_err(whole)
    }

    /// Edits the op in the middle of the main graph, or of the first function with ops.
    fn edit(
        &self,
        module: &Module,
        out: &Path,
        edit: impl Fn(&mut Function, OpId) -> Result<(), EditError> + Send + Sync + 'static,
    ) -> Result<(), String> {
        let Some((function, op)) = middle(module) else {
            return Ok(());
        };
        let pass = create_function_pass(PassInfo::new("tests.transform.Edit"), move |f, _| {
            if f.function_name() == function {
                edit(f, op)?;
            }
            Ok(())
        });
        save(&self.run(vec![pass], module)?, out, false)
    }
}

/// Returns the op to edit. It has to be a node, which the `Constant` of a sparse initializer isn't.
fn middle(module: &Module) -> Option<(String, OpId)> {
    module.functions().find_map(|function| {
        let ops: Vec<OpId> = function
            .walk(function.body())
            .filter(|&op| {
                let name = function.text(function.op(op).name);
                !matches!(name, "return" | "yield" | "onnx.Constant")
            })
            .collect();
        let op = *ops.get(ops.len() / 2)?;
        Some((function.text(function.name()).to_owned(), op))
    })
}

fn fresh(_: &Work, module: &Module, out: &Path) -> Result<(), String> {
    save(module, out, true)
}

fn as_text(_: &Work, module: &Module, out: &Path) -> Result<(), String> {
    let (text, second) = (out.with_extension("ir"), out.with_extension("2.ir"));
    save(module, &text, false)?;
    // External data is relative to the model, not to the text.
    let options = model_file::ReadOptions { outside_data: true };
    let again = model_file::read_with(&text, options).map_err(whole)?;
    save(&again, &second, false)?;
    let texts = [text, second].map(fs::read_to_string);
    if !matches!(&texts, [Ok(text), Ok(second)] if text == second) {
        return Err("what was read from the text prints another text".into());
    }
    save(&again, out, false)
}

/// Renames a node: a minimal change.
fn renamed(_: &Work, module: &Module, out: &Path) -> Result<(), String> {
    let mut module = module.clone();
    let Some((name, op)) = middle(&module) else {
        return Ok(());
    };
    let function = module.symbols().find(&name);
    let function = function.and_then(|name| module.function_mut(name));
    let function = function.ok_or("the function is missing")?;
    let loc = function.add_name_loc("passdock/renamed");
    function
        .set_loc(op, loc)
        .map_err(|error| error.to_string())?;
    save(&module, out, false)
}

fn with_attribute(work: &Work, module: &Module, out: &Path) -> Result<(), String> {
    work.edit(module, out, |f, op| f.set_attr(op, "passdock_corpus", 1))
}

/// Renames a value and all its uses.
fn with_renamed_value(work: &Work, module: &Module, out: &Path) -> Result<(), String> {
    work.edit(module, out, |f, op| match f.result(op, 0).option() {
        Some(value) => f.set_value_name(value, "passdock/value"),
        None => Ok(()),
    })
}

/// Replaces an op with an equal new one.
fn replaced(work: &Work, module: &Module, out: &Path) -> Result<(), String> {
    work.edit(module, out, |f, op| {
        let operands: Vec<_> = f.operands(op).collect();
        let new = OpBuilder::new(f.symbol(op))
            .operands(operands)
            .take_attrs()
            .take_regions();
        f.replace_op(op, new).map(|_| ())
    })
}

fn optimized(work: &Work, module: &Module, out: &Path) -> Result<(), String> {
    let passes: Result<Vec<PassRef>, String> = PASSES.iter().map(|name| work.pass(name)).collect();
    save(&work.run(passes?, module)?, out, false)
}

fn save(module: &Module, path: &Path, drop_spans: bool) -> Result<(), String> {
    let options = model_file::WriteOptions {
        drop_spans,
        temporary: true,
        ..Default::default()
    };
    model_file::write(module, path, options).map_err(whole)
}

fn whole(error: passdock::PassError) -> String {
    error.to_string()
}

/// Converts a panic to an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err("a panic".into()))
}
