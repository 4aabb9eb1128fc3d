//! Parsing modules: metadata, functions, and the blobs at the end.

use base64::Engine;
use passdock_abi::SymbolId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::parser::{Parse, Parser};
use crate::constant::ConstantData;
use crate::function::Function;
use crate::module::Module;

impl Parser<'_, '_> {
    pub(super) fn module(&mut self, mut module: Module) -> Parse<Module> {
        if !self.cur.eat_keyword("module") {
            let found = self.cur.found();
            return self.fail_here(format!("expected `module {{`, found {found}"));
        }
        if let Some(extras) = self.extras()? {
            module.set_extras(extras);
        }
        self.cur.expect("{", "after `module`")?;
        let mut metadata = Vec::new();
        let mut functions: Vec<Function> = Vec::new();
        let mut names = FxHashSet::default();
        loop {
            let start = self.cur.here();
            match self.cur.peek_ident() {
                "metadata" => {
                    self.cur.ident();
                    let key = self.cur.string_text()?.into_owned();
                    self.cur.expect("=", "after the key")?;
                    metadata.push((key, self.cur.string_text()?.into_owned()));
                }
                "fn" | "prim" => {
                    let function = self.function()?;
                    if !names.insert(function.name()) {
                        let name = function.text(function.name()).to_owned();
                        return self.fail(start, format!("duplicate function `@{name}`"));
                    }
                    functions.push(function);
                }
                "blob" => self.blob()?,
                "" if self.cur.eat("}") => break,
                ident => {
                    let found = self.cur.found();
                    let message =
                        format!("expected a function (`fn @main(…) {{`) or `}}`, found {found}");
                    let error = self.cur.error_here(message);
                    return Err(error.suggest(ident, ["fn", "prim", "metadata", "blob"]));
                }
            }
        }
        self.nothing_follows("the module")?;
        self.fill_blobs(&mut functions)?;
        module.set_metadata(metadata);
        for mut function in functions {
            function.seal();
            if let Err(error) = module.insert(function) {
                return self.fail_here(error.message);
            }
        }
        Ok(module)
    }

    pub(super) fn body_alone(&mut self) -> Parse<Function> {
        if self.cur.peek_ident() != "fn" {
            let found = self.cur.found();
            let message = format!("expected a function (`fn @body(…) {{`), found {found}");
            return self.fail_here(message);
        }
        let mut function = self.function()?;
        self.nothing_follows("the function")?;
        self.fill_blobs(std::slice::from_mut(&mut function))?;
        for value in &mut function.values {
            value.name = SymbolId::NONE;
        }
        function.seal();
        Ok(function)
    }

    /// Parses `blob 0 = "…"`: bytes in base64.
    fn blob(&mut self) -> Parse<()> {
        let start = self.cur.here();
        self.cur.ident();
        let number = self.cur.integer("a blob number")?;
        self.cur.expect("=", "after the blob number")?;
        let at = self.cur.here();
        let text = self.cur.string()?;
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(&*text)
            .map_err(|error| {
                let why = error.to_string().to_lowercase();
                let message = format!("invalid base64: {}", why.trim_end_matches('.'));
                self.cur.error_since(at, message)
            })?;
        let data = ConstantData::inline(bytes);
        if self.blobs.insert(number, data).is_some() {
            return self.fail(start, format!("duplicate blob {number}"));
        }
        Ok(())
    }

    /// Fills in the bytes of the constants.
    fn fill_blobs(&mut self, functions: &mut [Function]) -> Parse<()> {
        let mut by_name: FxHashMap<SymbolId, &mut Function> =
            functions.iter_mut().map(|f| (f.name(), f)).collect();
        for used in std::mem::take(&mut self.blob_uses) {
            let fail = |message: String| self.cur.error_at(used.span.clone(), message);
            let Some(data) = self.blobs.get(&used.number) else {
                let error = fail(format!("unknown blob {}", used.number));
                return Err(error.help("define it at the end of the module: `blob 0 = \"…\"`"));
            };
            let Some(f) = by_name.get_mut(&used.function) else {
                continue;
            };
            let at = used.constant.index();
            let checked = f.check_constant(f.constants[at].ty, data);
            checked.map_err(|error| fail(error.message))?;
            f.constants[at].storage = data.storage();
            f.constants[at].byte_len = data.len();
            f.data[at] = data.clone();
        }
        Ok(())
    }
}
