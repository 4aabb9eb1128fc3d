//! `ModelProto`.

use passdock_abi::{FunctionKind, SymbolId};
use passdock_ir::{Entity, Function};

use super::imports::put_imports;
use super::message::RestFields;
use super::writer::{FunctionWriter, Writer};
use crate::detach::stripped::{self, StrippedMessage};
use crate::format::error::{OnnxError, Result, Within};
use crate::format::header::{Header, MAIN, METADATA, metadata, put_metadata};
use crate::format::schema::{doc, model};
use crate::format::wire::Message;
use crate::layout::version::raised_version;

const LOOP_LEVEL: &str = "ONNX has no loop-level functions; remove it before exporting";

impl Writer<'_> {
    /// Writes the whole file.
    pub(super) fn model(&mut self) -> Result {
        let module = self.module;
        let Some(main) = module.function_named(MAIN) else {
            let what = format!("the module has no function @{MAIN}, which ONNX requires");
            return Err(OnnxError::new(what));
        };
        self.domains
            .check_recursion(module, |f| self.is_copied(f))?;
        let source = self.source.clone();
        let file = source.as_ref().map(|source| Message::whole(source.bytes()));
        let extras = Some(module.extras());
        let stripped = match file {
            Some(file) if self.is_unchanged(main, file)? => {
                self.store.copy(file);
                return Ok(());
            }
            Some(file) => stripped::model(file)?.with_extras(extras),
            None => StrippedMessage::from_extras(extras)?,
        };
        let is_new = source.is_none() && !stripped.stays;
        let mut rest = RestFields::new(&stripped, &self.store)?;
        let raised = raised_version(module).map(|version| version.to_string());
        for (number, _) in METADATA {
            // Of several records in the file, the last one counts.
            let original = rest.take_if(|field| field.number == number);
            let old = original.split_last().map_or(&[][..], |(_, old)| old);
            old.iter().for_each(|field| self.store.copy(field.record));
            let text = match &raised {
                Some(version) if number == model::IR_VERSION => Some(version.as_str()),
                _ => metadata(module, number),
            };
            let put = |to: &mut Vec<u8>| put_metadata(number, text, is_new, to);
            self.store.put(put)?;
        }
        let [doc, metadata] = doc::MODEL;
        if let Some(text) = stripped.doc {
            self.store.field(doc, text.as_bytes());
        }
        self.main(main)?;
        let opsets = self.domains.opsets_of(main);
        let imports = put_imports(&opsets, model::OPSET_IMPORT, &mut rest, &mut self.store);
        imports.within(|| "the model")?;
        for (key, value) in &stripped.metadata {
            self.store.pair(metadata, key, value);
        }
        for name in module.names().filter(|&name| name != main.name()) {
            self.local(name)?;
        }
        rest.finish(&mut self.store)?;
        Ok(())
    }

    /// Whether a module is the same as its file.
    fn is_unchanged(&self, main: &Function, file: Message<'_>) -> Result<bool> {
        let module = self.module;
        let start = |f: &Function| f.origins().get(Entity::Function).start;
        let header = Header::read(file)?;
        let known = header.graph.into_iter().chain(header.functions);
        let locals = module.functions().filter(|f| f.name() != main.name());
        let locals = locals.map(|f| start(f));
        Ok(!self.drops_entries
            && self.placements.is_empty()
            && module.functions().all(|f| self.is_copied(f))
            && known
                .map(|message| message.at)
                .eq(std::iter::once(start(main)).chain(locals))
            && module.extras().is_empty()
            && *module.metadata() == header.metadata
            && self.domains.opsets_of(main) == header.opsets)
    }

    /// Whether a function's message is copied from the file.
    fn is_copied(&self, f: &Function) -> bool {
        let is_in_file = self.source.is_some() && f.origins().get(Entity::Function).is_some();
        is_in_file && !f.is_touched()
    }

    /// Copies the message of a function from the file.
    fn copy(&mut self, number: u32, f: &Function) {
        let source = self.source.clone();
        let span = f.origins().get(Entity::Function);
        if let Some(message) = source.as_ref().and_then(|source| source.message(span)) {
            self.store.copy_field(number, message);
        }
    }

    fn main(&mut self, main: &Function) -> Result {
        if self.is_copied(main) && !self.drops_entries && self.placements.is_empty() {
            self.copy(model::GRAPH, main);
            return Ok(());
        }
        if main.kind() != FunctionKind::GRAPH {
            return Err(OnnxError::new(LOOP_LEVEL).inside(format!("@{MAIN}")));
        }
        FunctionWriter::new(self, main, true)?.graph()
    }

    /// Writes a local function.
    fn local(&mut self, name: SymbolId) -> Result {
        let Some(function) = self.module.function(name) else {
            return Ok(());
        };
        if self.is_copied(function) {
            self.copy(model::FUNCTIONS, function);
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
