//! Options of `lock` and `verify-provenance`, and options that reject plugins.

use std::path::PathBuf;

use clap::Args;

use crate::args::PassArgs;

/// Options that reject plugins before any is loaded.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct TrustArgs {
    /// Reject plugins that differ from passdock.lock
    ///
    /// The file is next to the pipeline; `passdock lock` writes it. Plugins that it doesn't list aren't loaded.
    #[arg(long, hide_short_help = true)]
    pub(crate) locked: bool,
    /// Reject plugins without a valid signature of a key in `trusted_keys` of the pipeline
    ///
    /// Standard plugins that are installed with passdock need no signature.
    #[arg(long, hide_short_help = true)]
    pub(crate) require_signed: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/lock.txt").trim_end())]
pub(crate) struct LockArgs {
    /// Pipeline: a .toml file, or the name of a built-in pipeline
    #[arg(value_name = "PIPELINE")]
    pub(crate) pipeline: PathBuf,
    #[command(flatten)]
    pub(crate) passes: PassArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("../../help/verify_provenance.txt").trim_end())]
pub(crate) struct VerifyProvenanceArgs {
    /// Statement that `run --provenance` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Skip inputs that don't exist here
    ///
    /// Outputs must exist.
    #[arg(long)]
    pub(crate) allow_missing_inputs: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
