//! The format of statements: an in-toto Statement, version 1, with a SLSA provenance predicate, version 1.
//!
//! Other tools may add keys, which are ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// The type of a statement.
pub(super) const STATEMENT: &str = "https://in-toto.io/Statement/v1";

/// The type of the predicate.
pub(super) const PREDICATE: &str = "https://slsa.dev/provenance/v1";

/// The meaning of `externalParameters`: the options of a run that aren't defaults.
pub(super) const RUN: &str = "urn:passdock:run:v1";

/// The program that ran.
pub(super) const BUILDER: &str = "urn:passdock";

/// The name of the digest.
pub(super) const SHA256: &str = "sha256";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Statement {
    #[serde(rename = "_type")]
    pub(super) statement_type: String,
    /// The output files.
    pub(super) subject: Vec<Resource>,
    #[serde(rename = "predicateType")]
    pub(super) predicate_type: String,
    pub(super) predicate: Predicate,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Predicate {
    pub(super) build_definition: BuildDefinition,
    pub(super) run_details: RunDetails,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BuildDefinition {
    pub(super) build_type: String,
    pub(super) external_parameters: Json,
    /// The input files.
    #[serde(default)]
    pub(super) resolved_dependencies: Vec<Resource>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RunDetails {
    pub(super) builder: Builder,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Builder {
    pub(super) id: String,
    #[serde(default)]
    pub(super) version: BTreeMap<String, String>,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Resource {
    /// The path relative to the directory of the statement, with `/`; or an absolute path.
    pub(super) name: String,
    pub(super) digest: BTreeMap<String, String>,
    /// The role of the file in the run: `model`, `data`, `pipeline`, `rules` or `plugin`; for a plugin also its name,
    /// version and ABI.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) annotations: BTreeMap<String, Json>,
}
