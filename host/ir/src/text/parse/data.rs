//! Parsing the data of constants.

use std::sync::Arc;

use passdock_abi::{ConstId, DType, RegionId, TypeId, ValueId};

use super::super::syntax::element::{number_count, push_element};
use super::super::syntax::is_single;
use super::super::syntax::lex::Number;
use super::parser::{BlobUse, Parse, Parser};
use crate::constant::{ByteSource, ConstantData, FileRange, Payload, string_data};
use crate::function::origin::Entity;
use crate::function::types::TypeData;

const FORMS: &[&str] = &["splat", "external", "blob", "raw"];

/// Data, and the number and span of the blob that has to be filled in later.
type Data = (Arc<ConstantData>, Option<(u64, std::ops::Range<usize>)>);

impl<'t> Parser<'t, '_> {
    /// Parses a type and data, `f32[2] [1, 2]`, to a constant that isn't a value.
    pub(super) fn tensor(&mut self, region: RegionId) -> Parse<ConstId> {
        let start = self.cur.here();
        let ty = self.ty()?;
        let elements = self.f.constant_len(ty);
        let elements = elements.map_err(|error| self.cur.error_since(start, error.message))?;
        let at = self.cur.here();
        let (data, blob) = self.data(ty, elements)?;
        if blob.is_none() {
            let checked = self.f.check_constant(ty, &data);
            checked.map_err(|error| self.cur.error_since(at, error.message))?;
        }
        let constant = self.f.insert_tensor(ty, data, region);
        if let Some((number, span)) = blob {
            self.blob_uses.push(BlobUse {
                function: self.f.name(),
                constant,
                number,
                span,
            });
        }
        Ok(constant)
    }

    /// Parses the location and extras of a constant.
    pub(super) fn constant_clauses(&mut self, id: ConstId) -> Parse<()> {
        if let Some(loc) = self.clauses(Entity::Constant(id))?.option() {
            self.f.constants[id.index()].loc = loc;
        }
        Ok(())
    }

    fn data(&mut self, ty: TypeId, elements: u64) -> Parse<Data> {
        let dtype = self.f.ty(ty).dtype;
        let start = self.cur.here();
        if self.cur.peek() == b'[' {
            return Ok((self.dense(dtype, elements)?, None));
        }
        let ident = self.cur.peek_ident();
        if self.cur.after_ident() != b'(' {
            if is_single(&self.f, ty) {
                return Ok((ConstantData::inline(self.element(dtype)?), None));
            }
            let found = self.cur.found();
            let message = format!("expected constant data, found {found}");
            let error = self.cur.error_here(message);
            return Err(
                error.help("write `[1, 2]`, `splat(0)`, `blob(0)` or `external(\"file\", 0, 8)`")
            );
        }
        self.cur.ident();
        self.cur.expect("(", "before constant data")?;
        let mut blob = None;
        let data = match ident {
            "splat" => ConstantData::new(Payload::Splat {
                dtype,
                element: self.element(dtype)?.into(),
                count: elements,
            }),
            "external" => self.external(start)?,
            "raw" => ConstantData::inline(self.cur.hex_string()?),
            "blob" => {
                let number = self.cur.integer("a blob number")?;
                blob = Some((number, start..self.cur.end()));
                ConstantData::inline([])
            }
            "elided" | "unreadable" => {
                let message = format!("the data of the constant is `{ident}`");
                let error = self.cur.error_since(start, message);
                return Err(error.help("print the module again without eliding constants"));
            }
            ident => {
                let message = format!("unknown form of constant data `{ident}`");
                let error = self.cur.error_since(start, message);
                return Err(error.suggest(ident, FORMS.iter().copied()));
            }
        };
        self.cur.expect(")", "after constant data")?;
        Ok((data, blob))
    }

    /// Parses the bytes of a single element or of the element of a splat.
    fn element(&mut self, dtype: DType) -> Parse<Vec<u8>> {
        let start = self.cur.here();
        if self.cur.eat_keyword("raw") {
            return self.hex_in_parens("after `raw`");
        }
        if dtype == DType::STRING {
            return Ok(string_data(&[self.cur.string()?]));
        }
        let mut bytes = Vec::new();
        for at in 0..number_count(dtype, 1) {
            if at > 0 {
                self.cur
                    .expect(",", "between the parts of a complex number")?;
            }
            self.number(&mut bytes, dtype, at, start)?;
        }
        Ok(bytes)
    }

    fn number(&mut self, bytes: &mut Vec<u8>, dtype: DType, at: u64, start: usize) -> Parse<()> {
        let number = self.cur.number("an element")?;
        push_element(bytes, dtype, number, at)
            .map_err(|message| self.cur.error_since(start, message))
    }

    fn dense(&mut self, dtype: DType, elements: u64) -> Parse<Arc<ConstantData>> {
        let start = self.cur.here();
        self.cur.eat("[");
        let mut bytes = Vec::new();
        let mut strings = Vec::new();
        let mut count = 0_u64;
        while self.cur.another("]", count == 0, "between elements")? {
            let at = self.cur.here();
            if dtype == DType::STRING {
                strings.push(self.cur.string()?);
            } else {
                self.number(&mut bytes, dtype, count, at)?;
            }
            count += 1;
        }
        let expected = number_count(dtype, elements);
        if count != expected {
            let what = match dtype {
                DType::C64 | DType::C128 => "numbers",
                _ => "elements",
            };
            let message =
                format!("wrong number of {what} for the shape: expected {expected}, found {count}");
            return self.fail(start, message);
        }
        if dtype == DType::STRING {
            bytes = string_data(&strings);
        }
        Ok(ConstantData::inline(bytes))
    }

    /// Parses `external("model.onnx", 4096, 864)` after the parenthesis.
    fn external(&mut self, start: usize) -> Parse<Arc<ConstantData>> {
        let name = self.cur.string_text()?.into_owned();
        self.cur.expect(",", "after the file name")?;
        let offset = self.cur.integer("an offset in bytes")?;
        self.cur.expect(",", "after the offset")?;
        let len = self.cur.integer("a length in bytes")?;
        let source = self.source(name);
        let source = source.map_err(|message| self.cur.error_since(start, message))?;
        let data = ConstantData::new(Payload::External(FileRange {
            source,
            offset,
            len,
        }));
        data.bytes()
            .map_err(|message| self.cur.error_since(start, message))?;
        Ok(data)
    }

    fn source(&mut self, name: String) -> Result<Arc<dyn ByteSource>, String> {
        if let Some(source) = self.sources.get(&name) {
            return Ok(source.clone());
        }
        let Some(open) = self.options.open else {
            return Err(format!(
                "cannot read data file {name:?}: external data is not available here"
            ));
        };
        let source = open(&name)?;
        self.sources.insert(name, source.clone());
        Ok(source)
    }

    /// Parses a literal operand of a prim function: `2.0` is an f32, `3` an index, and `3i32` has an explicit type.
    pub(super) fn literal(&mut self) -> Parse<ValueId> {
        let start = self.cur.here();
        let number = self.cur.number("an operand")?;
        let suffix = match number {
            Number::Keyword(_) => "",
            _ => self.cur.suffix(),
        };
        let dtype = match (number, suffix) {
            (Number::Keyword("true" | "false"), _) => Some(DType::BOOL),
            (Number::Int(_), "") => Some(DType::INDEX),
            (Number::Float(_), "") => Some(DType::F32),
            (Number::Int(_) | Number::Float(_), name) => {
                DType::from_name(name).filter(|dtype| *dtype != DType::STRING)
            }
            _ => None,
        };
        let Some(dtype) = dtype else {
            let message =
                "expected a number with a type, such as `2.0`, `3`, `3i32`, `0.5f64` or `true`";
            return self.fail(start, message);
        };
        let mut bytes = Vec::new();
        let pushed = push_element(&mut bytes, dtype, number, 0);
        pushed.map_err(|message| self.cur.error_since(start, message))?;
        let key = (dtype.0, bytes.clone());
        if let Some(&known) = self.literals.get(&key) {
            return Ok(known);
        }
        let ty = self.f.add_type(TypeData::Scalar(dtype, 1));
        let body = self.f.body();
        let value = self
            .f
            .insert_constant(ty, ConstantData::inline(bytes), body);
        self.literals.insert(key, value);
        Ok(value)
    }
}
