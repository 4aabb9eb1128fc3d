//! The content of a module: its interface, its ops by kind, its parameters by type, and the places of their bytes.
//!
//! Only headers are read: no element of a constant, and of an external file only its length. Time is linear in the
//! ops and constants, and regions may nest to any depth.
//!
//! `passdock stats --json` prints [`Stats`] under these names. A name is never removed; new ones may be added. Lists
//! are in the order of the module where they don't say otherwise.

mod calls;
mod constants;
mod interface;
mod ops;

use passdock_ir::Module;
use passdock_onnx::MAIN;
use serde::{Deserialize, Serialize};

use passdock_core::{ErrorKind, PassError};
use passdock_driver::model_file;

/// The contents of a module, counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// ONNX's IR version; `None` if the module says nothing of it.
    pub ir_version: Option<i64>,
    /// The program that made the model.
    pub producer_name: String,
    /// The program's version.
    pub producer_version: String,
    /// The model's own domain.
    pub domain: String,
    /// The model's own version.
    pub model_version: Option<i64>,
    /// The model's other keys and values: ONNX's `metadata_props`.
    pub metadata: Vec<Property>,
    /// The function whose interface is the model's: `main`, or the first one if there is no `main`.
    pub entry: Option<String>,
    /// The entry's parameters.
    pub inputs: Vec<Input>,
    /// The number of input entries, of a file before IR version 4, that belong to initializers and are
    /// no inputs, because initializers are constant there. From 4 on 0.
    pub initializer_inputs: usize,
    /// The entry's results.
    pub outputs: Vec<Port>,
    /// The names of dims in the types of inputs and outputs, in order of appearance.
    pub symbols: Vec<String>,
    /// The number of dims in the types of inputs and outputs that have neither size nor name.
    pub unknown_dims: usize,
    /// The entry's opset versions.
    pub opsets: Vec<OpsetVersion>,
    /// The ops.
    pub ops: OpStats,
    /// Domains of ops that are neither ONNX's own nor the IR's nor local functions; most ops first.
    pub custom_domains: Vec<CustomDomain>,
    /// The results of ops.
    pub results: ResultStats,
    /// The constants.
    pub parameters: Parameters,
    /// The regions nested in ops.
    pub subgraphs: Subgraphs,
    /// The functions, the entry among them.
    pub functions: Vec<FunctionStats>,
    /// The files that constants are in, other than the ONNX file that was read; by path.
    pub external_files: Vec<ConstantsFile>,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Property {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// A parameter of the entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The parameter's name and type.
    #[serde(flatten)]
    pub port: Port,
    /// Whether callers may leave it out, because it has a default.
    pub overridable: bool,
}

/// A name and a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    /// The name, if it has one.
    pub name: Option<String>,
    /// The type as IR text spells it: `f32[n,3,32,32]`, `seq<i64[?]>`; `?` if nothing is known.
    #[serde(rename = "type")]
    pub ty: String,
    /// The element type of a tensor or buffer.
    pub dtype: Option<String>,
    /// The dims of a tensor or buffer; `None` if the rank isn't known.
    pub shape: Option<Vec<Option<DimSize>>>,
}

/// A dim that isn't `?`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DimSize {
    /// A number of elements.
    Size(i64),
    /// A name, or an expression over names: `n`, `n*2+1`.
    Symbolic(String),
}

/// The version of a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpsetVersion {
    /// The domain; `""` is ONNX's own.
    pub domain: String,
    /// The domain's version.
    pub version: i64,
}

/// Counts of ops: those of all functions and regions, without constants and terminators. The body
/// of a loop counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpStats {
    /// The number of ops, the body of each function once. What `run` reports.
    pub total: u64,
    /// The number of ops in subgraphs.
    pub nested: u64,
    /// The number of ops that the entry would have with every call replaced by the body of the function that it
    /// calls; `None` if functions call each other in a circle, or if it has more than 64 bits.
    pub inlined: Option<u64>,
    /// The kinds of ops; most ops first, then by name.
    pub kinds: Vec<OpKindStats>,
}

/// The ops of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpKindStats {
    /// The canonical name: `onnx.Conv`, `com.microsoft.Gelu`, `call`.
    pub op: String,
    /// The name's domain; `""` is ONNX's own, `None` the IR's.
    pub domain: Option<String>,
    /// The definer of the op.
    pub provider: OpProvider,
    /// The number of these ops.
    pub count: u64,
    /// The number of them in subgraphs.
    pub nested: u64,
}

/// The definer of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpProvider {
    /// ONNX: one of its own domains.
    Onnx,
    /// The IR: structured control flow, the loop level.
    Ir,
    /// A function of the module.
    Function,
    /// Another domain: a runtime needs a kernel for it.
    Custom,
}

/// A domain that isn't ONNX's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomDomain {
    /// The domain.
    pub domain: String,
    /// The versions that functions declare; empty: it is used and not declared.
    pub versions: Vec<i64>,
    /// The number of its ops.
    pub ops: u64,
    /// The number of kinds of its ops.
    pub kinds: u64,
}

/// The types of the results of ops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultStats {
    /// The number of values, without those that ops leave out.
    pub total: u64,
    /// The number of values whose type says something.
    pub typed: u64,
    /// Tensors and buffers whose dims are all constant.
    pub static_shape: u64,
}

/// A number of tensors, and the elements in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// The number of tensors.
    pub tensors: u64,
    /// The number of elements.
    pub elements: u64,
    /// Bytes of the elements, packed as ONNX packs raw data; of strings their text, an offset of 8
    /// bytes for each and one more; of dtypes that ONNX doesn't know 0.
    pub bytes: u64,
}

/// Parameters: the constants that are values, so initializers, defaults of inputs and `Constant`
/// nodes, wherever they stand. Data that several constants share counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The sum of the next three.
    #[serde(flatten)]
    pub all: Amount,
    /// Constants that stand for themselves.
    pub initializers: Amount,
    /// Defaults of inputs.
    pub defaults: Amount,
    /// `Constant` nodes.
    pub constant_nodes: Amount,
    /// Not part of the sum: data that was counted with another constant.
    pub shared: Amount,
    /// Part of the sum: no op or result uses it.
    pub unused: Amount,
    /// Part of the sum: one element that fills a shape. `bytes` are those of all elements; the model
    /// holds one.
    pub splats: Amount,
    /// Not part of the sum: tensors that are attributes of ops.
    pub attributes: Amount,
    /// Not part of the sum: scalars of loop-level functions.
    pub scalars: Amount,
    /// Not part of the sum, because they are ops: sparse constants.
    pub sparse: Sparse,
    /// The sum by element type; most bytes first.
    pub by_dtype: Vec<DTypeAmount>,
    /// The largest of the sum, as many as were asked for; most bytes first.
    pub largest: Vec<LargeConstant>,
}

/// Sparse constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sparse {
    /// The number of tensors.
    pub tensors: u64,
    /// The number of elements that their shapes have.
    pub elements: u64,
    /// The number of elements that are stored.
    pub stored: u64,
    /// Bytes of the stored elements and their indices.
    pub bytes: u64,
}

/// The tensors of one element type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DTypeAmount {
    /// The element type: `f32`; `dtype99` for a code that isn't known.
    pub dtype: String,
    /// The amount of it.
    #[serde(flatten)]
    pub amount: Amount,
}

/// One of the largest constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeConstant {
    /// The constant's name, if it has one; of shared data, that of the first constant.
    pub name: Option<String>,
    /// The function that it is in.
    pub function: String,
    /// The type as IR text spells it.
    #[serde(rename = "type")]
    pub ty: String,
    /// The number of elements.
    pub elements: u64,
    /// Bytes of the elements.
    pub bytes: u64,
    /// The place of the elements.
    pub storage: Storage,
    /// The file that they are in, if that isn't the ONNX file that was read.
    pub file: Option<String>,
}

/// The place of a constant's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// Memory: IR text, or what a pass made.
    Inline,
    /// The ONNX file that was read.
    Mapped,
    /// Another file.
    External,
    /// One element fills the shape.
    Splat,
}

/// Regions nested in ops: the graphs of ONNX's control flow, the bodies of loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subgraphs {
    /// The number of regions.
    pub regions: u64,
    /// The depth to which they nest; 0 if there are none.
    pub depth: u32,
    /// The ops that hold them; most regions first, then by name.
    pub holders: Vec<RegionHolder>,
}

/// The ops of one name that hold regions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionHolder {
    /// The canonical name.
    pub op: String,
    /// The number of them that hold regions.
    pub ops: u64,
    /// The number of regions that they hold.
    pub regions: u64,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionStats {
    /// The function's canonical name.
    pub name: String,
    /// The function's kind.
    pub kind: FunctionKind,
    /// The number of parameters.
    pub inputs: u64,
    /// The number of results.
    pub outputs: u64,
    /// The number of ops, those in subgraphs included, without constants and terminators.
    pub ops: u64,
    /// The number of ops of the module that call it.
    pub calls: u64,
    /// The number of times its body would stand in the entry with every call replaced by the body that it
    /// calls (the entry's own: 1); `None` as for [`OpStats::inlined`].
    pub copies: Option<u64>,
    /// The function's opset versions.
    pub opsets: Vec<OpsetVersion>,
}

/// The kind of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FunctionKind {
    /// A graph function (`fn`).
    Graph,
    /// A loop-level function (`prim`).
    Prim,
}

/// A file that constants are in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConstantsFile {
    /// The whole path.
    pub path: String,
    /// The number of tensors in it.
    pub tensors: u64,
    /// The number of its bytes that are theirs.
    pub bytes_used: u64,
    /// The length that it needs for the last of them.
    pub bytes_needed: u64,
    /// The file's length; `None` if that can't be told.
    pub bytes: Option<u64>,
    /// The problem with the file, as a sentence; `None`: it is there and long enough.
    pub problem: Option<String>,
}

/// Counts the content of a module. `top` is the number of the largest constants to list.
///
/// # Errors
/// If a part of the model that reading it skipped is invalid.
pub fn stats(module: &Module, top: usize) -> Result<Stats, PassError> {
    let mut stats = Stats::default();
    read_header(module, &mut stats)?;
    let main = module.function_named(MAIN);
    let entry = main.or_else(|| module.functions().next());
    if let Some(entry) = entry {
        stats.entry = Some(entry.text(entry.name()).to_owned());
        interface::read(entry, &mut stats);
    }
    ops::count(module, &mut stats);
    calls::count(module, entry.map(|entry| entry.name()), &mut stats);
    constants::measure(module, top, &mut stats)?;
    Ok(stats)
}

/// Reads the header.
fn read_header(module: &Module, stats: &mut Stats) -> Result<(), PassError> {
    for (key, value) in module.metadata() {
        match key.as_str() {
            "onnx.ir_version" => stats.ir_version = value.parse().ok(),
            "onnx.producer_name" => stats.producer_name.clone_from(value),
            "onnx.producer_version" => stats.producer_version.clone_from(value),
            "onnx.domain" => stats.domain.clone_from(value),
            "onnx.model_version" => stats.model_version = value.parse().ok(),
            _ => stats.metadata.push(Property {
                key: key.clone(),
                value: value.clone(),
            }),
        }
    }
    let facts = passdock_onnx::file_facts(module)
        .map_err(|error| model_file::unusable(ErrorKind::Read, error))?;
    if let Some(facts) = facts {
        let properties = facts.metadata.into_iter();
        stats
            .metadata
            .extend(properties.map(|(key, value)| Property { key, value }));
        stats.initializer_inputs = facts.initializer_inputs;
    }
    Ok(())
}
