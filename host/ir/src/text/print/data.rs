//! Printing the data of constants.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use passdock_abi::{ConstId, DType};

use super::super::syntax::element::write_elements;
use super::super::syntax::{MAX_INLINE_ELEMENTS, is_single, write_list};
use super::brief;
use super::options::Constants;
use super::printer::Printer;
use crate::constant::{ConstantData, Payload, string_elements};
use crate::quote::write_quoted;

impl Printer<'_, '_> {
    /// Writes a constant's type and data.
    pub(super) fn tensor(&mut self, id: ConstId, declared: bool) {
        let f = self.f;
        let Ok(constant) = f.live_constant(id) else {
            self.push("unreadable(\"no such constant\")");
            return;
        };
        if declared {
            self.push("!");
        }
        self.ty(constant.ty);
        self.push(" ");
        let count = f.constant_elements(constant.ty).ok().flatten();
        let dtype = f.live_type(constant.ty).map_or(DType::NONE, |ty| ty.dtype);
        let single = is_single(f, constant.ty);
        self.data(f.constant_data(id), dtype, count, single);
    }

    fn data(&mut self, data: &Arc<ConstantData>, dtype: DType, count: Option<u64>, single: bool) {
        let payload = data.payload();
        if let Payload::Splat { element, .. } = payload {
            self.push("splat(");
            if !write_data(&mut self.out.text, dtype, element, 1) {
                self.raw(element);
            }
            self.push(")");
            return;
        }
        if self.options.brief {
            self.brief_data(data, dtype, count, single);
            return;
        }
        // Data in an external file stays there, even if it is small.
        let refer = self.options.constants == Constants::Reference
            && matches!(payload, Payload::External(_));
        if let Some(count) = count.filter(|&count| count <= MAX_INLINE_ELEMENTS && !refer)
            && let Ok(bytes) = data.bytes()
        {
            self.elements(bytes, dtype, count, single);
            return;
        }
        match (self.options.constants, data.in_named_file()) {
            // Writing to a string can't fail, here and below.
            (Constants::Elide, _) => {
                self.out.elided += 1;
                _ = write!(self.out.text, "elided({})", data.len());
            }
            (Constants::Reference, Some(range)) => {
                self.push("external(");
                self.file(range.source.name());
                _ = write!(self.out.text, ", {}, {})", range.offset, range.len);
            }
            _ => {
                let number = self.out.blob(data);
                _ = write!(self.out.text, "blob({number})");
            }
        }
    }

    /// Writes all elements.
    fn elements(&mut self, bytes: &[u8], dtype: DType, count: u64, single: bool) {
        let start = self.out.text.len();
        self.push(if single { "" } else { "[" });
        if write_data(&mut self.out.text, dtype, bytes, count) {
            self.push(if single { "" } else { "]" });
        } else {
            self.out.text.truncate(start);
            self.raw(bytes);
        }
    }

    /// Writes the elements if they are few and short, otherwise their size in bytes.
    fn brief_data(
        &mut self,
        data: &Arc<ConstantData>,
        dtype: DType,
        count: Option<u64>,
        single: bool,
    ) {
        let start = self.out.text.len();
        if let Some(count) = count.filter(|&count| count <= MAX_INLINE_ELEMENTS)
            && let Ok(bytes) = data.bytes()
        {
            self.elements(bytes, dtype, count, single);
            if self.out.text.len() - start <= brief::MAX_LEN {
                return;
            }
            self.out.text.truncate(start);
        }
        // Writing to a string can't fail.
        _ = write!(self.out.text, "elided({})", data.len());
    }

    /// Writes a file's name, relative to the text's directory if possible.
    fn file(&mut self, name: &str) {
        let below = self
            .options
            .directory
            .and_then(|directory| Path::new(name).strip_prefix(directory).ok());
        match below {
            Some(below) => {
                let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                self.out.quoted(&parts.join("/"));
            }
            None => self.out.quoted(name),
        }
    }

    /// Writes bytes that don't match the type.
    fn raw(&mut self, bytes: &[u8]) {
        self.out.clause("raw", |out| out.hex(bytes));
    }
}

fn write_data(out: &mut String, dtype: DType, bytes: &[u8], count: u64) -> bool {
    if dtype != DType::STRING {
        return write_elements(out, dtype, bytes, count);
    }
    let Some(strings) = string_elements(bytes, count) else {
        return false;
    };
    write_list(out, ", ", strings, write_quoted);
    true
}
