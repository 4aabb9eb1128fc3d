//! Reading: an ONNX file to a module.
//!
//! One walk over the file's tags makes the arenas; weights, doc strings, metadata and whatever this
//! version doesn't know stay in the file. What each entity came from is kept as its span
//! ([`passdock_ir::Origin`]), so that the writer copies what nobody touched.

pub(crate) mod attr;
mod frame;
mod graph;
mod header;
mod model;
mod node;
mod open;
mod sort;
mod tensor;

use std::path::Path;
use std::sync::Arc;

use passdock_abi::{DType, SymbolId, ValueId};
use passdock_ir::{ByteSource, ConstantData, Entity, Function, Module, OpName, Symbols};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{OnnxError, Result};
use crate::external::{ExternalFile, Reach};
use crate::source::Source;
use crate::types::text;
use crate::wire::Message;

pub(crate) use frame::{bodies, name_of, quoted};
pub(crate) use header::{Opsets, read_opset};
pub(crate) use model::read_metadata;
pub(crate) use node::{MAX_ATTRS, read_floats, read_ints};

/// Reads a model file. It stays mapped as long as the module or a copy of it lives.
pub fn read(path: &Path) -> std::result::Result<Module, OnnxError> {
    read_within(path, Reach::Beside)
}

/// Reads a model file; `reach` says which files its tensors may point to.
pub fn read_within(path: &Path, reach: Reach) -> std::result::Result<Module, OnnxError> {
    read_source(Source::open(path)?, reach)
}

/// Reads a model from memory; `path` says where it is to be thought of: messages name it, and
/// external data is looked for beside it.
pub fn read_bytes(path: &Path, bytes: Vec<u8>) -> std::result::Result<Module, OnnxError> {
    read_source(Source::in_memory(path, bytes), Reach::Beside)
}

/// A tensor that is a file of its own.
pub struct TensorFile {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The type of its elements.
    pub dtype: DType,
    /// Its shape.
    pub shape: Vec<i64>,
    /// Its data, still in the file.
    pub data: Arc<ConstantData>,
}

/// Reads a file that is one `TensorProto`, such as test data. It stays mapped as long as the data lives.
pub fn read_tensor(path: &Path) -> std::result::Result<TensorFile, OnnxError> {
    let source = Arc::new(Source::open(path)?);
    let mut cx = Context::new(&source, &Symbols::new(), Reach::Beside);
    let message = Message {
        bytes: source.bytes(),
        at: 0,
    };
    let read = cx.tensor(message).and_then(|tensor| {
        Ok(TensorFile {
            name: tensor.name.map(text).transpose()?.map(str::to_owned),
            dtype: tensor.dtype,
            shape: tensor.dims.iter().map(|dim| dim.value).collect(),
            data: tensor.data,
        })
    });
    read.map_err(|error| error.of_file(&path.display().to_string()))
}

fn read_source(source: Source, reach: Reach) -> Result<Module> {
    let source = Arc::new(source);
    let read = model::read(&source, reach);
    read.map_err(|error| error.of_file(&source.path().display().to_string()))
}

/// Reads an initializer of a file again, which a pass erased.
pub(crate) fn initializer(f: &mut Function, source: &Arc<Source>, message: Message<'_>) -> Result {
    let mut cx = Context::new(source, f.symbols(), Reach::Beside);
    let tensor = cx.tensor(message)?;
    let name = tensor.name.map_or(Ok(""), text)?;
    let ty = tensor.ty(f);
    let value = f.add_constant(ty, tensor.data, f.body(), name)?;
    let id = f.value(value).constant;
    f.origins_mut()
        .set(Entity::Constant(id), frame::span(message));
    Ok(())
}

/// What the functions of one file share while they are read.
struct Context<'a> {
    source: Arc<Source>,
    symbols: Arc<Symbols>,
    ir_version: i64,
    /// Whether graphs and functions have metadata.
    carries: bool,
    /// The names of local functions: they win over standard ops.
    local: FxHashSet<SymbolId>,
    /// Canonical names by domain, name and overload.
    names: FxHashMap<[&'a [u8]; 3], SymbolId>,
    reach: Reach,
    external: FxHashMap<&'a str, Arc<ExternalFile>>,
    /// The value that a name means here, by symbol.
    table: Vec<ValueId>,
    /// The dims of the tensor at hand.
    ints: Vec<i64>,
}

impl<'a> Context<'a> {
    fn new(source: &Arc<Source>, symbols: &Arc<Symbols>, reach: Reach) -> Context<'a> {
        Context {
            source: source.clone(),
            symbols: symbols.clone(),
            ir_version: 0,
            carries: false,
            local: FxHashSet::default(),
            names: FxHashMap::default(),
            reach,
            external: FxHashMap::default(),
            table: Vec::new(),
            ints: Vec::new(),
        }
    }

    /// The symbol of a name in the file.
    fn symbol(&self, name: Message<'_>) -> Result<SymbolId> {
        let limit = passdock_ir::symbols::MAX_SYMBOL_BYTES;
        if name.bytes.len() > limit {
            let what = format!(
                "a name has {} bytes; the limit is {limit}",
                name.bytes.len()
            );
            return Err(OnnxError::at(name.at, what));
        }
        Ok(self.symbols.intern(text(name)?))
    }

    /// The canonical name of an op or function.
    fn op_name(&mut self, parts: [Message<'a>; 3]) -> Result<SymbolId> {
        let key = parts.map(|part| part.bytes);
        if let Some(&known) = self.names.get(&key) {
            return Ok(known);
        }
        for part in parts {
            self.symbol(part)?;
        }
        let [domain, name, overload] = parts;
        let (domain, name, overload) = (text(domain)?, text(name)?, text(overload)?);
        let id = self
            .symbols
            .intern(&OpName::of_domain(domain, name, overload).to_string());
        self.names.insert(key, id);
        Ok(id)
    }

    fn external_file(&mut self, location: &'a str) -> Arc<dyn ByteSource> {
        let (model, reach) = (self.source.path(), self.reach);
        let file = self.external.entry(location);
        file.or_insert_with(|| Arc::new(ExternalFile::beside(model, location, reach)))
            .clone()
    }

    /// What a name means at this point of the walk.
    fn value(&self, name: SymbolId) -> ValueId {
        self.table
            .get(name.index())
            .copied()
            .unwrap_or(ValueId::NONE)
    }

    /// Lets a name mean a value; gives back what it meant.
    fn set_value(&mut self, name: SymbolId, value: ValueId) -> ValueId {
        if self.table.len() <= name.index() {
            self.table.resize(name.index() + 1, ValueId::NONE);
        }
        std::mem::replace(&mut self.table[name.index()], value)
    }
}
