//! The command line, as `--help` teaches it.

pub(crate) mod batch;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod list;
pub(crate) mod model;
pub(crate) mod plugin;
pub(crate) mod process;
pub(crate) mod search;
pub(crate) mod shell;

use std::convert::Infallible;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use passdock::Verify;

use crate::args::batch::BatchArgs;
use crate::args::compare::CompareArgs;
use crate::args::data::DataArgs;
use crate::args::list::ListArgs;
use crate::args::model::{BlameArgs, ConvertArgs, ExtractArgs};
use crate::args::plugin::PluginCommandArgs;
use crate::args::process::ProcessArgs;
use crate::args::search::{BisectArgs, ReduceArgs};
use crate::args::shell::{CompletionsArgs, ManArgs};

/// Runs compiler passes that ship as files over neural-network models.
#[derive(Debug, Parser)]
#[command(
    name = "passdock",
    version,
    propagate_version = true,
    after_help = include_str!("../../help/passdock.txt").trim_end()
)]
pub(crate) struct Cli {
    /// Use colours: on terminals alone, which `NO_COLOR` forbids, always, or never.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value = "auto"
    )]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On terminals.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a pipeline over a model: without one named, the built-in pipeline `default`.
    Run(RunArgs),
    /// Run a pipeline over many models, several at once; what was done is known the next time.
    Batch(BatchArgs),
    /// Show what there is and who provides it.
    List(ListArgs),
    /// Show a plugin's manifest, without loading the plugin, or what is in a file of rules.
    Inspect(InspectArgs),
    /// Say whether a pipeline is right; nothing runs.
    Check(CheckArgs),
    /// Show what would run, in what order, why or why not, from which file.
    Explain(ExplainArgs),
    /// Convert between .onnx and .ir.
    Convert(ConvertArgs),
    /// Take the part between some values out of a model.
    Extract(ExtractArgs),
    /// Show what is in a model.
    Stats(StatsArgs),
    /// Show what differs between two models.
    Diff(DiffArgs),
    /// Say whether two models compute the same: both run in ONNX Runtime.
    Compare(CompareArgs),
    /// Find the pass, and the function, that breaks a model.
    Bisect(BisectArgs),
    /// Show which passes made or changed an op.
    Blame(BlameArgs),
    /// Shrink a model to the ops on which a pipeline still goes wrong.
    Reduce(ReduceArgs),
    /// Run a failed pass again, from the reproducer that `run` wrote.
    Replay(ReplayArgs),
    /// Print the JSON Schema of pipelines or of manifests, for editors, or of what --json prints.
    Schema(SchemaArgs),
    /// Start a plugin, or try one: for their authors.
    Plugin(PluginCommandArgs),
    /// Print what makes a shell complete this command.
    Completions(CompletionsArgs),
    /// Print the manual page of a command, in roff.
    Man(ManArgs),
}

/// Where plugins are.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PluginArgs {
    /// Use the plugin in FILE: `--plugin target/debug/libacme.so`. Repeatable.
    ///
    /// The file has to be there, and a plugin. `files = ["…"]` in `[plugins]` of a pipeline does the
    /// same. A plugin that is in another directory, too, is an error: there may be one file of it.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Vec<PathBuf>,
    /// Look for plugins in DIR, before all other directories. Repeatable.
    ///
    /// The order is: --plugin, `[plugins] files` of the pipeline, --plugin-dir, `[plugins] dirs`,
    /// PASSDOCK_PLUGIN_PATH, the standard plugins beside the executable.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
}

/// How passes are chosen, and where they are; the same for all that runs a pipeline.
#[derive(Debug, Args)]
pub(crate) struct PassArgs {
    /// Run these passes, after those of the pipeline if one is named. FILE.rules is the pass of those rules.
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) passes: Vec<String>,
    /// Run passes up to this optimization level, 0 to 4; wins over the pipeline's, which is 2 unless it says
    /// otherwise.
    #[arg(short = 'O', value_name = "LEVEL", value_parser = level)]
    pub(crate) opt_level: Option<u32>,
    /// Run this pass of the pipeline whatever its level. Repeatable.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) require: Vec<String>,
    /// Don't run this pass where the pipeline lists it; a pass that runs it by its name does so all the same.
    /// Repeatable.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) disable: Vec<String>,
    /// Don't apply this rule of rewriting passes; the report names them.
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) disable_rule: Vec<String>,
    /// Rewrite by rules this many times in all, and no more: what a search for a wrong rewrite does.
    #[arg(long, value_name = "N")]
    pub(crate) rewrite_limit: Option<u64>,
    /// Raise the model to version N of ONNX's own operators before the first pass: passes that fuse ops use what
    /// later versions have. All ops go on meaning what they mean, or nothing is changed.
    #[arg(long, value_name = "N", value_parser = opset, allow_negative_numbers = true)]
    pub(crate) raise_opset: Option<i64>,
    /// Set a config option: `tir.UnrollLoop.auto_max_step=16`. VALUE is TOML. Repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// Trust the pipeline: it may name plugins, rules and other files outside of its directory.
    #[arg(long)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "passdock run [OPTIONS] [PIPELINE] MODEL",
    after_help = include_str!("../../help/run.txt").trim_end()
)]
pub(crate) struct RunArgs {
    /// The pipeline, if one is named, then the model: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "FILE", num_args = 0..=2)]
    pub(crate) inputs: Vec<PathBuf>,
    /// Write the result here: .onnx, .ir, or `-` for IR text.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Passes")]
    pub(crate) passes: PassArgs,
    /// Give a dim symbol of the model a size, or a parameter a value, before the first pass:
    /// `batch=1`, `scale=0.5`. VALUE is TOML. Repeatable.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) bind: Vec<String>,
    /// Show the time of each pass: as a tree, and by pass.
    #[arg(long, help_heading = WATCH)]
    pub(crate) timing: bool,
    /// Write the time of each pass to FILE, for ui.perfetto.dev or chrome://tracing.
    #[arg(long, help_heading = WATCH, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Write a page to FILE: which pass did what, the diff of each, the graph before and after. One HTML file for any
    /// browser, without network.
    #[arg(long, help_heading = REPORT, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Watch the passes with an instrument: NAME, or 'NAME={OPTION=VALUE}' in TOML. Repeatable.
    ///
    /// `passdock list instruments` shows them and their options.
    #[arg(long, help_heading = WATCH, value_name = "NAME")]
    pub(crate) instrument: Vec<String>,
    /// Print the module before PASS, or before `all`. Repeatable.
    #[arg(long, help_heading = WATCH, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) print_before: Vec<String>,
    /// Print the module after PASS, or after `all`. Repeatable.
    #[arg(long, help_heading = WATCH, value_name = "PASS", value_delimiter = ',', value_parser = trimmed)]
    pub(crate) print_after: Vec<String>,
    /// Print what each pass changed, as a diff.
    #[arg(long, help_heading = WATCH)]
    pub(crate) print_changed: bool,
    /// Verify the functions that a pass changed, all functions, or nothing.
    #[arg(long, value_name = "WHEN", default_value = "changed", value_parser = one_of([
        ("changed", "After each pass, the functions that it changed", Verify::Changed),
        ("all", "Before the first pass and after each, all functions", Verify::All),
        ("off", "Never", Verify::Off),
    ]))]
    pub(crate) verify: Verify,
    /// Run the model and the result in ONNX Runtime, and fail if they don't compute the same: OUT stays as it was.
    ///
    /// As `passdock compare` does; `--instrument 'verify-outputs={inputs="DIR"}'` does it with options.
    #[arg(long)]
    pub(crate) verify_outputs: bool,
    /// Write the module to DIR after each pass.
    #[arg(long, help_heading = WATCH, value_name = "DIR")]
    pub(crate) dump_dir: Option<PathBuf>,
    /// When a pass fails, write what it takes to run into it again to a directory in DIR, not
    /// beside OUT.
    #[arg(long, help_heading = FAILURES, value_name = "DIR")]
    pub(crate) reproducer_dir: Option<PathBuf>,
    /// Copy constants of more than 64 KiB to the reproducer, too, instead of referring to the model.
    #[arg(long, help_heading = FAILURES)]
    pub(crate) self_contained: bool,
    /// Let passes make the model larger where that makes it faster or simpler: sets every config
    /// option `allow_growth`.
    #[arg(long)]
    pub(crate) allow_growth: bool,
    /// Run function passes on N threads; by default on all cores.
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    #[command(flatten, next_help_heading = FAILURES)]
    pub(crate) process: ProcessArgs,
    /// Report each pass, and each note, also those from which nothing came.
    #[arg(short, long, conflicts_with = "quiet", help_heading = REPORT)]
    pub(crate) verbose: bool,
    /// Print errors only.
    #[arg(short, long, help_heading = REPORT)]
    pub(crate) quiet: bool,
    /// Print all notes, whole: without it a line for each, and one for those that are alike.
    #[arg(long, conflicts_with = "quiet", help_heading = REPORT)]
    pub(crate) notes: bool,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long, help_heading = REPORT)]
    pub(crate) json: bool,
    #[command(flatten, next_help_heading = "Data")]
    pub(crate) data: DataArgs,
}

/// The heading of options that choose what is shown of a run.
const REPORT: &str = "Report";

/// The heading of options that watch passes at work.
const WATCH: &str = "Watching";

/// The heading of options for passes that fail.
const FAILURES: &str = "Failures";

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/inspect.txt").trim_end())]
pub(crate) struct InspectArgs {
    /// The plugins' library files, and files of rules.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Print JSON: an object, which has a list `plugins` of such if there are several files.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/schema.txt").trim_end())]
pub(crate) struct SchemaArgs {
    /// The kind of file that the schema is for.
    #[arg(value_name = "WHAT")]
    pub(crate) what: SchemaOf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaOf {
    /// Pipelines: what `run`, `check` and `explain` take (docs/pipelines.md)
    Pipeline,
    /// Manifests of plugins: what `inspect` shows (docs/manifests.md)
    Manifest,
    /// What commands print with `--json`: a definition for each command
    Answers,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The pipeline: a .toml file, one of rules, or the name of a built-in one.
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipeline: PathBuf,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The pipeline: a .toml file, one of rules, or the name of a built-in one. Without it --passes says what would
    /// run, and without that it is `default`.
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipeline: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/stats.txt").trim_end())]
pub(crate) struct StatsArgs {
    /// The model: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Show the N largest constants.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) top: usize,
    /// Look at data outside of the model's directory too: absolute paths, `..`, links.
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/diff.txt").trim_end())]
pub(crate) struct DiffArgs {
    /// The model before: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "A")]
    pub(crate) old: PathBuf,
    /// The model after: .onnx, .ir, or `-` for IR text.
    #[arg(value_name = "B")]
    pub(crate) new: PathBuf,
    /// Show a unified diff of the brief IR texts, as `convert --brief` prints them: a value has one number in both.
    #[arg(long)]
    pub(crate) text: bool,
    /// List everything: also renamed values, and what else is many.
    #[arg(long)]
    pub(crate) all: bool,
    /// Say only whether they differ.
    #[arg(short = 'q', long)]
    pub(crate) brief: bool,
    /// Read data from outside of the models' directories too: absolute paths, `..`, links.
    #[arg(long)]
    pub(crate) allow_outside_data: bool,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/replay.txt").trim_end())]
pub(crate) struct ReplayArgs {
    /// The directory.
    #[arg(value_name = "REPRODUCER")]
    pub(crate) reproducer: PathBuf,
    #[command(flatten)]
    pub(crate) plugins: PluginArgs,
    /// Refuse plugins that aren't the very files that the failure was found with.
    #[arg(long)]
    pub(crate) locked: bool,
    /// Trust the reproducer: it may run the command that `bisect` wrote, load plugins and libraries that it names, and
    /// read and write files outside of its directory.
    #[arg(long)]
    pub(crate) trust: bool,
    #[command(flatten)]
    pub(crate) process: ProcessArgs,
    /// Run function passes on N threads; by default on all cores.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Print one JSON object on standard output, everything else on standard error.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A value by its name, with what `--help` says of each.
pub(crate) fn one_of<T: Clone + Send + Sync + 'static, const N: usize>(
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
            .ok_or("this isn't one of them")
    })
}

/// One name of a list: blanks around it mean nothing.
fn trimmed(text: &str) -> Result<String, Infallible> {
    Ok(text.trim().to_owned())
}

/// A version of ONNX's own operators. The newest one that can be asked for is the plugin's to say.
fn opset(text: &str) -> Result<i64, &'static str> {
    match text.parse() {
        Ok(opset @ 1..) => Ok(opset),
        _ => Err("an opset is a whole number from 1 on, such as 20"),
    }
}

/// An optimization level. A pipeline may say a higher one, for passes of its own plugins.
fn level(text: &str) -> Result<u32, &'static str> {
    match text.parse() {
        Ok(level @ 0..=4) => Ok(level),
        _ => Err("the levels are 0, 1, 2, 3 and 4"),
    }
}
