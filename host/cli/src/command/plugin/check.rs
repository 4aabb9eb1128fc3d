//! `passdock plugin check`: runs a plugin's checks, each in a child process.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use anyhow::Context;
use passdock::files::TemporaryDirectory;
use passdock::plugin::Plugin;
use passdock::reproducer::shell_quoted;
use passdock::sandbox::{self, Sandbox};
use passdock::{ErrorKind, PassError, SandboxMode, model_file, waiting};
use passdock_tools::plugin_check::{
    self, CANNOT_LEND, CHECKS, CheckResult, CheckVerdict, CheckedPlugin, PluginCheck, Trail,
};
use serde::Serialize;
use serde_json::json;

use crate::args::plugin::PluginCheckArgs;
use crate::show::TextTable;
use crate::{child, request, show};

/// Files in the directory of a check: its result, its trail, and its captured output.
const RESULT_FILE: &str = "result.json";
const TRAIL: &str = "trail";
const OUTPUT: &str = "output";
/// The reason of a check that reached a limit of the host.
const UNFINISHED: &str = "the check did not finish, because the host cannot lend more memory to the plugin; check \
                          fewer modules at a time (`--runs`, `--model`)";
const UNWRITTEN: &str = "could not write the result of a check";

/// The results for all plugins, as `--json` prints them.
#[derive(Serialize)]
struct PluginChecksOutput {
    ok: bool,
    plugins: Vec<PluginReport>,
}

#[derive(Serialize)]
struct PluginReport {
    file: String,
    /// `None` if the file isn't a plugin.
    name: Option<String>,
    version: Option<String>,
    ok: bool,
    checks: Vec<Checked>,
}

#[derive(Serialize)]
struct Checked {
    name: &'static str,
    #[serde(flatten)]
    result: CheckResult,
    seconds: f64,
}

pub(in crate::command) fn check(args: PluginCheckArgs) -> anyhow::Result<u8> {
    if args.list {
        list(args.json);
        return Ok(0);
    }
    let checks = chosen(&args)?;
    if let Some(dir) = &args.result_dir {
        return result(&args, &checks, dir);
    }
    // A check leaves its traces in the process: memory is lent, or the host is an old one.
    if args.in_process && (checks.len(), args.files.len()) != (1, 1) {
        let message = "`--in-process` runs one check of one plugin";
        let error = PassError::new(ErrorKind::Usage, message);
        return Err(error.help("select the check with `--only CHECK`").into());
    }
    // Errors of the command line are reported once instead of by each check.
    for file in &args.files {
        if !file.is_file() {
            let message = format!("no such plugin file: `{}`", file.display());
            let error = PassError::new(ErrorKind::Usage, message);
            return Err(error.help("correct the path, or build the plugin").into());
        }
    }
    for model in &args.model {
        model_file::read(model)?;
    }
    let mut plugins = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let plugin = check_plugin(&args, file, &checks)?;
        if !args.json {
            let above = if plugins.is_empty() { "" } else { "\n" };
            let debugger = debugger_command(&args, file, &plugin);
            show::print(&format!("{above}{}{debugger}", render(&plugin)));
        }
        plugins.push(plugin);
    }
    let ok = plugins.iter().all(|plugin| plugin.ok);
    if args.json {
        show::print_json(&PluginChecksOutput { ok, plugins });
    }
    Ok(u8::from(!ok))
}

fn list(json: bool) {
    if json {
        let listed =
            CHECKS.map(|check| json!({ "name": check.name, "description": check.description }));
        return show::print_json(&json!({ "checks": listed }));
    }
    let rows = CHECKS.map(|check| [check.name.to_owned(), check.description.to_owned()]);
    let table = TextTable::from_rows(["check", "a plugin passes if"], rows);
    show::print(&table.within(show::columns()).render());
}

/// Returns the checks of `--only`, or all. With `--fuzz`, all are only those that run on random modules or calls.
fn chosen(args: &PluginCheckArgs) -> Result<Vec<PluginCheck>, PassError> {
    let is_available = |check: &PluginCheck| args.fuzz.is_none() || check.fuzzed;
    for name in &args.only {
        let check = CHECKS.iter().find(|check| check.name == name);
        if check.is_some_and(is_available) {
            continue;
        }
        let names = CHECKS.iter().filter(|check| is_available(check));
        let names = names.map(|check| check.name);
        let (message, help) = match check {
            Some(_) => {
                let names: Vec<&str> = names.collect();
                let help = format!("the checks with `--fuzz` are {}", names.join(", "));
                (format!("check `{name}` has no `--fuzz`"), help)
            }
            None => {
                let near = passdock::diagnostic::suggest::help(name, names);
                let list = || "`passdock plugin check --list` lists the checks".to_owned();
                (format!("unknown check `{name}`"), near.unwrap_or_else(list))
            }
        };
        return Err(PassError::new(ErrorKind::Usage, message).help(help));
    }
    let is_chosen = |check: &PluginCheck| match &args.only[..] {
        [] => is_available(check),
        only => only.iter().any(|name| name == check.name),
    };
    Ok(CHECKS.into_iter().filter(is_chosen).collect())
}

/// Runs a check for the process that started this one, which the plugin may terminate. Writes the result to `dir`.
fn result(args: &PluginCheckArgs, checks: &[PluginCheck], dir: &Path) -> anyhow::Result<u8> {
    // Terminate this process when its parent exits, so that a hanging plugin doesn't outlive the command.
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        _ = set_parent_process_death_signal(Some(Signal::KILL));
    }
    let ([check], [file]) = (checks, &args.files[..]) else {
        anyhow::bail!("`--result-dir` takes one check of one plugin");
    };
    sandbox::prepare(Sandbox {
        mode: SandboxMode::Auto,
        reports: false,
        on_enter: Box::new(|_| ()),
    });
    sandbox::allow_write(dir);
    let result = in_this_process(args, file, check, dir)?;
    let text = serde_json::to_string(&result).context(UNWRITTEN)?;
    fs::write(dir.join(RESULT_FILE), text).context(UNWRITTEN)?;
    Ok(0)
}

/// Runs a check in this process.
fn in_this_process(
    args: &PluginCheckArgs,
    file: &Path,
    check: &PluginCheck,
    dir: &Path,
) -> anyhow::Result<CheckResult> {
    let trail = Trail::new(&dir.join(TRAIL)).context(UNWRITTEN)?;
    let plugin = CheckedPlugin {
        file: file.to_path_buf(),
        plugins: request::from_plugin_args(args.plugins.clone()),
        models: args.model.clone(),
        without: args.without.clone(),
        seeds: args
            .fuzz
            .map(|first| first..first.saturating_add(args.runs)),
    };
    Ok(plugin_check::run(check, &plugin, &trail))
}

fn check_plugin(
    args: &PluginCheckArgs,
    file: &Path,
    checks: &[PluginCheck],
) -> anyhow::Result<PluginReport> {
    let mut checked = Vec::with_capacity(checks.len());
    // The check that found that the plugin can't be loaded. Other checks are skipped, because they would fail the same
    // way.
    let mut unusable: Option<&str> = None;
    // The passes that timed out, with the check. Later checks skip them.
    let mut hung: Vec<(String, &str)> = Vec::new();
    for check in checks {
        let start = Instant::now();
        let mut result = match unusable {
            Some(seen) => {
                CheckResult::skipped(format!("the plugin cannot be loaded: see `{seen}`"))
            }
            None => run(args, file, check, &hung)?,
        };
        if std::mem::take(&mut result.unusable) {
            unusable = Some(check.name);
        } else if check.twice && args.fuzz.is_none() && !args.in_process && unusable.is_none() {
            result = result.repeated(run(args, file, check, &hung)?);
        }
        let left_out = hung.iter();
        result.notes.extend(
            left_out.map(|(pass, seen)| format!("`{pass}` was not run: it timed out in `{seen}`")),
        );
        hung.extend(result.hung.take().map(|pass| (pass, check.name)));
        // The hashes are only compared, not printed.
        result.outputs.clear();
        checked.push(Checked {
            name: check.name,
            result,
            seconds: start.elapsed().as_secs_f64(),
        });
    }
    let plugin = Plugin::open(file).ok();
    let spec = plugin.as_ref().map(|plugin| &plugin.manifest().plugin);
    Ok(PluginReport {
        file: file.display().to_string(),
        name: spec.map(|spec| spec.name.clone()),
        version: spec.map(|spec| spec.version.clone()),
        ok: checked.iter().all(|one| !one.result.verdict.is_bad()),
        checks: checked,
    })
}

/// Runs a check, by default in a child process, and returns its result. A crash of that process is a result, too.
fn run(
    args: &PluginCheckArgs,
    file: &Path,
    check: &PluginCheck,
    hung: &[(String, &str)],
) -> anyhow::Result<CheckResult> {
    let dir = TemporaryDirectory::new().context("could not create a temporary directory")?;
    if args.in_process {
        return in_this_process(args, file, check, dir.path());
    }
    let ran = start(args, file, check, hung, dir.path());
    let status = ran.context("could not start the process of a check")?;
    let result = fs::read_to_string(dir.path().join(RESULT_FILE)).ok();
    let result = result.and_then(|text| serde_json::from_str(&text).ok());
    match (status, result) {
        (Some(status), Some(result)) if status.success() => Ok(result),
        (Some(status), _) if status.code() == Some(CANNOT_LEND.into()) => Ok(CheckResult {
            verdict: CheckVerdict::Fail,
            reasons: vec![UNFINISHED.to_owned()],
            ..CheckResult::default()
        }),
        (status, result) => Ok(crashed(args, status, result.is_some(), dir.path())),
    }
}

/// Runs this program for a single check.
fn start(
    args: &PluginCheckArgs,
    file: &Path,
    check: &PluginCheck,
    hung: &[(String, &str)],
    dir: &Path,
) -> io::Result<Option<ExitStatus>> {
    let output = File::create(dir.join(OUTPUT))?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["plugin", "check"]);
    command.arg("--result-dir").arg(dir);
    for (pass, _) in hung {
        command.arg("--without").arg(pass);
    }
    command.args(arguments(args, file, check.name));
    command
        .stdin(Stdio::null())
        .env("RUST_BACKTRACE", "0")
        .env("TMPDIR", dir)
        .stderr(output.try_clone()?)
        .stdout(output);
    child::run(&mut command, Some(args.timeout))
}

/// Returns the arguments that select a check and what it runs on.
fn arguments(args: &PluginCheckArgs, file: &Path, check: &str) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["--only".into(), check.into()];
    for (flag, paths) in [
        ("--model", &args.model),
        ("--plugin", &args.plugins.plugin),
        ("--plugin-dir", &args.plugins.plugin_dir),
    ] {
        for path in paths {
            arguments.extend([flag.into(), path.into()]);
        }
    }
    for (plugin, permission) in &args.plugins.allow {
        arguments.extend(["--allow".into(), format!("{plugin}={permission}").into()]);
    }
    if let Some(seed) = args.fuzz {
        let (seed, runs) = (seed.to_string(), args.runs.to_string());
        arguments.extend(["--fuzz", &seed, "--runs", &runs].map(OsString::from));
    }
    arguments.extend(["--".into(), file.into()]);
    arguments
}

/// Returns the line with the command that runs the first check that crashed, else failed, in a debugger.
fn debugger_command(args: &PluginCheckArgs, file: &Path, plugin: &PluginReport) -> String {
    let with = |verdict| move |one: &&Checked| one.result.verdict == verdict;
    let checks = plugin.checks.iter();
    let crashed = checks.clone().find(with(CheckVerdict::Crashed));
    // A wrong manifest isn't an error of code.
    let failed = || {
        checks
            .filter(|one| one.name != "manifest")
            .find(with(CheckVerdict::Fail))
    };
    let Some(check) = crashed.or_else(failed) else {
        return String::new();
    };
    let arguments = arguments(args, file, check.name);
    let arguments = arguments.iter().map(shell_quoted);
    let debugger = if cfg!(target_vendor = "apple") {
        "lldb --"
    } else {
        "gdb --args"
    };
    show::safe(&format!(
        "debug: {debugger} passdock plugin check --in-process {}",
        arguments.collect::<Vec<_>>().join(" ")
    )) + "\n"
}

/// Returns the result of a check whose process crashed or timed out.
fn crashed(
    args: &PluginCheckArgs,
    status: Option<ExitStatus>,
    has_result: bool,
    dir: &Path,
) -> CheckResult {
    let what = match status {
        None => format!("timed out after {} s", args.timeout.as_secs_f64()),
        Some(status) => format!("the process terminated ({status})"),
    };
    let last = Trail::last(&dir.join(TRAIL));
    let at = match &last[..] {
        _ if has_result => " after the check".to_owned(),
        "" => String::new(),
        last => format!(": {last}"),
    };
    let mut result = CheckResult::crashed(format!("{what}{at}"));
    result.unusable = last == Trail::LOADING && !has_result;
    let in_pass = Trail::pass_in(&last).filter(|_| status.is_none() && !has_result);
    result.hung = in_pass.map(str::to_owned);
    let output = File::open(dir.join(OUTPUT))
        .and_then(waiting::tail)
        .unwrap_or_default();
    let lines = output
        .lines()
        .map(|line| line.trim().trim_start_matches("= "));
    let output: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let output = output.join(" ");
    if !output.is_empty() {
        result.notes.push(format!("last output: {output}"));
    }
    result
}

/// Renders the results as text.
fn render(plugin: &PluginReport) -> String {
    let name = match (&plugin.name, &plugin.version) {
        (Some(name), Some(version)) => format!("{name} {version}"),
        _ => "not a plugin".to_owned(),
    };
    let mut text = show::line(&format!("{}: {name}", plugin.file));
    let mut table = TextTable::new(["check", "result", "reason"]);
    for Checked { name, result, .. } in &plugin.checks {
        let notes = result.notes.iter().map(|note| format!("note: {note}"));
        let mut reasons = result.reasons.iter().cloned().chain(notes);
        let verdict = match result.verdict.is_bad() {
            true => result.verdict.name().to_uppercase(),
            false => result.verdict.name().to_owned(),
        };
        let first = reasons.next().unwrap_or_default();
        table.row([(*name).to_owned(), verdict, first]);
        for reason in reasons {
            table.row([String::new(), String::new(), reason]);
        }
    }
    text += &table.within(show::columns()).render();
    let verdicts = || plugin.checks.iter().map(|checked| checked.result.verdict);
    let failed = verdicts().filter(|verdict| verdict.is_bad()).count();
    let skipped = verdicts()
        .filter(|&verdict| verdict == CheckVerdict::Skipped)
        .count();
    let passed = plugin.checks.len() - failed - skipped;
    text + &format!("{passed} passed, {skipped} skipped, {failed} failed\n")
}
