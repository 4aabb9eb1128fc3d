//! `ModelProto`, and `FunctionProto`'s header.

use passdock_abi::{FunctionKind, SymbolId};
use passdock_ir::{Entity, Function, Module};
use rustc_hash::FxHashMap;

use super::imports::Imports;
use super::rope::Chain;
use super::writer::{FunctionWriter, Writer};
use crate::extras::kept::Kept;
use crate::format::error::{OnnxError, Result};
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
            Some(source) => Some(Message::whole(source.bytes())),
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
        for field in fields_of(template) {
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
                (number, value) if read_metadata(number, value)?.is_some() => {
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
        let id = self.store.keep(written);
        self.store.message(chain, model::GRAPH, id);
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
        let id = self.store.keep(written);
        self.store.message(chain, model::FUNCTIONS, id);
        Ok(())
    }
}

/// The local functions, matched with their records in the file.
struct Functions {
    names: Vec<SymbolId>,
    by_start: FxHashMap<u64, SymbolId>,
    /// Whether they are in the order of the file; else all go where the first one stood.
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
        let records = template
            .into_iter()
            .flat_map(|file| bodies(file, model::FUNCTIONS));
        let known = records
            .map(|body| Ok(body?.at))
            .collect::<Result<Vec<u64>>>()?;
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

    /// The functions to write at a function's record.
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

    /// The functions that have no record.
    fn rest(&mut self) -> Vec<SymbolId> {
        let rest = self.names.split_off(self.next.min(self.names.len()));
        self.next = self.names.len();
        rest
    }
}
