//! Parsing types and dims.

use passdock_abi::{DType, Dim, DimKind, ExprKind, SymbolId, TypeId};

use super::super::syntax::CHOICES;
use super::super::syntax::error::ParseError;
use super::parser::{Parse, Parser};
use crate::function::expr::MAX_DIM_TERMS;
use crate::function::types::{BufferSpec, MAX_TYPE_DEPTH, TypeData};

const TYPE_KEYWORDS: &[&str] = &[
    "sparse", "buffer", "tuple", "seq", "optional", "map", "opaque", "fn",
];

impl<'t> Parser<'t, '_> {
    /// Parses `f32[n,3]`, `seq<f32[*]>`, `?`.
    pub(super) fn ty(&mut self) -> Parse<TypeId> {
        self.nested_type(0)
    }

    fn nested_type(&mut self, depth: u32) -> Parse<TypeId> {
        if depth > MAX_TYPE_DEPTH {
            let message = format!("type nested deeper than {MAX_TYPE_DEPTH} levels");
            return self.fail_here(message);
        }
        if self.cur.eat("?") {
            let denotation = self.denotation()?;
            return Ok(self.f.add_denoted_type(TypeData::Unknown, denotation));
        }
        let start = self.cur.here();
        let ident = self.cur.ident();
        match ident {
            "sparse" => {
                let parts = |p: &mut Self| Ok((p.dtype()?, p.shape()?, p.denotation()?));
                let (dtype, dims, denotation) = self.in_angles(ident, parts)?;
                let spec = TypeData::Sparse(dtype, dims.as_deref());
                Ok(self.f.add_denoted_type(spec, denotation))
            }
            "buffer" => self.in_angles(ident, |p| p.buffer(start)),
            "tuple" => {
                self.cur.expect("<", "after `tuple`")?;
                let items = self.types_until(">", depth)?;
                Ok(self.f.add_type(TypeData::Tuple(&items)))
            }
            "seq" | "optional" => {
                let item = self.in_angles(ident, |p| p.nested_type(depth + 1))?;
                let denotation = self.denotation()?;
                let spec = if ident == "seq" {
                    TypeData::Sequence(item)
                } else {
                    TypeData::Optional(item)
                };
                Ok(self.f.add_denoted_type(spec, denotation))
            }
            "map" => {
                let (key, value) = self.in_angles(ident, |p| {
                    let key = p.dtype()?;
                    p.cur.expect(",", "between the key and value of a map")?;
                    Ok((key, p.nested_type(depth + 1)?))
                })?;
                let denotation = self.denotation()?;
                let spec = TypeData::Map(key, value);
                Ok(self.f.add_denoted_type(spec, denotation))
            }
            "opaque" => {
                let name = self.in_angles(ident, |p| p.symbol("the name of an opaque type"))?;
                Ok(self.f.add_type(TypeData::Opaque(name)))
            }
            "fn" => {
                self.cur.expect("(", "after `fn`")?;
                let params = self.types_until(")", depth)?;
                self.cur.expect("->", "after the parameter types")?;
                self.cur.expect("(", "before the result types")?;
                let results = self.types_until(")", depth)?;
                Ok(self.f.add_type(TypeData::Function(&params, &results)))
            }
            ident => self.tensor_or_scalar(ident, start),
        }
    }

    fn tensor_or_scalar(&mut self, ident: &str, start: usize) -> Parse<TypeId> {
        if let Some(dtype) = dtype_named(ident) {
            if self.cur.peek() != b'[' {
                return Ok(self.f.add_type(TypeData::Scalar(dtype, 1)));
            }
            let dims = self.shape()?;
            let denotation = self.denotation()?;
            let spec = TypeData::Tensor(dtype, dims.as_deref());
            return Ok(self.f.add_denoted_type(spec, denotation));
        }
        // `f32x4`
        let lanes = ident.rsplit_once('x').and_then(|(dtype, lanes)| {
            let lanes = lanes.parse().ok().filter(|&lanes| lanes > 1)?;
            Some((dtype_named(dtype)?, lanes))
        });
        match lanes {
            Some((dtype, lanes)) => Ok(self.f.add_type(TypeData::Scalar(dtype, lanes))),
            None => Err(self.unknown_type(ident, start)),
        }
    }

    fn unknown_type(&mut self, ident: &str, start: usize) -> ParseError {
        if ident.is_empty() {
            return self
                .cur
                .missing("a type")
                .help("write a type such as `f32[n,3]`, `i64[]`, `f32[*]`, `seq<f32[*]>` or `?`");
        }
        let known = DType::ALL.iter().filter_map(|dtype| dtype.name());
        self.cur
            .error_since(start, format!("unknown type `{ident}`"))
            .suggest(ident, known.chain(TYPE_KEYWORDS.iter().copied()))
    }

    /// Parses the text between `<` and `>` after a word.
    fn in_angles<T>(&mut self, ident: &str, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.cur.expect("<", &format!("after `{ident}`"))?;
        let inner = inner(self)?;
        self.cur
            .expect(">", &format!("at the end of `{ident}<…>`"))?;
        Ok(inner)
    }

    fn types_until(&mut self, end: &str, depth: u32) -> Parse<Vec<TypeId>> {
        self.list(end, "between types", |p, _| p.nested_type(depth + 1))
    }

    /// Parses an element type.
    pub(super) fn dtype(&mut self) -> Parse<DType> {
        let start = self.cur.here();
        let ident = self.cur.ident();
        dtype_named(ident).ok_or_else(|| self.unknown_type(ident, start))
    }

    fn buffer(&mut self, start: usize) -> Parse<TypeId> {
        let dtype = self.dtype()?;
        let Some(shape) = self.shape()? else {
            return self.fail(start, "a buffer must have a known rank");
        };
        let mut layout = Vec::new();
        let mut scope = SymbolId::NONE;
        let mut may_alias = false;
        while self.cur.eat(",") {
            let start = self.cur.here();
            match self.cur.ident() {
                "strides" => {
                    layout = self.shape()?.unwrap_or_default();
                    self.cur.expect(",", "after the strides of a buffer")?;
                    if !self.cur.eat_keyword("offset") {
                        return self.fail_here("expected `offset` after the strides");
                    }
                    layout.push(self.dim(0)?);
                }
                "scope" => scope = self.symbol("a memory scope")?,
                "may_alias" => may_alias = true,
                ident => {
                    let message = "expected `strides`, `scope` or `may_alias`";
                    let error = self.cur.error_since(start, message);
                    return Err(error.suggest(ident, ["strides", "scope", "may_alias"]));
                }
            }
        }
        if !layout.is_empty() && layout.len() != shape.len() + 1 {
            // Consumed so that the error's span covers the whole type.
            self.cur.eat(">");
            let message = format!(
                "wrong number of strides for the dims of the buffer: expected {}, found {}",
                shape.len(),
                layout.len() - 1
            );
            return self.fail(start, message);
        }
        Ok(self.f.add_type(TypeData::Buffer(BufferSpec {
            dtype,
            shape: &shape,
            layout: &layout,
            scope,
            may_alias,
        })))
    }

    /// Parses `[n,3]`; `None` for `[*]`.
    fn shape(&mut self) -> Parse<Option<Vec<Dim>>> {
        self.cur.expect("[", "before a shape")?;
        if self.cur.eat("*") {
            self.cur.expect("]", "after `*`")?;
            return Ok(None);
        }
        self.list("]", "between dims", |p, _| p.dim(0)).map(Some)
    }

    /// Parses `@IMAGE`.
    fn denotation(&mut self) -> Parse<SymbolId> {
        match self.cur.eat("@") {
            true => self.symbol("a denotation"),
            false => Ok(SymbolId::NONE),
        }
    }

    /// Parses `n`, `3`, `?`, `n*2+1`.
    fn dim(&mut self, depth: u32) -> Parse<Dim> {
        let start = self.cur.here();
        let mut sum = self.product(depth)?;
        loop {
            let minus = match self.cur.peek() {
                b'+' => false,
                b'-' if !self.cur.clone().eat("->") => true,
                _ => return Ok(sum),
            };
            self.cur.bump();
            let mut term = self.product(depth)?;
            if minus {
                term = self.combine(start, ExprKind::MUL, term, Dim::constant(-1))?;
            }
            sum = self.combine(start, ExprKind::ADD, sum, term)?;
        }
    }

    fn product(&mut self, depth: u32) -> Parse<Dim> {
        let start = self.cur.here();
        let mut product = self.factor(depth)?;
        loop {
            let kind = match self.cur.peek() {
                b'*' => ExprKind::MUL,
                b'/' => ExprKind::FLOORDIV,
                b'%' => ExprKind::MOD,
                _ => return Ok(product),
            };
            self.cur.bump();
            let factor = self.factor(depth)?;
            product = self.combine(start, kind, product, factor)?;
        }
    }

    fn factor(&mut self, depth: u32) -> Parse<Dim> {
        if depth > MAX_DIM_TERMS {
            let message = format!("dim nested deeper than {MAX_DIM_TERMS} levels");
            return self.fail_here(message);
        }
        let start = self.cur.here();
        let bare = match self.cur.peek() {
            b'?' => {
                self.cur.bump();
                Dim::UNKNOWN
            }
            b'(' => {
                self.cur.bump();
                let inner = self.dim(depth + 1)?;
                self.cur.expect(")", "in a dim")?;
                inner
            }
            b'-' | b'0'..=b'9' => Dim::constant(self.cur.integer("a dim")?),
            _ => {
                let ident = self.cur.peek_ident();
                match CHOICES.iter().find(|(_, name)| *name == ident) {
                    Some(&(kind, _)) if self.cur.after_ident() == b'(' => {
                        self.cur.ident();
                        self.cur.eat("(");
                        let lhs = self.dim(depth + 1)?;
                        self.cur.expect(",", "between two dims")?;
                        let rhs = self.dim(depth + 1)?;
                        self.cur.expect(")", "in a dim")?;
                        self.combine(start, kind, lhs, rhs)?
                    }
                    _ => Dim::symbol(self.symbol("a dim")?),
                }
            }
        };
        let denotation = self.denotation()?.option().unwrap_or(bare.denotation);
        Ok(Dim { denotation, ..bare })
    }

    fn combine(&mut self, start: usize, kind: ExprKind, lhs: Dim, rhs: Dim) -> Parse<Dim> {
        let known = lhs.kind != DimKind::UNKNOWN && rhs.kind != DimKind::UNKNOWN;
        match self.f.add_expr(kind, lhs, rhs) {
            Ok(dim) if known && dim.kind == DimKind::UNKNOWN => {
                let message = "dim divides by zero, overflows, or has too many terms";
                Err(self.cur.error_since(start, message))
            }
            Ok(dim) => Ok(dim),
            Err(error) => Err(self.cur.error_since(start, error.message)),
        }
    }
}

fn dtype_named(ident: &str) -> Option<DType> {
    if let Some(dtype) = DType::from_name(ident) {
        return Some(dtype);
    }
    if ident == "any" {
        return Some(DType::NONE);
    }
    ident
        .strip_prefix("dtype")?
        .parse()
        .ok()
        .filter(|&code| DType(code).name().is_none() && code != 0)
        .map(DType)
}
