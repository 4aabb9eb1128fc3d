//! What is in a module: its interface, its ops by kind, its parameters by type, where their bytes
//! are.
//!
//! Everything is told from headers: no element of a constant is read, and of an external file only
//! whether it is there and how long it is. Time is linear in the ops and constants, and regions may
//! nest as deeply as they can.
//!
//! [`Stats`] is what `passdock stats --json` prints, under these names. A name once given stays; new
//! ones may come. Lists are in the order of the module where they don't say otherwise.

mod calls;
mod constants;
mod interface;
mod ops;

use passdock_ir::Module;
use passdock_onnx::MAIN;
use serde::{Deserialize, Serialize};

use crate::error::{ErrorKind, PassError, capitalized};

/// What is in a module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// ONNX's IR version; `None` if the module says nothing of it.
    pub ir_version: Option<i64>,
    /// What made the model.
    pub producer_name: String,
    /// Its version.
    pub producer_version: String,
    /// The model's own domain.
    pub domain: String,
    /// The model's own version.
    pub model_version: Option<i64>,
    /// What else stands in the model as keys and values: ONNX's `metadata_props`.
    pub metadata: Vec<Property>,
    /// The function whose interface is the model's: `main`, or the first one if there is no `main`.
    pub entry: Option<String>,
    /// The entry's parameters.
    pub inputs: Vec<Input>,
    /// Of a file before IR version 4: how many of its input entries belong to initializers and are
    /// no inputs, because initializers are constant there. From 4 on 0.
    pub initializer_inputs: usize,
    /// The entry's results.
    pub outputs: Vec<Port>,
    /// The names of dims in the types of inputs and outputs, in order of appearance.
    pub symbols: Vec<String>,
    /// How many dims in the types of inputs and outputs have neither size nor name.
    pub unknown_dims: usize,
    /// The entry's opset versions.
    pub opsets: Vec<OpsetVersion>,
    /// The ops.
    pub ops: Ops,
    /// Domains of ops that are neither ONNX's own nor the IR's nor local functions; most ops first.
    pub custom_domains: Vec<CustomDomain>,
    /// The values that ops make.
    pub results: Results,
    /// The constants.
    pub parameters: Parameters,
    /// The regions nested in ops.
    pub subgraphs: Subgraphs,
    /// All functions, the entry among them.
    pub functions: Vec<FunctionStats>,
    /// The files that constants are in, other than the ONNX file that was read; by path.
    pub external_files: Vec<ExternalFile>,
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
    /// Its name and type.
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
    /// Of a tensor or buffer: the element type.
    pub dtype: Option<String>,
    /// Of a tensor or buffer: its dims; `None` if the rank isn't known.
    pub shape: Option<Vec<Option<DimSize>>>,
}

/// A dim that isn't `?`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DimSize {
    /// So many elements.
    Size(i64),
    /// A name, or an expression over names: `n`, `n*2+1`.
    Symbolic(String),
}

/// The version of a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpsetVersion {
    /// The domain; `""` is ONNX's own.
    pub domain: String,
    /// Its version.
    pub version: i64,
}

/// Counts of ops: those of all functions and regions, without constants and terminators. The body
/// of a loop counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ops {
    /// All of them, the body of each function once. What `run` reports.
    pub total: u64,
    /// Those in subgraphs.
    pub nested: u64,
    /// What the entry would have with every call replaced by the body of the function that it
    /// calls; `None` if functions call each other in a circle, or if it has more than 64 bits.
    pub inlined: Option<u64>,
    /// By kind; most ops first, then by name.
    pub kinds: Vec<OpKind>,
}

/// The ops of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpKind {
    /// The canonical name: `onnx.Conv`, `com.microsoft.Gelu`, `call`.
    pub op: String,
    /// The name's domain; `""` is ONNX's own, `None` the IR's.
    pub domain: Option<String>,
    /// Who says what it means.
    pub provider: OpProvider,
    /// How many there are.
    pub count: u64,
    /// How many of them are in subgraphs.
    pub nested: u64,
}

/// Who says what an op means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpProvider {
    /// ONNX: one of its own domains.
    Onnx,
    /// The IR: structured control flow, the loop level.
    Ir,
    /// A function of the module.
    Function,
    /// Somebody else: a runtime needs a kernel for it.
    Custom,
}

/// A domain that isn't ONNX's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CustomDomain {
    /// The domain.
    pub domain: String,
    /// The versions that functions declare; empty: it is used and not declared.
    pub versions: Vec<i64>,
    /// How many ops are of it.
    pub ops: u64,
    /// Of how many kinds.
    pub kinds: u64,
}

/// How much is known of the values that ops make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// All of them, without those that ops leave out.
    pub total: u64,
    /// Those whose type says something.
    pub typed: u64,
    /// Tensors and buffers whose dims are all constant.
    pub static_shape: u64,
}

/// So many tensors and what is in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// How many tensors.
    pub tensors: u64,
    /// How many elements.
    pub elements: u64,
    /// Bytes of the elements, packed as ONNX packs raw data; of strings their text, an offset of 8
    /// bytes for each and one more; of dtypes that ONNX doesn't know 0.
    pub bytes: u64,
}

/// Parameters: the constants that are values, so initializers, defaults of inputs and `Constant`
/// nodes, wherever they stand. Data that several constants share counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// All of them: the sum of the next three.
    #[serde(flatten)]
    pub all: Amount,
    /// Constants that stand for themselves.
    pub initializers: Amount,
    /// Defaults of inputs.
    pub defaults: Amount,
    /// `Constant` nodes.
    pub constant_nodes: Amount,
    /// What isn't in the sum because the data was counted with another constant.
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
    /// How many there are.
    pub tensors: u64,
    /// How many elements their shapes have.
    pub elements: u64,
    /// How many of the elements are stored.
    pub stored: u64,
    /// Bytes of the stored elements and their indices.
    pub bytes: u64,
}

/// The tensors of one element type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DTypeAmount {
    /// The element type: `f32`; `dtype99` for a code that isn't known.
    pub dtype: String,
    /// How much of it.
    #[serde(flatten)]
    pub amount: Amount,
}

/// One of the largest constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeConstant {
    /// Its name, if it has one; of shared data, that of the first constant.
    pub name: Option<String>,
    /// The function that it is in.
    pub function: String,
    /// The type as IR text spells it.
    #[serde(rename = "type")]
    pub ty: String,
    /// How many elements.
    pub elements: u64,
    /// Bytes of the elements.
    pub bytes: u64,
    /// Where they are.
    pub storage: Storage,
    /// The file that they are in, if that isn't the ONNX file that was read.
    pub file: Option<String>,
}

/// Where a constant's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// In memory: IR text, or what a pass made.
    Inline,
    /// In the ONNX file that was read.
    Mapped,
    /// In another file.
    External,
    /// One element fills the shape.
    Splat,
}

/// Regions nested in ops: the graphs of ONNX's control flow, the bodies of loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subgraphs {
    /// How many there are.
    pub regions: u64,
    /// How deep they nest; 0 if there are none.
    pub depth: u32,
    /// By the ops that hold them; most regions first, then by name.
    pub holders: Vec<RegionHolder>,
}

/// The ops of one name that hold regions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionHolder {
    /// The canonical name.
    pub op: String,
    /// How many of them hold regions.
    pub ops: u64,
    /// How many regions they hold.
    pub regions: u64,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionStats {
    /// Its canonical name.
    pub name: String,
    /// What it is.
    pub kind: FunctionKind,
    /// How many parameters it has.
    pub inputs: u64,
    /// How many results.
    pub outputs: u64,
    /// Its ops, those in subgraphs included, without constants and terminators.
    pub ops: u64,
    /// How many ops of the module call it.
    pub calls: u64,
    /// How often its body would stand in the entry with every call replaced by the body that it
    /// calls (the entry's own: 1); `None` as for [`Ops::inlined`].
    pub copies: Option<u64>,
    /// Its opset versions.
    pub opsets: Vec<OpsetVersion>,
}

/// What a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FunctionKind {
    /// A graph function (`fn`).
    Graph,
    /// A loop-level function (`prim`).
    Prim,
}

/// A file that constants are in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExternalFile {
    /// The whole path.
    pub path: String,
    /// How many tensors are in it.
    pub tensors: u64,
    /// How many of its bytes are theirs.
    pub bytes_used: u64,
    /// How long it has to be for the last of them.
    pub bytes_needed: u64,
    /// How long it is; `None` if that can't be told.
    pub bytes: Option<u64>,
    /// What is wrong with it, as a sentence; `None`: it is there and long enough.
    pub problem: Option<String>,
}

/// Looks through a module. `top` is how many of the largest constants to tell.
///
/// # Errors
/// If a part of the model that reading it had no use for isn't what it should be.
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

/// What the module says of itself.
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
    let facts = passdock_onnx::file_facts(module).map_err(|error| {
        let message = capitalized(&format!("the model {error}"));
        PassError::new(ErrorKind::Read, message)
    })?;
    if let Some(facts) = facts {
        let properties = facts.metadata.into_iter();
        stats
            .metadata
            .extend(properties.map(|(key, value)| Property { key, value }));
        stats.initializer_inputs = facts.initializer_inputs;
    }
    Ok(())
}
