//! `passdock bisect`: finds the pass that breaks a model.

use std::path::{Path, PathBuf};

use passdock::PassError;
use passdock::files::declare_output;
use passdock::pipeline::{PipelineText, Request};
use passdock::reproducer::{self, ReproducerOptions, ReproducerTest};
use passdock_tools::bisect::{self, BadRewrite, BisectCheck, Bisection, Suspect};
use serde::Serialize;

use super::two_models::diff;
use crate::args::search::{BisectArgs, TestCommandArgs};
use crate::progress::Progress;
use crate::show::{self, CommandOutput};
use crate::test_command::TestCommand;
use crate::{plugins, request};

/// The output of `--json`.
#[derive(Serialize)]
struct BisectOutput<'b> {
    #[serde(flatten)]
    found: Option<&'b Bisection>,
    /// The verdicts of a search that found nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    checks: Vec<BisectCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'b BisectFiles>,
}

/// The files with the evidence.
#[derive(Serialize)]
struct BisectFiles {
    good: String,
    /// `None` if the pass fails.
    bad: Option<String>,
    reproducer: String,
    /// The command that runs the reproducer.
    replay_command: String,
}

pub(crate) fn bisect(args: BisectArgs) -> u8 {
    let json = args.search.json;
    let mut log = Vec::new();
    let searched = search(args, &mut log);
    let status = match &searched {
        Ok((found, _)) => u8::from(found.suspects.len() != 1),
        Err(error) => show::fail(error),
    };
    if json {
        let found = searched.as_ref().ok();
        let bisect_output = BisectOutput {
            found: found.map(|(found, _)| found),
            checks: if found.is_some() { Vec::new() } else { log },
            files: found.and_then(|(_, files)| files.as_ref()),
        };
        let error = searched.as_ref().err();
        show::print_json(&CommandOutput::new(status, bisect_output, error));
    } else if let Ok((found, files)) = &searched {
        show::print(&render(found, files.as_ref()));
    }
    status
}

/// Returns the paths of the models before and after the pass.
fn models(dir: &Path, model: &Path) -> [PathBuf; 2] {
    let extension = model.extension().and_then(|e| e.to_str());
    let extension = extension.unwrap_or("ir");
    ["good", "bad"].map(|name| dir.join(format!("{name}.{extension}")))
}

/// Returns the models that the command may write.
pub(crate) fn outputs(args: &BisectArgs) -> Vec<PathBuf> {
    let model = args.search.inputs.last().map_or(Path::new(""), Path::new);
    let output = args.output.as_deref();
    output.map_or(Vec::new(), |dir| models(dir, model).into())
}

/// Returns the test command.
#[cfg(unix)]
pub(crate) fn test_command(args: &BisectArgs) -> Result<Option<TestCommand>, PassError> {
    let model = args.search.inputs.last().map(Path::new);
    TestCommand::new(&args.test, model.unwrap_or(Path::new(""))).map(Some)
}

fn search(
    args: BisectArgs,
    log: &mut Vec<BisectCheck>,
) -> Result<(Bisection, Option<BisectFiles>), PassError> {
    let json = args.search.json;
    if let Some(dir) = &args.output {
        declare_output(&dir.join("reproducer"));
        outputs(&args).iter().for_each(|path| declare_output(path));
    }
    let request = request::from_search_args("bisect", args.search)?;
    let mut command = TestCommand::new(&args.test, &request.model)?;
    let progress = Progress::start("running the pipeline");
    let module = request.read_model()?;
    let found = bisect::bisect(
        &plugins::registry(),
        &request,
        module.clone(),
        &mut |candidate| command.check(candidate, &module),
        &mut |check| {
            if !json {
                let verdict = check.verdict.name();
                progress.line(&show::line(&format!("{verdict:<12}  {}", check.candidate)));
            }
            progress.update(&format!("{} checks", log.len() + 1));
            log.push(check.clone());
        },
    );
    drop(progress);
    let found = found.map_err(|error| command.with_output(error))?;
    let output = args.output.as_deref();
    let files = output.map(|dir| keep(&found, dir, &request, &args.test));
    let files = files.transpose()?.flatten();
    Ok((found, files))
}

/// Writes the models before and after the pass, and a reproducer of it.
fn keep(
    found: &Bisection,
    dir: &Path,
    request: &Request,
    test: &TestCommandArgs,
) -> Result<Option<BisectFiles>, PassError> {
    let Some(proof) = &found.proof else {
        return Ok(None);
    };
    show::create_dir(dir).map_err(show::reported)?;
    let model = &request.model;
    let reproducer = dir.join("reproducer");
    let [good, bad] = models(dir, model);
    show::write_one_of(&good, &proof.good)?;
    let bad = proof.error.is_none().then_some(bad);
    if let Some(bad) = &bad {
        show::write_one_of(bad, &proof.bad)?;
    }
    let options = ReproducerOptions {
        pipeline: request.pipeline.as_ref().map(PipelineText::name),
        model: Some(model.display().to_string()),
        test: proof.error.is_none().then(|| ReproducerTest {
            command: test.test.clone().unwrap_or_default(),
            timeout_s: test.test_timeout.map(|limit| limit.as_secs_f64()),
        }),
        ..ReproducerOptions::default()
    };
    let error = proof.error();
    let needs_trust = reproducer::write(&error, &reproducer, &options)?;
    Ok(Some(BisectFiles {
        good: good.display().to_string(),
        bad: bad.map(|bad| bad.display().to_string()),
        replay_command: reproducer::command(
            &reproducer,
            &error,
            &proof.site,
            &plugins::default_dirs(),
            needs_trust,
        ),
        reproducer: reproducer.to_string_lossy().into_owned(),
    }))
}

fn render(found: &Bisection, files: Option<&BisectFiles>) -> String {
    let mut text = String::new();
    let functions: Vec<String> = found.functions.iter().map(|f| format!("@{f}")).collect();
    let functions = match functions.as_slice() {
        [] => String::new(),
        [one] => format!(", in function {one}"),
        several => format!(", in functions {} together", several.join(", ")),
    };
    match (found.suspects.as_slice(), &found.failure) {
        ([pass], Some(failure)) => {
            let (pass, message) = (named(pass), &failure.message);
            let line = format!("{pass} fails{functions}; nothing to search: {message}");
            text += &show::line(&line);
        }
        ([pass], None) => {
            text += &show::line(&format!("{} breaks the model{functions}", named(pass)));
        }
        (several, _) => {
            text.push_str(
                "one of these passes breaks the model; the test is inconclusive about which:\n",
            );
            for pass in several {
                text += &show::line(&format!("  {:>3}  {}", pass.number, named(pass)));
            }
        }
    }
    if let Some(rewrite) = &found.rewrite {
        text.push_str(&render_rewrite(rewrite, found.failure.is_some()));
    }
    let passes = match found.passes_run {
        1 => "1 pass ran".to_owned(),
        count => format!("{count} passes ran"),
    };
    let (changed, checks) = (found.changing_passes, found.checks.len() as u64);
    let checks = show::counted(checks, "check");
    text += &format!("{passes}, of which {changed} changed the model; {checks}\n");
    if let Some(files) = files {
        let mut facts = show::Facts::default();
        // With one bad rewrite, these are the models before and after that rewrite.
        facts.add("before it", files.good.clone());
        if let Some(bad) = &files.bad {
            facts.add("after it", bad.clone());
            let [good, bad] =
                [&files.good, bad].map(|path| reproducer::shell_path(Path::new(path)));
            facts.add("compare", format!("passdock diff {good} {bad}"));
        }
        facts.add("run it again", files.replay_command.clone());
        text.push_str(&facts.render());
    }
    text
}

/// Renders the rewrite, its diff, and how to disable its rule.
fn render_rewrite(rewrite: &BadRewrite, fails: bool) -> String {
    let function = rewrite.function.as_ref();
    let op = rewrite.op.as_ref();
    let number = match fails {
        true => format!("it fails at rewrite {}", rewrite.number),
        false => format!(
            "the faulty rewrite is {} of {}",
            rewrite.number, rewrite.count
        ),
    };
    let mut text = show::line(&format!(
        "{number}: rule `{}`{}{}",
        rewrite.rule,
        op.map_or_else(String::new, |op| format!(" on `{op}`")),
        function.map_or_else(String::new, |function| format!(" in function @{function}")),
    ));
    if let Some(diff) = &rewrite.diff {
        for line in diff::render(diff, false).lines() {
            text.push_str(&format!("  {line}\n"));
        }
    }
    let rule = &rewrite.rule;
    text + &show::line(&format!("disable it with `--disabled-rule {rule}`"))
}

fn named(pass: &Suspect) -> String {
    let plugin = pass
        .plugin
        .iter()
        .map(|plugin| format!(" of plugin {plugin}"));
    let by = pass
        .requested_by
        .iter()
        .map(|by| format!(" (required by {by})"));
    pass.pass.clone() + &plugin.chain(by).collect::<String>()
}
