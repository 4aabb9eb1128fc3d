//! The state that the importers of one file's functions share.

use std::sync::Arc;

use passdock_abi::{SymbolId, ValueId};
use passdock_ir::{ByteSource, OpName, Symbols};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::file::external::{ExternalFile, Reach};
use crate::file::source::Source;
use crate::format::error::{OnnxError, Result};
use crate::format::fields::text;
use crate::format::wire::Message;

/// The state that the importers of one file's functions share.
pub(super) struct Context<'a> {
    pub(super) source: Arc<Source>,
    pub(super) symbols: Arc<Symbols>,
    pub(super) ir_version: i64,
    /// Whether graphs and functions can have metadata.
    pub(super) carries: bool,
    /// The names of local functions. They take precedence over standard operators.
    pub(super) local: FxHashSet<SymbolId>,
    /// Interned canonical names, by domain, name and overload.
    pub(super) names: FxHashMap<[&'a [u8]; 3], SymbolId>,
    pub(super) reach: Reach,
    pub(super) external: FxHashMap<&'a str, Arc<ExternalFile>>,
    /// The value that each name is currently bound to, by symbol.
    pub(super) table: Vec<ValueId>,
    /// Scratch space: the dims of the current tensor.
    pub(super) ints: Vec<i64>,
}

impl<'a> Context<'a> {
    pub(super) fn new(source: &Arc<Source>, symbols: &Arc<Symbols>, reach: Reach) -> Context<'a> {
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

    /// Interns a name in the file.
    pub(super) fn symbol(&self, name: Message<'_>) -> Result<SymbolId> {
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

    /// Interns the canonical name of an op or function.
    pub(super) fn op_name(&mut self, parts: [Message<'a>; 3]) -> Result<SymbolId> {
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
            .intern(&OpName::in_domain(domain, name, overload).to_string());
        self.names.insert(key, id);
        Ok(id)
    }

    pub(super) fn external_file(&mut self, location: &'a str) -> Arc<dyn ByteSource> {
        let (model, reach) = (self.source.path(), self.reach);
        let file = self.external.entry(location);
        file.or_insert_with(|| Arc::new(ExternalFile::in_directory(model, location, reach)))
            .clone()
    }

    /// Returns the value that a name is currently bound to.
    pub(super) fn value(&self, name: SymbolId) -> ValueId {
        self.table
            .get(name.index())
            .copied()
            .unwrap_or(ValueId::NONE)
    }

    /// Binds a name to a value, and returns the previous one.
    pub(super) fn set_value(&mut self, name: SymbolId, value: ValueId) -> ValueId {
        if self.table.len() <= name.index() {
            self.table.resize(name.index() + 1, ValueId::NONE);
        }
        std::mem::replace(&mut self.table[name.index()], value)
    }
}
