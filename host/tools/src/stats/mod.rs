//! Statistics of a module: its interface, ops by kind, parameters by type, and the storage of their data.
//!
//! Only headers are read: no elements of constants, and only the length of external files. Time is linear in the number
//! of ops and constants. Regions may nest to any depth.
//!
//! `passdock stats --json` prints [`Stats`] under these names. Names are never removed; new ones may be added. Lists
//! are in module order unless stated otherwise.

mod calls;
mod constants;
mod interface;
mod ops;

use passdock_ir::Module;
use passdock_onnx::MAIN;
use serde::{Deserialize, Serialize};

use passdock_core::{ErrorKind, PassError};
use passdock_driver::model_file;

/// The statistics of a module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// ONNX's IR version; `None` if the module doesn't have one.
    pub ir_version: Option<i64>,
    /// The program that created the model.
    pub producer_name: String,
    /// The program's version.
    pub producer_version: String,
    /// The model's own domain.
    pub domain: String,
    /// The model's own version.
    pub model_version: Option<i64>,
    /// The model's other metadata: ONNX's `metadata_props`.
    pub metadata: Vec<Property>,
    /// The function whose interface is the model's: `main`, or the first function if there is no `main`.
    pub entry: Option<String>,
    /// The entry's parameters.
    pub inputs: Vec<Input>,
    /// The number of graph inputs that are initializers' and don't count as inputs. Before IR version 4, each
    /// initializer has such an input and is constant. From version 4 on, the number is 0.
    pub initializer_inputs: usize,
    /// The entry's results.
    pub outputs: Vec<Port>,
    /// The names of dims in the types of inputs and outputs, in order of first occurrence.
    pub symbols: Vec<String>,
    /// The number of dims in the types of inputs and outputs that have neither size nor name.
    pub unknown_dims: usize,
    /// The entry's opset versions.
    pub opsets: Vec<OpsetVersion>,
    /// The ops.
    pub ops: OpStats,
    /// The domains of ops that aren't ONNX's, the IR's or local functions; most ops first.
    pub custom_domains: Vec<CustomDomain>,
    /// The results of ops.
    pub results: ResultStats,
    /// The constants.
    pub parameters: Parameters,
    /// The regions nested in ops.
    pub subgraphs: Subgraphs,
    /// The functions, including the entry.
    pub functions: Vec<FunctionStats>,
    /// The files that contain constants, other than the ONNX file that was read; sorted by path.
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
    /// Whether callers may omit the input, because it has a default.
    pub overridable: bool,
}

/// A name and a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    /// The name; `None` if the value has none.
    pub name: Option<String>,
    /// The type as in IR text: `f32[n,3,32,32]`, `seq<i64[?]>`; `?` if it is unknown.
    #[serde(rename = "type")]
    pub ty: String,
    /// The element type of a tensor or buffer.
    pub dtype: Option<String>,
    /// The dims of a tensor or buffer, `None` for an unknown dim; `None` if the rank is unknown.
    pub shape: Option<Vec<Option<DimSize>>>,
}

/// A known dim.
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

/// Numbers of ops in all functions and regions, without constants and terminators. The body of a loop counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpStats {
    /// The number of ops, as `passdock run` reports it. The body of each function counts once.
    pub total: u64,
    /// The number of ops in subgraphs.
    pub nested: u64,
    /// The number of ops of the entry after inlining all calls; `None` if calls are recursive, or if the number has
    /// more than 64 bits.
    pub inlined: Option<u64>,
    /// The kinds of ops; most ops first, then sorted by name.
    pub kinds: Vec<OpKindStats>,
}

/// The ops of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpKindStats {
    /// The canonical name: `onnx.Conv`, `com.microsoft.Gelu`.
    pub op: String,
    /// The name's domain; `""` is ONNX's own, `None` the IR's.
    pub domain: Option<String>,
    /// The definer of the op: ONNX, the IR, the module or another domain.
    pub provider: OpProvider,
    /// The number of these ops.
    pub count: u64,
    /// The number of these ops in subgraphs.
    pub nested: u64,
}

/// The definer of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpProvider {
    /// ONNX, for its standard domains.
    Onnx,
    /// The IR: structured control flow and the loop level.
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
    /// The versions that functions import; empty if the domain is used without an import.
    pub versions: Vec<i64>,
    /// The number of its ops.
    pub ops: u64,
    /// The number of different operators of the domain.
    pub operators: u64,
}

/// The types of the results of ops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultStats {
    /// The number of results, without omitted ones.
    pub total: u64,
    /// The number of results with a type that isn't unknown.
    pub typed: u64,
    /// The number of tensors and buffers whose dims are all constant.
    pub static_shape: u64,
}

/// A number of tensors, their elements and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// The number of tensors.
    pub tensors: u64,
    /// The number of elements.
    pub elements: u64,
    /// The size of the elements in bytes, packed as ONNX packs raw data. For strings: the text, an offset of 8 bytes
    /// for each, and one more offset. For dtypes that ONNX doesn't define: 0.
    pub bytes: u64,
}

/// The parameters: all constants that are values, so initializers, defaults of inputs and `Constant` nodes, in all
/// regions. Data that several constants share counts once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// The sum of the next three fields.
    #[serde(flatten)]
    pub all: Amount,
    /// Initializers that aren't defaults of inputs.
    pub initializers: Amount,
    /// Defaults of inputs.
    pub defaults: Amount,
    /// `Constant` nodes.
    pub constant_nodes: Amount,
    /// Data that was already counted with another constant. Not part of the sum.
    pub shared: Amount,
    /// Parameters without users. Part of the sum.
    pub unused: Amount,
    /// Parameters whose elements are all equal. Part of the sum. `bytes` counts all elements, although only one is
    /// stored.
    pub splats: Amount,
    /// Tensors in attributes of ops. Not part of the sum.
    pub attributes: Amount,
    /// Scalars of loop-level functions. Not part of the sum.
    pub scalars: Amount,
    /// Sparse constants. Not part of the sum, because they are ops.
    pub sparse: Sparse,
    /// The sum, by element type; most bytes first.
    pub by_dtype: Vec<DTypeAmount>,
    /// The largest parameters, as many as requested; most bytes first.
    pub largest: Vec<LargeConstant>,
}

/// Sparse constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sparse {
    /// The number of tensors.
    pub tensors: u64,
    /// The number of elements of their shapes.
    pub elements: u64,
    /// The number of elements that are stored.
    pub stored: u64,
    /// The size of the stored elements and their indices, in bytes.
    pub bytes: u64,
}

/// The tensors of one element type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DTypeAmount {
    /// The element type, such as `f32`; `dtype99` for an unknown code.
    pub dtype: String,
    /// The tensors of this type.
    #[serde(flatten)]
    pub amount: Amount,
}

/// One of the largest constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LargeConstant {
    /// The constant's name, if it has one; the first constant's for shared data.
    pub name: Option<String>,
    /// The function that contains the constant.
    pub function: String,
    /// The type as in IR text.
    #[serde(rename = "type")]
    pub ty: String,
    /// The number of elements.
    pub elements: u64,
    /// The size of the elements in bytes.
    pub bytes: u64,
    /// The storage of the elements.
    pub storage: Storage,
    /// The file with the elements, if it isn't the ONNX file that was read.
    pub file: Option<String>,
}

/// The storage of a constant's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// Memory: constants from IR text, or created by a pass.
    Inline,
    /// The ONNX file that was read.
    Mapped,
    /// Another file.
    External,
    /// One element that fills the shape.
    Splat,
}

/// Regions nested in ops: graphs of ONNX's control flow and bodies of loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Subgraphs {
    /// The number of regions.
    pub regions: u64,
    /// The maximum nesting depth; 0 if there are no regions.
    pub depth: u32,
    /// The ops with regions, by kind; most regions first, then sorted by name.
    pub parents: Vec<RegionParent>,
}

/// The ops of one kind that have regions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegionParent {
    /// The canonical name.
    pub op: String,
    /// The number of ops of this kind with regions.
    pub ops: u64,
    /// The number of their regions.
    pub regions: u64,
}

/// The statistics of a function.
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
    /// The number of ops, including those in subgraphs, without constants and terminators.
    pub ops: u64,
    /// The number of ops that call the function.
    pub calls: u64,
    /// The number of copies of its body in the entry after inlining all calls; 1 for the entry itself. `None` as for
    /// [`OpStats::inlined`].
    pub inlined_copies: Option<u64>,
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

/// A file that contains constants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConstantsFile {
    /// The path, including the directory.
    pub path: String,
    /// The number of tensors in the file.
    pub tensors: u64,
    /// The number of bytes that the tensors use.
    pub bytes_used: u64,
    /// The minimum length of the file for its last tensor.
    pub bytes_needed: u64,
    /// The file's length; `None` if it can't be determined.
    pub bytes: Option<u64>,
    /// A description of a problem with the file; `None` if the file exists and is long enough.
    pub problem: Option<String>,
}

/// Computes the statistics of a module, with the `top` largest constants.
///
/// # Errors
/// If a part of the model that was skipped when reading is invalid.
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

/// Reads the module's metadata.
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
