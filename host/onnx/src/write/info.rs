//! `ValueInfoProto`, and those of a graph that declare values.

use passdock_abi::{SymbolId, TypeId, ValueId};
use passdock_ir::Entity;
use passdock_ir::text::value_text;

use super::body::Body;
use super::writer::FunctionWriter;
use crate::extras::importer_data::ImporterData;
use crate::format::error::{Result, Within};
use crate::format::schema::{doc, graph, value_info};
use crate::format::types::{check_dtypes, encode_type, read_type};
use crate::format::wire::{Message, Value, WireField, fields_of, string_of};

impl<'w> FunctionWriter<'w> {
    /// Writes a value info as field `number`, over the original if there is one; `entity`: whose
    /// documentation and metadata are its. Without a type the original keeps its own.
    pub(super) fn info(
        &mut self,
        number: u32,
        name: &str,
        ty: TypeId,
        original: Option<Message<'_>>,
        entity: Option<Entity>,
    ) -> Result {
        let encoded = encode_type(self.f, ty)?;
        let info = || value_text(name);
        let (mut named, mut typed) = (false, encoded.is_empty());
        let mark = self.store.begin();
        for field in fields_of(original) {
            let field = field?;
            match (field.number, field.value) {
                (value_info::NAME, Value::Bytes(_)) => {
                    named = true;
                    self.store.text(field, name);
                }
                (value_info::TYPE, Value::Bytes(body)) => {
                    typed = true;
                    let plain = body.bytes == encoded;
                    if ty.is_none() || plain || self.says(body, &encoded)? {
                        self.store.copy(field.record);
                    } else if !encoded.is_empty() {
                        self.new_type(value_info::TYPE, ty, &encoded).within(info)?;
                    }
                }
                _ => self.store.copy(field.record),
            }
        }
        if !named && !name.is_empty() {
            self.store.field(value_info::NAME, name.as_bytes());
        }
        if !typed {
            self.new_type(value_info::TYPE, ty, &encoded).within(info)?;
        }
        if let Some(entity) = entity {
            self.texts(entity, doc::VALUE_INFO);
        }
        self.store.end(mark, number);
        Ok(())
    }

    /// Writes a type that the file doesn't say.
    pub(super) fn new_type(&mut self, number: u32, id: TypeId, encoded: &[u8]) -> Result {
        check_dtypes(self.f, id)?;
        self.store.field(number, encoded);
        Ok(())
    }

    /// Whether a type of the file says what an encoded one does, in other words or with more.
    pub(super) fn says(&mut self, body: Message<'_>, encoded: &[u8]) -> Result<bool> {
        let id = read_type(&mut self.types, body)?;
        Ok(encode_type(&self.types, id)? == encoded)
    }

    /// Writes the value info for a record: the declaration of a live value, or of one that never
    /// was there.
    pub(super) fn info_at(&mut self, body: &mut Body<'w>, field: WireField<'w>) -> Result {
        let message = field.body();
        let name = string_of(message, value_info::NAME)?;
        let symbol = std::str::from_utf8(name)
            .ok()
            .and_then(|name| self.f.symbols().find(name));
        let declared = symbol.and_then(|symbol| body.found.declared.get_mut(&symbol));
        match declared.map(Option::take) {
            Some(Some(value)) => {
                let (name, ty) = (self.name(value), self.f.value(value).ty);
                self.info(body.kind.info(), name, ty, Some(message), None)?;
            }
            // Said a second time.
            Some(None) => self.store.copy(field.record),
            None if !self.was_defined(body, name)? || self.fits_constant(symbol, message)? => {
                self.store.copy(field.record);
            }
            None => {}
        }
        Ok(())
    }

    /// Whether the original's graph defined a name.
    fn was_defined(&self, body: &mut Body<'w>, name: &[u8]) -> Result<bool> {
        if body.found.defined.is_none() {
            let original = body.original;
            let names = original.map(|original| body.kind.defined_names(original));
            body.found.defined = names.transpose()?;
        }
        let names = body.found.defined.as_ref();
        Ok(names.is_some_and(|names| names.contains(name)))
    }

    /// Whether a declaration is right of the constant of its name, which isn't declared: the file says less of it, or
    /// it took the name of another one.
    fn fits_constant(&mut self, name: Option<SymbolId>, declaration: Message<'_>) -> Result<bool> {
        let (f, plan, constants) = (self.f, &self.plan, self.layout.constants.all());
        let names = self.constant_names.get_or_insert_with(|| {
            constants
                .iter()
                .map(|&(_, id)| (plan.name(f.constant(id).value), id))
                .collect()
        });
        let Some(&constant) = name.and_then(|name| names.get(&name)) else {
            return Ok(false);
        };
        let Some(body) = declaration.last(value_info::TYPE)? else {
            return Ok(true);
        };
        let said = read_type(&mut self.types, body)?;
        let is = self.types.type_from(f, f.constant(constant).ty);
        Ok(is.is_ok_and(|is| self.types.is_compatible(said, is)))
    }

    /// Declarations that the original doesn't have.
    pub(super) fn infos(&mut self, body: &mut Body<'w>) -> Result {
        let declared = body.found.declared.drain();
        let mut values: Vec<ValueId> = declared.filter_map(|(_, value)| value).collect();
        values.append(&mut body.found.undeclared);
        values.sort_unstable();
        let whole = body.skeleton.whole_infos.drain(..).map(Err);
        let mut infos: Vec<_> = values.into_iter().map(Ok).chain(whole).collect();
        body.kept.reorder(graph::VALUE_INFO, &mut infos);
        let number = body.kind.info();
        for info in infos {
            let value = match info {
                Ok(value) => value,
                Err(whole) => {
                    self.store.copy_field(number, whole);
                    continue;
                }
            };
            let (name, ty) = (self.name(value), self.f.value(value).ty);
            let entity = Entity::Value(value);
            let original = ImporterData::from_entity(self.f, entity).stripped;
            if !name.is_empty() && (ty.index() != 0 || original.is_some()) {
                self.info(number, name, ty, original, Some(entity))?;
            }
        }
        Ok(())
    }
}
