//! The command-line interface. Doc comments on arguments are the text of `--help`.

pub(crate) mod batch;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod list;
pub(crate) mod model;
pub(crate) mod plugin;
pub(crate) mod process;
pub(crate) mod search;
pub(crate) mod shell;
pub(crate) mod trust;

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use passdock::Verify;
use passdock::sandbox::Permission;

use crate::args::batch::BatchArgs;
use crate::args::compare::CompareArgs;
use crate::args::data::DataArgs;
use crate::args::list::ListArgs;
use crate::args::model::{BlameArgs, ConvertArgs, ExtractArgs};
use crate::args::plugin::PluginCommandArgs;
use crate::args::process::ProcessArgs;
use crate::args::search::{BisectArgs, ReduceArgs};
use crate::args::shell::{CompletionsArgs, ManArgs};
use crate::args::trust::{LockArgs, TrustArgs, VerifyProvenanceArgs};

/// Run compiler passes from plugin files on neural-network models
#[derive(Debug, Parser)]
#[command(
    name = "passdock",
    version,
    propagate_version = true,
    after_help = include_str!("../../help/passdock.txt").trim_end()
)]
pub(crate) struct Cli {
    /// When to use colors; `auto`: on terminals, unless `NO_COLOR` is set
    #[arg(
        long,
        global = true,
        display_order = LAST,
        value_name = "WHEN",
        value_enum,
        default_value = "auto"
    )]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The position of options that are shown after all others.
const LAST: usize = 900;

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On terminals
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a pipeline on a model
    Run(RunArgs),
    /// Run a pipeline on many models in parallel, and skip models that are up to date
    Batch(BatchArgs),
    /// List passes, plugins, operators and other entries with their provider
    List(ListArgs),
    /// Show the manifest of a plugin without loading the plugin, or the rules in a file
    Inspect(InspectArgs),
    /// Check a pipeline without running it
    Check(CheckArgs),
    /// Show which passes would run, in which order, and why
    Explain(ExplainArgs),
    /// Convert between .onnx and .ir
    Convert(ConvertArgs),
    /// Extract the part of a model between given values
    Extract(ExtractArgs),
    /// Show statistics of a model
    Stats(StatsArgs),
    /// Show the differences between two models
    Diff(DiffArgs),
    /// Compare the outputs of two models in ONNX Runtime
    Compare(CompareArgs),
    /// Find the pass and the function that break a model
    Bisect(BisectArgs),
    /// Show which passes created or changed an op
    Blame(BlameArgs),
    /// Reduce a model to the ops for which a pipeline still fails
    Reduce(ReduceArgs),
    /// Run a failed pass again from a reproducer
    Replay(ReplayArgs),
    /// Write the versions and hashes of a pipeline's plugins to passdock.lock
    Lock(LockArgs),
    /// Compare files with a provenance statement of `run --provenance`
    VerifyProvenance(VerifyProvenanceArgs),
    /// Print the JSON Schema of pipelines, of manifests, or of --json output
    Schema(SchemaArgs),
    /// Create or check a plugin
    Plugin(PluginCommandArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page of a command in roff
    Man(ManArgs),
}

/// Options that select plugins.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PluginArgs {
    /// Use the plugin in FILE. Repeatable
    ///
    /// Example: `--plugin target/debug/libacme.so`. FILE must exist and be a plugin. `files = ["…"]` in `[plugins]` of
    /// a pipeline has the same effect. A plugin named twice is an error; one in a default directory is hidden.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Vec<PathBuf>,
    /// Search DIR for plugins, before the default directories. Repeatable
    ///
    /// The search order is: --plugin, `[plugins] files` of the pipeline, --plugin-dir, `[plugins] dirs`, and the
    /// default directories: those in PASSDOCK_PLUGIN_PATH, the standard plugins next to the executable, the active
    /// Python environment, and the plugins of `passdock plugin install`.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// Grant a permission to a plugin. Repeatable
    ///
    /// The permissions are `network`, `exec`, `read:PATH` and `write:PATH`. They apply to the process, so other plugins
    /// of the run get them, too. Example: `--allow acme=network`. `allow = ["network"]` in `[plugins.acme]` of a
    /// pipeline has the same effect.
    #[arg(long, value_name = "PLUGIN=PERMISSION", value_parser = granted, hide_short_help = true)]
    pub(crate) allow: Vec<(String, Permission)>,
}

/// Parses the value of `--allow`.
fn granted(text: &str) -> Result<(String, Permission), String> {
    let (plugin, permission) = text
        .split_once('=')
        .ok_or("expected `PLUGIN=PERMISSION`, such as `acme=network`")?;
    let permission = permission.parse::<Permission>();
    let permission = permission.map_err(|error| error.to_string())?;
    Ok((plugin.to_owned(), permission.in_directory(Path::new(""))))
}

/// Options that select passes and configure them, shared by all commands that run a pipeline.
#[derive(Debug, Args)]
pub(crate) struct PassArgs {
    /// Run these passes, after those of PIPELINE if it is given
    ///
    /// A .rules file is a pass.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) passes: Vec<String>,
    /// Run passes up to this level, from 0 to 4
    ///
    /// Overrides the pipeline's level, which is 2 by default.
    #[arg(short = 'O', long, value_name = "LEVEL", value_parser = level)]
    pub(crate) opt_level: Option<u32>,
    /// Run this pass of the pipeline at any level. Repeatable
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) required_pass: Vec<String>,
    /// Skip this pass of the pipeline. Repeatable
    ///
    /// Passes that call it by name still run it.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) disabled_pass: Vec<String>,
    /// Disable this rewrite rule. Repeatable
    ///
    /// The report lists the names of rules.
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) disabled_rule: Vec<String>,
    /// Stop applying rules after N rewrites in total, for example to find a faulty rewrite
    #[arg(long, hide_short_help = true, value_name = "N")]
    pub(crate) rewrite_limit: Option<u64>,
    /// Raise the model to opset N before the first pass
    ///
    /// N is a version of the domain `ai.onnx`. With a higher opset, fusions can use newer operators. If the meaning of
    /// an op can't be preserved, the model isn't raised.
    #[arg(long, value_name = "N", value_parser = opset, allow_negative_numbers = true)]
    pub(crate) raise_opset: Option<i64>,
    /// Set a config option. Repeatable
    ///
    /// VALUE is TOML: `tir.UnrollLoop.auto_max_step=16`. `passdock list config` shows the options.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Trust the pipeline: allow it to name plugins, rules and other files outside its directory
    #[arg(long, hide_short_help = true)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) signed: TrustArgs,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock run [OPTIONS] [PIPELINE] MODEL",
    after_help = "For all options, examples and exit statuses, see `passdock run --help`.",
    after_long_help = include_str!("../../help/run.txt").trim_end()
)]
pub(crate) struct RunArgs {
    /// Optional pipeline, then the model: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "FILE", num_args = 0..=2)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write the result to OUT: .onnx, .ir, or `-` for IR text
    #[arg(short, long, display_order = 0, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Passes")]
    pub(crate) passes: PassArgs,
    /// Set a dim symbol or a parameter before the first pass: `batch=1`. Repeatable
    ///
    /// VALUE is TOML: the size of a dim, or the value of a parameter, such as `scale=0.5`.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) bind: Vec<String>,
    /// Show the time of each pass, as a tree and per pass
    #[arg(long, help_heading = WATCH)]
    pub(crate) timing: bool,
    /// Write the time of each pass to FILE, for ui.perfetto.dev or chrome://tracing
    #[arg(long, hide_short_help = true, help_heading = WATCH, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write an HTML report to FILE
    ///
    /// It shows the changes of each pass, and the graph before and after. The file is self-contained.
    #[arg(long, help_heading = REPORT, value_name = "FILE")]
    pub(crate) html_report: Option<PathBuf>,
    /// Write the hashes of the input, the pipeline, the plugins and the output to FILE
    ///
    /// FILE is an in-toto statement with SLSA provenance. `passdock verify-provenance` checks it.
    #[arg(long, hide_short_help = true, help_heading = REPORT, value_name = "FILE", requires = "output")]
    pub(crate) provenance: Option<PathBuf>,
    /// Observe passes with an instrument. Repeatable
    ///
    /// Options are TOML: 'NAME={OPTION=VALUE}'. `passdock list instruments` shows the instruments and their options.
    #[arg(long, help_heading = WATCH, value_name = "NAME")]
    pub(crate) instrument: Vec<String>,
    /// Print the module before PASS, or before `all` passes. Repeatable
    #[arg(long, help_heading = WATCH, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) print_before: Vec<String>,
    /// Print the module after PASS, or after `all` passes. Repeatable
    #[arg(long, help_heading = WATCH, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) print_after: Vec<String>,
    /// Print a diff for each pass that changed the module
    #[arg(long, help_heading = WATCH)]
    pub(crate) print_changed: bool,
    /// Verify the functions that a pass changed, all functions, or none
    #[arg(long, hide_short_help = true, value_name = "WHEN", default_value = "changed", value_parser = choice_parser([
        ("changed", "After each pass, the functions that it changed", Verify::Changed),
        ("all", "Before the first pass and after each, all functions", Verify::All),
        ("off", "Never", Verify::Off),
    ]))]
    pub(crate) verify: Verify,
    /// Compare the outputs of the model and the result in ONNX Runtime
    ///
    /// If they differ, OUT isn't written. The comparison is that of `passdock compare`. To set its options, use
    /// `--instrument 'verify-outputs={inputs="DIR"}'` instead.
    #[arg(long)]
    pub(crate) verify_outputs: bool,
    /// Write the module to DIR after each pass
    #[arg(long, help_heading = WATCH, value_name = "DIR")]
    pub(crate) dump_dir: Option<PathBuf>,
    /// Write reproducers of failed passes to DIR instead of next to OUT
    #[arg(long, help_heading = FAILURES, value_name = "DIR")]
    pub(crate) reproducer_dir: Option<PathBuf>,
    /// Copy constants of more than 64 KiB to the reproducer instead of referring to the model's file
    #[arg(long, hide_short_help = true, help_heading = FAILURES)]
    pub(crate) self_contained: bool,
    /// Let passes enlarge the model to make it faster or simpler
    ///
    /// Sets the config option `allow_growth` of every pass that has one.
    #[arg(long)]
    pub(crate) allow_growth: bool,
    /// Run function passes on N threads. Defaults to the number of cores
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<usize>,
    #[command(flatten, next_help_heading = FAILURES)]
    pub(crate) process: ProcessArgs,
    /// Report all passes and notes, including passes that changed nothing
    #[arg(short, long, conflicts_with = "quiet", help_heading = REPORT)]
    pub(crate) verbose: bool,
    /// Print only errors
    #[arg(short, long, help_heading = REPORT)]
    pub(crate) quiet: bool,
    /// Print all notes in full
    #[arg(long, conflicts_with = "quiet", help_heading = REPORT)]
    pub(crate) notes: bool,
    /// Print the report as JSON on standard output, and everything else on standard error
    #[arg(long, help_heading = REPORT)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "Data")]
    pub(crate) data: DataArgs,
}

/// Heading of the options that select what is reported.
const REPORT: &str = "Report";

/// Heading of the options that observe passes.
const WATCH: &str = "Instruments";

/// Heading of the options for failed passes.
const FAILURES: &str = "Failures";

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/inspect.txt").trim_end())]
pub(crate) struct InspectArgs {
    /// Plugin libraries and .rules files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON: an object, or an object with a list `plugins` if there are several files
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/schema.txt").trim_end())]
pub(crate) struct SchemaArgs {
    /// Kind of file that the schema describes
    #[arg(value_name = "WHAT")]
    pub(crate) what: SchemaOf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Pipelines: input of `run`, `check` and `explain` (docs/pipelines.md)
    Pipeline,
    /// Manifests of plugins: output of `inspect` (docs/manifests.md)
    Manifest,
    /// Output of `--json`, with a definition for each command
    Output,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Pipeline: a .toml file, a .rules file, or the name of a built-in pipeline
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipeline: PathBuf,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Pipeline: a .toml file, a .rules file, or the name of a built-in pipeline. Defaults to `default` unless --passes
    /// is given.
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipeline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/stats.txt").trim_end())]
pub(crate) struct StatsArgs {
    /// Model: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Show the N largest constants
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// Allow data outside the model's directory: absolute paths, `..`, links
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, and everything else on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/diff.txt").trim_end())]
pub(crate) struct DiffArgs {
    /// Model before: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// Model after: .onnx, .ir, or `-` for IR text
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Show a unified diff of brief IR text, as in `convert --brief`. A value has the same number in both texts.
    #[arg(long)]
    pub(crate) text: bool,
    /// List all differences, including renamed values
    #[arg(long)]
    pub(crate) all: bool,
    /// Print nothing if the models are equal, and one line if not
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Allow data outside the models' directories: absolute paths, `..`, links
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, and everything else on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/replay.txt").trim_end())]
pub(crate) struct ReplayArgs {
    /// Directory of the reproducer
    #[arg(value_name = "REPRODUCER")]
    pub(crate) reproducer: PathBuf,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    /// Reject plugins whose files differ from those of the failed run
    #[arg(long)]
    pub(crate) locked: bool,
    /// Trust the reproducer: allow it to run the test command of `bisect`, to load plugins and libraries, and to access
    /// files outside its directory
    #[arg(long)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Run function passes on N threads. Defaults to the number of cores
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<usize>,
    /// Print one JSON object on standard output, and everything else on standard error
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses one of the given names as its value. The second element of each triple is the name's help text.
pub(crate) fn choice_parser<T: Clone + Send + Sync + 'static, const N: usize>(
    values: [(&'static str, &'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let names = values
        .iter()
        .map(|(name, help, _)| PossibleValue::new(name).help(*help));
    PossibleValuesParser::new(names).try_map(move |name| {
        let mut values = values.iter();
        let found = values.find(|(known, ..)| *known == name);
        found
            .map(|(.., value)| value.clone())
            .ok_or("unknown value")
    })
}

/// Parses a number of threads.
pub(crate) fn threads(text: &str) -> Result<usize, &'static str> {
    match text.parse() {
        Ok(threads @ 1..) => Ok(threads),
        _ => Err("expected an integer greater than 0"),
    }
}

/// Trims an element of a comma-separated list.
fn trimmed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_owned())
}

/// Parses a version of ONNX's own operators. The plugin that raises the opset checks the upper bound.
fn opset(text: &str) -> Result<i64, &'static str> {
    match text.parse() {
        Ok(opset @ 1..) => Ok(opset),
        _ => Err("expected an integer greater than 0, such as 20"),
    }
}

/// Parses an optimization level. Only pipelines may set a higher level, for passes of vendors.
fn level(text: &str) -> Result<u32, &'static str> {
    match text.parse() {
        Ok(level @ 0..=4) => Ok(level),
        _ => Err("expected an integer from 0 to 4"),
    }
}
