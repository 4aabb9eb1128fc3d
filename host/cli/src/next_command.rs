//! The command to type next, where one is known: it looks for what another one found wrong.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use passdock::Diagnostic;
use passdock::reproducer::shell_word;

use crate::args::{PassArgs, RunArgs};

/// What names the pass that changed the results of a run whose outputs were verified.
pub(crate) fn bisect(args: &RunArgs) -> String {
    let (pipeline, model) = match &args.inputs[..] {
        [pipeline, model] => (Some(pipeline), Some(model)),
        [model] => (None, Some(model)),
        _ => (None, None),
    };
    let shown = |path: &Path| shell_word(&path.to_string_lossy());
    let mut model = model.map_or("MODEL".to_owned(), |path| shown(path));
    let mut before = String::new();
    if !args.bind.is_empty() {
        // Only `run` binds.
        let mut bind = vec!["passdock run".to_owned(), model];
        model = "bound.onnx".to_owned();
        for binding in &args.bind {
            bind.push(format!("--bind {}", shell_word(binding)));
        }
        bind.push(format!("--passes InferType -o {model}"));
        before = format!("`{}`, then ", bind.join(" "));
    }
    let mut words = vec!["passdock bisect".to_owned()];
    words.extend(pipeline.map(|path| shown(path)));
    words.push(model);
    words.extend(choices(&args.passes));
    if args.allow_growth {
        words.push("--allow-growth".to_owned());
    }
    words.push("--check numerics".to_owned());
    format!("{before}`{}` names the pass.", words.join(" "))
}

/// The options that choose the same passes.
fn choices(args: &PassArgs) -> impl Iterator<Item = String> {
    let texts = |texts: &[String]| texts.to_vec();
    let number = |number: Option<i64>| number.iter().map(i64::to_string).collect();
    let paths = |paths: &[PathBuf]| {
        let paths = paths.iter().map(|path| path.to_string_lossy());
        paths.map(Cow::into_owned).collect()
    };
    let passes = (!args.passes.is_empty()).then(|| args.passes.join(","));
    let options: [(&str, Vec<String>); 10] = [
        ("--passes", passes.into_iter().collect()),
        ("-O", number(args.opt_level.map(i64::from))),
        ("--require", texts(&args.require)),
        ("--disable", texts(&args.disable)),
        ("--disable-rule", texts(&args.disable_rule)),
        ("--config", texts(&args.config)),
        (
            "--rewrite-limit",
            number(args.rewrite_limit.map(|limit| limit as i64)),
        ),
        ("--raise-opset", number(args.raise_opset)),
        ("--plugin", paths(&args.plugins.plugin)),
        ("--plugin-dir", paths(&args.plugins.plugin_dir)),
    ];
    options.into_iter().flat_map(|(flag, values)| {
        let option = move |value: String| format!("{flag} {}", shell_word(&value));
        values.into_iter().map(option)
    })
}

/// Tells of the command where the results of the run differ.
pub(crate) fn tell(diagnostics: &mut [Diagnostic], command: &str) {
    let about = diagnostics.iter_mut().find(|said| said.code == "numerics");
    if let Some(difference) = about {
        difference.help.get_or_insert_with(|| command.to_owned());
    }
}
