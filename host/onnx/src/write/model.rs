//! `ModelProto`, and `FunctionProto`'s header.

use std::collections::VecDeque;

use passdock_abi::{FunctionKind, SymbolId};
use passdock_ir::{Entity, Function, Module};

use super::imports::Imports;
use super::writer::{FunctionWriter, Writer};
use crate::extras::importer_data::ImporterData;
use crate::format::error::{OnnxError, Result, Within};
use crate::format::fields::bodies;
use crate::format::header::{
    MAIN, metadata, missing_metadata, old_metadata, put_metadata, read_metadata,
};
use crate::format::schema::{doc, model};
use crate::format::wire::{Message, Value, fields_of};
use crate::layout::version::raised_version;

const LOOP_LEVEL: &str =
    "it is a function of loops, and ONNX has only graphs; remove it before exporting";

impl Writer<'_> {
    /// Writes the whole file.
    pub(super) fn model(&mut self) -> Result {
        let module = self.module;
        let Some(main) = module.function_named(MAIN) else {
            let what = format!("a module needs a function @{MAIN} to be an ONNX model");
            return Err(OnnxError::new(what));
        };
        let locals = module.names().filter(|&name| name != main.name());
        let source = self.source.clone();
        let template = match &source {
            Some(source) => Some(Message::whole(source.bytes())),
            None => ImporterData::from_extras(module.extras()).stripped,
        };
        let is_file = source.is_some();
        self.domains.check_recursion(module, |f| {
            is_file && !f.is_touched() && f.origins().get(Entity::Function).is_some()
        })?;
        let mut functions = Functions::new(module, locals, template)?;
        let imports = Imports::new(self.domains.opsets_of(main), template, model::OPSET_IMPORT);
        let mut imports = imports.within(|| "the model")?;
        let old = old_metadata(template)?;
        let raised = raised_version(module);
        let metadata = |number| match &raised {
            Some(version) if number == model::IR_VERSION => Some(version.as_str()),
            _ => metadata(module, number),
        };
        let mut graph = false;
        for field in fields_of(template) {
            let field = field?;
            match (field.number, field.value) {
                (model::GRAPH, Value::Bytes(body)) => {
                    graph = true;
                    self.main(main, field.record, body)?;
                }
                (model::FUNCTIONS, Value::Bytes(body)) => {
                    for (name, is_here) in functions.at(body.at) {
                        self.local(name, is_here.then_some(field.record))?;
                    }
                }
                (model::OPSET_IMPORT, Value::Bytes(_)) => imports.at(field.record, &mut self.store),
                (number, value) if read_metadata(number, value)?.is_some() => {
                    let new = metadata(number);
                    if old.get(&number).map(String::as_str) == new {
                        self.store.copy(field.record);
                    } else if let Some(new) = new {
                        self.store.put(|to| put_metadata(number, new, to))?;
                    }
                }
                _ => self.store.copy(field.record),
            }
        }
        let is_new = template.is_none();
        self.store
            .put(|to| missing_metadata(metadata, &old, is_new, to))?;
        imports.rest(&mut self.store);
        if !graph {
            self.new_graph(main)?;
        }
        for (name, _) in functions.left {
            self.local(name, None)?;
        }
        self.store.texts(module.extras(), doc::MODEL);
        Ok(())
    }

    fn main(&mut self, main: &Function, record: Message<'_>, body: Message<'_>) -> Result {
        let origin = main.origins().get(Entity::Function);
        let same = origin.is_some() && origin.start == body.at && !self.drops_entries;
        if same && !main.is_touched() && self.homes.is_empty() {
            self.store.copy(record);
            return Ok(());
        }
        self.new_graph(main)
    }

    fn new_graph(&mut self, main: &Function) -> Result {
        if main.kind() != FunctionKind::GRAPH {
            return Err(OnnxError::new(LOOP_LEVEL).inside(format!("@{MAIN}")));
        }
        FunctionWriter::new(self, main, true)?.graph()
    }

    /// Writes a local function; its record in the file, if it stands there.
    fn local(&mut self, name: SymbolId, record: Option<Message<'_>>) -> Result {
        let Some(function) = self.module.function(name) else {
            return Ok(());
        };
        if let Some(record) = record.filter(|_| !function.is_touched()) {
            self.store.copy(record);
            return Ok(());
        }
        let written = match function.kind() {
            FunctionKind::GRAPH => {
                FunctionWriter::new(self, function, false).and_then(FunctionWriter::function)
            }
            _ => Err(OnnxError::new(LOOP_LEVEL)),
        };
        written.within(|| format!("@{}", self.module.symbols().text(name)))
    }
}

/// The local functions, matched with their records in the file.
struct Functions {
    /// Those to write, with the place of the record that each was read from.
    left: VecDeque<(SymbolId, Option<u64>)>,
    /// Whether they are in the order of the file; else all go where the first one stood.
    ordered: bool,
}

impl Functions {
    fn new(
        module: &Module,
        names: impl Iterator<Item = SymbolId>,
        template: Option<Message<'_>>,
    ) -> Result<Functions> {
        let records = bodies(template, model::FUNCTIONS).map(|body| Ok(body?.at));
        let known = records.collect::<Result<Vec<u64>>>()?;
        let start = |name| {
            let origin = module.function(name)?.origins().get(Entity::Function);
            let is_known = origin.is_some() && known.binary_search(&origin.start).is_ok();
            is_known.then_some(origin.start)
        };
        let left: VecDeque<_> = names.map(|name| (name, start(name))).collect();
        Ok(Functions {
            ordered: left.iter().filter_map(|(_, start)| *start).is_sorted(),
            left,
        })
    }

    /// The functions to write at a function's record, with whether it is theirs.
    fn at(&mut self, start: u64) -> Vec<(SymbolId, bool)> {
        let mut found = Vec::new();
        while let Some(&(name, known)) = self.left.front() {
            if self.ordered && known.is_some_and(|known| known > start) {
                break;
            }
            self.left.pop_front();
            let is_here = known == Some(start);
            found.push((name, is_here));
            if is_here && self.ordered {
                break;
            }
        }
        found
    }
}
