//! `ModelProto`, and `FunctionProto`'s header.

use std::sync::Arc;

use passdock_abi::{FunctionKind, SymbolId};
use passdock_ir::{Entity, Function, Module, OpName, name};
use rustc_hash::FxHashMap;

use super::imports::Imports;
use super::{Chain, FunctionWriter, Writer};
use crate::error::{OnnxError, Result};
use crate::keep::Kept;
use crate::schema::{doc, model};
use crate::wire::{Message, Value, put_bytes, put_int};
use crate::{MAIN, METADATA};

/// What a module without a file behind it is written as.
const IR_VERSION: i64 = 10;

const LOOP_LEVEL: &str =
    "it is a function of loops, and ONNX has only graphs; remove it before exporting";

/// The `ir_version` that a module's metadata gives.
pub(crate) fn ir_version(module: &Module) -> i64 {
    version_of(module.metadata())
}

/// The `ir_version` that metadata gives.
pub(crate) fn version_of(metadata: &[(String, String)]) -> i64 {
    let (_, key) = METADATA[0];
    let version = metadata.iter().find(|(known, _)| known == key);
    let version = version.and_then(|(_, text)| text.parse().ok());
    version.unwrap_or(IR_VERSION)
}

/// The `ir_version` that a module is written with.
pub(crate) fn final_version(module: &Module) -> i64 {
    let raised = raised_version(module);
    let raised = raised.and_then(|version| version.parse().ok());
    raised.unwrap_or_else(|| ir_version(module))
}

/// The IR version that a module's own version has to be raised to, because passes gave it functions:
/// 8 has them, 10 has overloads. What the file had already says what it wants.
fn raised_version(module: &Module) -> Option<String> {
    let main = module.symbols().find(MAIN);
    let is_new = |f: &&Arc<Function>| Some(f.name()) != main && is_made(f);
    let needed = |f: &Arc<Function>| match function_name(f) {
        Ok(name) if !name.overload.is_empty() => 10,
        _ => 8,
    };
    let needed = module.functions().filter(is_new).map(needed).max()?;
    (ir_version(module) < needed).then(|| needed.to_string())
}

/// Whether a pass made a function: neither file nor text had it.
pub(super) fn is_made(f: &Function) -> bool {
    f.is_touched() && !f.origins().get(Entity::Function).is_some()
}

fn metadata(module: &Module, number: u32) -> Option<&str> {
    let key = METADATA.iter().find(|row| row.0 == number)?.1;
    module
        .metadata()
        .iter()
        .find(|pair| pair.0 == key)
        .map(|pair| pair.1.as_str())
}

impl Writer<'_> {
    /// Writes the whole file.
    pub(super) fn model(&mut self) -> Result<Chain> {
        let module = self.module;
        let Some(main) = module.function_named(MAIN) else {
            let what = format!("a module needs a function @{MAIN} to be an ONNX model");
            return Err(OnnxError::new(what));
        };
        let main_name = main.name();
        let locals: Vec<SymbolId> = module.names().filter(|&name| name != main_name).collect();
        let source = self.source.clone();
        let template = match &source {
            Some(source) => Some(Message {
                bytes: source.bytes(),
                at: 0,
            }),
            None => Kept::of(module.extras()).hollow,
        };
        let mut chain = Chain::default();
        let mut header = Vec::new();
        let is_file = source.is_some();
        self.domains.check_recursion(module, |f| {
            is_file && !f.is_touched() && f.origins().get(Entity::Function).is_some()
        })?;
        let mut functions = Functions::new(module, &locals, template)?;
        let opsets = self.domains.opsets_of(main);
        let mut imports = Imports::new(&opsets, template, model::OPSET_IMPORT)
            .map_err(|error| error.inside("the model"))?;
        let old = old_metadata(template)?;
        let raised = raised_version(module);
        let metadata = |number| match &raised {
            Some(version) if number == model::IR_VERSION => Some(version.as_str()),
            _ => metadata(module, number),
        };
        let mut graph = false;
        for field in template.iter().flat_map(|template| template.fields()) {
            let field = field?;
            match (field.number, field.value) {
                (model::GRAPH, Value::Bytes(body)) => {
                    graph = true;
                    self.main(&mut chain, main, field.record, body)?;
                }
                (model::FUNCTIONS, Value::Bytes(body)) => {
                    for step in functions.at(body.at) {
                        match step {
                            Step::Here(name) => self.local(&mut chain, name, Some(field.record))?,
                            Step::Other(name) => self.local(&mut chain, name, None)?,
                        }
                    }
                }
                (model::OPSET_IMPORT, Value::Bytes(_)) => match imports.next() {
                    None => self.store.copy(&mut chain, field.record),
                    Some(bytes) => self.store.bytes(&mut chain, &bytes),
                },
                (number, value) if crate::read::read_metadata(number, value)?.is_some() => {
                    let new = metadata(number);
                    let same = old.get(&number).map(String::as_str) == new;
                    if same {
                        self.store.copy(&mut chain, field.record);
                    } else if let Some(new) = new {
                        header.clear();
                        put_metadata(number, new, &mut header)?;
                        self.store.bytes(&mut chain, &header);
                    }
                }
                _ => self.store.copy(&mut chain, field.record),
            }
        }
        header.clear();
        missing_metadata(metadata, &old, template.is_none(), &mut header)?;
        header.extend(imports.rest());
        self.store.bytes(&mut chain, &header);
        if !graph {
            self.new_graph(&mut chain, main)?;
        }
        for name in functions.rest() {
            self.local(&mut chain, name, None)?;
        }
        self.store.texts(&mut chain, module.extras(), doc::MODEL);
        Ok(chain)
    }

    fn main(
        &mut self,
        chain: &mut Chain,
        main: &Function,
        record: Message<'_>,
        body: Message<'_>,
    ) -> Result {
        let origin = main.origins().get(Entity::Function);
        let same = origin.is_some() && origin.start == body.at;
        if same && !main.is_touched() && self.homes.is_empty() {
            self.store.copy(chain, record);
            return Ok(());
        }
        self.new_graph(chain, main)
    }

    fn new_graph(&mut self, chain: &mut Chain, main: &Function) -> Result {
        if main.kind() != FunctionKind::GRAPH {
            return Err(OnnxError::new(LOOP_LEVEL).inside(format!("@{MAIN}")));
        }
        let (written, import) = FunctionWriter::new(self, main, true).graph()?;
        self.store.bytes(chain, &import);
        let mark = self.store.begin(chain);
        let id = self.store.keep(written);
        self.store.splice(chain, id);
        self.store.end(chain, mark, model::GRAPH);
        Ok(())
    }

    /// Writes a local function; its record in the file, if it stands there.
    fn local(&mut self, chain: &mut Chain, name: SymbolId, record: Option<Message<'_>>) -> Result {
        let Some(function) = self.module.function(name) else {
            return Ok(());
        };
        if let Some(record) = record.filter(|_| !function.is_touched()) {
            self.store.copy(chain, record);
            return Ok(());
        }
        let written = match function.kind() {
            FunctionKind::GRAPH => FunctionWriter::new(self, function, false).function(),
            _ => Err(OnnxError::new(LOOP_LEVEL)),
        };
        let written = written
            .map_err(|error| error.inside(format!("@{}", self.module.symbols().text(name))))?;
        let mark = self.store.begin(chain);
        let id = self.store.keep(written);
        self.store.splice(chain, id);
        self.store.end(chain, mark, model::FUNCTIONS);
        Ok(())
    }
}

/// Metadata that the file has no field for.
fn missing_metadata<'m>(
    metadata: impl Fn(u32) -> Option<&'m str>,
    old: &FxHashMap<u32, String>,
    is_new: bool,
    to: &mut Vec<u8>,
) -> Result {
    for &(number, _) in METADATA.iter().filter(|row| !old.contains_key(&row.0)) {
        match metadata(number) {
            Some(text) => put_metadata(number, text, to)?,
            None if number == model::IR_VERSION && is_new => {
                put_int(to, model::IR_VERSION, IR_VERSION);
            }
            None => {}
        }
    }
    Ok(())
}

/// What the file's header says; a field's last record counts.
fn old_metadata(template: Option<Message<'_>>) -> Result<FxHashMap<u32, String>> {
    let mut old = FxHashMap::default();
    for field in template.iter().flat_map(|template| template.fields()) {
        let field = field?;
        if let Some((_, text)) = crate::read::read_metadata(field.number, field.value)? {
            old.insert(field.number, text);
        }
    }
    Ok(old)
}

fn put_metadata(number: u32, text: &str, to: &mut Vec<u8>) -> Result {
    if !matches!(number, model::IR_VERSION | model::MODEL_VERSION) {
        put_bytes(to, number, text.as_bytes());
        return Ok(());
    }
    match text.parse() {
        Ok(value) => put_int(to, number, value),
        Err(_) => {
            return Err(OnnxError::new(format!(
                "the version {text:?} of the model is no number"
            )));
        }
    }
    Ok(())
}

/// The local functions, matched with their records in the file.
struct Functions {
    names: Vec<SymbolId>,
    by_start: FxHashMap<u64, SymbolId>,
    /// In the order of the file; else all go where the first one stood.
    ordered: bool,
    next: usize,
    starts: Vec<Option<u64>>,
}

enum Step {
    Here(SymbolId),
    Other(SymbolId),
}

impl Functions {
    fn new(
        module: &Module,
        names: &[SymbolId],
        template: Option<Message<'_>>,
    ) -> Result<Functions> {
        let mut known = Vec::new();
        for field in template.iter().flat_map(|template| template.fields()) {
            let field = field?;
            if let (model::FUNCTIONS, Value::Bytes(body)) = (field.number, field.value) {
                known.push(body.at);
            }
        }
        let mut by_start = FxHashMap::default();
        let mut starts = Vec::with_capacity(names.len());
        for &name in names {
            let origin = module
                .function(name)
                .map(|f| f.origins().get(Entity::Function));
            let start = origin
                .filter(|origin| origin.is_some())
                .map(|origin| origin.start);
            let start = start.filter(|start| known.binary_search(start).is_ok());
            starts.push(start);
            if let Some(start) = start {
                by_start.insert(start, name);
            }
        }
        let ordered = starts.iter().flatten().is_sorted();
        Ok(Functions {
            names: names.to_vec(),
            by_start,
            ordered,
            next: 0,
            starts,
        })
    }

    /// What stands at a function's record.
    fn at(&mut self, start: u64) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some(&name) = self.names.get(self.next) {
            let known = self.starts[self.next];
            if self.ordered && known.is_some_and(|known| known > start) {
                break;
            }
            self.next += 1;
            let here = known == Some(start) && self.by_start.get(&start) == Some(&name);
            steps.push(if here {
                Step::Here(name)
            } else {
                Step::Other(name)
            });
            if here && self.ordered {
                break;
            }
        }
        steps
    }

    /// What is left at the end.
    fn rest(&mut self) -> Vec<SymbolId> {
        let rest = self.names.split_off(self.next.min(self.names.len()));
        self.next = self.names.len();
        rest
    }
}

/// The newest version of ONNX's own ops that came out with an IR version.
pub(super) fn newest_opset(ir_version: i64) -> i64 {
    match ir_version {
        ..=3 => 8,
        4 => 9,
        5 => 10,
        6 => 11,
        7 => 14,
        8 => 18,
        9 => 20,
        _ => 21,
    }
}

/// A function's canonical name, taken apart.
pub(super) fn function_name(f: &Function) -> Result<OpName<'_>> {
    let text = f.text(f.name());
    name::check_canonical(text).map_err(OnnxError::new)?;
    OpName::parse(text)
        .filter(|name| name.domain.is_some())
        .ok_or_else(|| {
            let what = format!(
                "ONNX functions have a domain, and @{text} has none: call it `DOMAIN.{text}`"
            );
            OnnxError::new(what)
        })
}
