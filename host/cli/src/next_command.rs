//! The command to type next, where one is known: it looks for what another one found wrong.

use std::path::Path;

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
    choices(&args.passes, &mut words);
    if args.allow_growth {
        words.push("--allow-growth".to_owned());
    }
    words.push("--check numerics".to_owned());
    format!("{before}`{}` names the pass.", words.join(" "))
}

/// The words that choose the same passes.
fn choices(args: &PassArgs, words: &mut Vec<String>) {
    if !args.passes.is_empty() {
        words.push(format!("--passes {}", shell_word(&args.passes.join(","))));
    }
    words.extend(args.opt_level.map(|level| format!("-O{level}")));
    let named = [
        ("--require", &args.require),
        ("--disable", &args.disable),
        ("--disable-rule", &args.disable_rule),
        ("--config", &args.config),
    ];
    for (flag, values) in named {
        words.extend(
            values
                .iter()
                .map(|value| format!("{flag} {}", shell_word(value))),
        );
    }
    let numbers = [
        ("--rewrite-limit", args.rewrite_limit.map(|n| n.to_string())),
        ("--raise-opset", args.raise_opset.map(|n| n.to_string())),
    ];
    for (flag, number) in numbers {
        words.extend(number.map(|number| format!("{flag} {number}")));
    }
    let files = [
        ("--plugin", &args.plugins.plugin),
        ("--plugin-dir", &args.plugins.plugin_dir),
    ];
    for (flag, paths) in files {
        let paths = paths.iter().map(|path| shell_word(&path.to_string_lossy()));
        words.extend(paths.map(|path| format!("{flag} {path}")));
    }
}

/// Tells of the command where the results of the run differ.
pub(crate) fn tell(diagnostics: &mut [Diagnostic], command: &str) {
    let about = diagnostics.iter_mut().find(|said| said.code == "numerics");
    if let Some(difference) = about {
        difference.help.get_or_insert_with(|| command.to_owned());
    }
}
