//! [`Type`], which reads a type, and [`TypeSpec`], which describes a new one.

use std::fmt;

use passdock_abi as abi;
use passdock_abi::{DType, Dim, DimKind, ExprKind, SymbolId, TypeId, TypeKind, ValueId};

use super::Function;
use crate::ffi::descriptions::TypeDesc;
use crate::ffi::Records;

/// A type of a function, which borrows the function.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn is_f32_matrix(f: &Function, value: ValueId) -> bool {
///     let ty = f.type_of(value);
///     ty.dtype() == Some(DType::F32) && ty.rank() == Some(2)
/// }
/// ```
#[derive(Clone, Copy)]
pub struct Type<'a> {
    function: &'a Function,
    record: abi::Type,
}

impl<'a> Type<'a> {
    pub(crate) fn new(function: &'a Function, record: abi::Type) -> Type<'a> {
        Type { function, record }
    }

    /// Returns the type's kind.
    pub fn kind(&self) -> TypeKind {
        self.record.kind
    }

    /// Returns the element type; `None` if it is unknown or the type has none.
    pub fn dtype(&self) -> Option<DType> {
        Some(self.record.dtype).filter(|dtype| *dtype != DType::NONE)
    }

    /// Whether it is a tensor.
    pub fn is_tensor(&self) -> bool {
        self.record.kind == TypeKind::TENSOR
    }

    /// Returns the vector lanes of a scalar; 0 for other types.
    pub fn lanes(&self) -> u32 {
        self.record.lanes
    }

    /// Returns the number of dims of a tensor or buffer, if it is known.
    pub fn rank(&self) -> Option<usize> {
        self.dims().map(|dims| dims.len())
    }

    /// Returns the dims of a tensor or buffer, if the rank is known.
    pub fn dims(&self) -> Option<Dims<'a>> {
        let shaped = matches!(
            self.record.kind,
            TypeKind::TENSOR | TypeKind::BUFFER | TypeKind::SPARSE
        );
        if !shaped || self.record.flags & abi::Type::UNRANKED != 0 {
            return None;
        }
        Some(Dims(self.function.raw.dim_range(self.record.dims)))
    }

    /// Returns the sizes, if all dims are constant.
    pub fn shape(&self) -> Option<Vec<i64>> {
        self.dims()?.map(Dim::as_const).collect()
    }

    /// Returns the number of elements, if all dims are constant and the product fits.
    pub fn element_count(&self) -> Option<u64> {
        self.dims()?.try_fold(1u64, |product, dim| {
            product.checked_mul(u64::try_from(dim.as_const()?).ok()?)
        })
    }

    /// Returns a buffer's strides and, last, its offset; empty if it is compact.
    pub fn layout(&self) -> Option<Dims<'a>> {
        if self.record.kind != TypeKind::BUFFER {
            return None;
        }
        Some(Dims(self.function.raw.dim_range(self.record.aux)))
    }

    /// Returns the component types of a tuple, sequence, optional, map or function type.
    pub fn items(&self) -> &'a [TypeId] {
        match self.record.kind {
            TypeKind::TUPLE
            | TypeKind::SEQUENCE
            | TypeKind::OPTIONAL
            | TypeKind::MAP
            | TypeKind::FUNCTION => self.function.raw.ids(self.record.aux),
            _ => &[],
        }
    }

    /// Returns a buffer's scope, an opaque type's name, or a tensor's denotation; `""` if there is none.
    pub fn name(&self) -> &'a str {
        match self.record.name.option() {
            Some(symbol) => self.function.text(symbol),
            None => "",
        }
    }

    /// Returns the dim symbols of the type, each once, including those of expressions and component types.
    pub fn symbols(&self) -> Vec<SymbolId> {
        let mut symbols = Vec::new();
        // Most types are static, and passes call this for each type.
        let sizes = self.dims().into_iter().chain(self.layout()).flatten();
        let mut pending: Vec<Dim> = sizes.filter(|dim| dim.kind != DimKind::CONST).collect();
        pending.reverse();
        while let Some(dim) = pending.pop() {
            match dim.kind {
                DimKind::SYMBOL => {
                    let symbol = SymbolId(dim.value as u32);
                    if !symbols.contains(&symbol) {
                        symbols.push(symbol);
                    }
                }
                DimKind::EXPR => {
                    if let Some(expr) = self.function.raw.expr(dim.value as u32) {
                        pending.extend([expr.rhs, expr.lhs]);
                    }
                }
                _ => {}
            }
        }
        // A type consists of older types only, so the recursion terminates.
        for &item in self.items() {
            for symbol in self.function.ty(item).symbols() {
                if !symbols.contains(&symbol) {
                    symbols.push(symbol);
                }
            }
        }
        symbols
    }

    /// Returns the type's record.
    pub fn record(&self) -> abi::Type {
        self.record
    }

    fn write_dim(&self, f: &mut fmt::Formatter<'_>, dim: Dim, depth: u32) -> fmt::Result {
        match dim.kind {
            DimKind::CONST => write!(f, "{}", dim.value),
            DimKind::SYMBOL => f.write_str(self.function.text(SymbolId(dim.value as u32))),
            DimKind::EXPR if depth < 16 => match self.function.raw.expr(dim.value as u32) {
                Some(expr) => {
                    f.write_str("(")?;
                    self.write_dim(f, expr.lhs, depth + 1)?;
                    f.write_str(match expr.kind {
                        ExprKind::ADD => " + ",
                        ExprKind::MUL => " * ",
                        ExprKind::FLOORDIV => " floordiv ",
                        ExprKind::MOD => " mod ",
                        ExprKind::MIN => " min ",
                        ExprKind::MAX => " max ",
                        ExprKind::BROADCAST => " broadcast ",
                        _ => " ? ",
                    })?;
                    self.write_dim(f, expr.rhs, depth + 1)?;
                    f.write_str(")")
                }
                None => f.write_str("?"),
            },
            DimKind::EXPR => f.write_str("…"),
            _ => f.write_str("?"),
        }
    }
}

/// Prints tensors and scalars as in IR text (`f32[n,3]`); for messages.
impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dtype = self.record.dtype.name().unwrap_or("?");
        match self.record.kind {
            TypeKind::TENSOR | TypeKind::SPARSE | TypeKind::BUFFER => {
                f.write_str(dtype)?;
                match self.dims() {
                    Some(dims) => {
                        f.write_str("[")?;
                        for (index, dim) in dims.enumerate() {
                            if index > 0 {
                                f.write_str(",")?;
                            }
                            self.write_dim(f, dim, 0)?;
                        }
                        f.write_str("]")
                    }
                    None => f.write_str("[*]"),
                }
            }
            TypeKind::SCALAR if self.record.lanes > 1 => {
                write!(f, "{}x{}", dtype, self.record.lanes)
            }
            TypeKind::SCALAR => f.write_str(dtype),
            TypeKind::TUPLE => f.write_str("tuple"),
            TypeKind::SEQUENCE => f.write_str("seq"),
            TypeKind::OPTIONAL => f.write_str("optional"),
            TypeKind::MAP => f.write_str("map"),
            TypeKind::OPAQUE => f.write_str(self.name()),
            TypeKind::FUNCTION => f.write_str("function"),
            _ => f.write_str("?"),
        }
    }
}

impl fmt::Debug for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Function {
    /// Returns a value's type; the unknown type for an omitted operand.
    #[inline]
    #[track_caller]
    pub fn type_of(&self, value: ValueId) -> Type<'_> {
        self.ty(self.type_id(value))
    }

    /// Returns a type by its id; the unknown type for an unknown id.
    #[inline]
    pub fn ty(&self, id: TypeId) -> Type<'_> {
        const UNKNOWN: abi::Type = abi::Type {
            kind: abi::TypeKind::UNKNOWN,
            dtype: abi::DType::NONE,
            lanes: 0,
            flags: 0,
            dims: abi::Range::EMPTY,
            aux: abi::Range::EMPTY,
            name: SymbolId::NONE,
            reserved: 0,
        };
        Type::new(self, self.raw.ty(id.0).unwrap_or(UNKNOWN))
    }

    /// Returns a value's element type; `None` if it is unknown or the type has none.
    #[inline]
    #[track_caller]
    pub fn dtype(&self, value: ValueId) -> Option<DType> {
        self.type_of(value).dtype()
    }

    /// Returns a value's rank, if it is known.
    #[inline]
    #[track_caller]
    pub fn rank(&self, value: ValueId) -> Option<usize> {
        self.type_of(value).rank()
    }

    /// Returns a value's dims, if the rank is known.
    #[inline]
    #[track_caller]
    pub fn dims(&self, value: ValueId) -> Option<Dims<'_>> {
        self.type_of(value).dims()
    }

    /// Returns a value's sizes, if all are constant.
    #[track_caller]
    pub fn shape(&self, value: ValueId) -> Option<Vec<i64>> {
        self.type_of(value).shape()
    }

    /// Whether the imported file declares a value's type.
    #[track_caller]
    pub fn is_declared(&self, value: ValueId) -> bool {
        let record = self.value_record(value);
        record.map_or(false, |record| record.flags & abi::Value::DECLARED != 0)
    }

    /// Returns the number of a generated dim symbol, which names an unknown size: `_1`, `_2`, …
    ///
    /// Such a symbol means only that sizes are equal; the size may be 0.
    pub fn invented(&self, symbol: SymbolId) -> Option<u64> {
        let digits = self.text(symbol).strip_prefix('_')?;
        let is_number =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        digits.parse().ok().filter(|_| is_number)
    }

    /// Returns the two sides of a dim expression; `None` for other dims.
    #[inline]
    pub fn dim_expr(&self, dim: abi::Dim) -> Option<abi::DimExpr> {
        if dim.kind != abi::DimKind::EXPR {
            return None;
        }
        self.raw.expr(dim.value as u32)
    }
}

/// The dims of a type.
#[derive(Clone)]
pub struct Dims<'a>(Records<'a, Dim>);

impl Dims<'_> {
    /// Returns the dim at an index.
    pub fn get(&self, index: usize) -> Option<Dim> {
        self.0.get(index)
    }

    /// Whether there are no dims: a tensor of rank 0.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 0
    }
}

impl Iterator for Dims<'_> {
    type Item = Dim;

    #[inline]
    fn next(&mut self) -> Option<Dim> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for Dims<'_> {}

/// A type to intern with [`Function::add_type`]: `TypeSpec::tensor(DType::F32, [Dim::constant(3)])`.
///
/// # Examples
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn make_type(f: &mut Function, _cx: &PassContext) -> PassResult {
///     let n = f.intern("n")?;
///     let batch = f.add_type(&TypeSpec::tensor(DType::F32, [Dim::symbol(n), Dim::constant(3)]))?;
///     assert_eq!(f.ty(batch).to_string(), "f32[n,3]");
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSpec {
    kind: TypeKind,
    dtype: DType,
    lanes: u32,
    flags: u32,
    name: SymbolId,
    dims: Vec<Dim>,
    layout: Vec<Dim>,
    items: Vec<TypeId>,
}

impl TypeSpec {
    fn new(kind: TypeKind, dtype: DType) -> TypeSpec {
        TypeSpec {
            kind,
            dtype,
            lanes: 0,
            flags: 0,
            name: SymbolId::NONE,
            dims: Vec::new(),
            layout: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Returns the unknown type.
    pub fn unknown() -> TypeSpec {
        TypeSpec::new(TypeKind::UNKNOWN, DType::NONE)
    }

    /// Returns a tensor type.
    pub fn tensor(dtype: DType, dims: impl IntoIterator<Item = Dim>) -> TypeSpec {
        TypeSpec::new(TypeKind::TENSOR, dtype).with_dims(dims)
    }

    /// Returns a tensor type with constant dims.
    pub fn shaped(dtype: DType, sizes: &[i64]) -> TypeSpec {
        TypeSpec::tensor(dtype, sizes.iter().map(|size| Dim::constant(*size)))
    }

    /// Returns a tensor type of unknown rank.
    pub fn unranked(dtype: DType) -> TypeSpec {
        let mut spec = TypeSpec::new(TypeKind::TENSOR, dtype);
        spec.flags = abi::Type::UNRANKED;
        spec
    }

    /// Returns a scalar type of the loop level.
    pub fn scalar(dtype: DType) -> TypeSpec {
        TypeSpec::vector(dtype, 1)
    }

    /// Returns a vector type of the loop level.
    pub fn vector(dtype: DType, lanes: u32) -> TypeSpec {
        let mut spec = TypeSpec::new(TypeKind::SCALAR, dtype);
        spec.lanes = lanes;
        spec
    }

    /// Returns the type of a compact buffer of the loop level.
    pub fn buffer(dtype: DType, dims: impl IntoIterator<Item = Dim>) -> TypeSpec {
        TypeSpec::new(TypeKind::BUFFER, dtype).with_dims(dims)
    }

    /// Returns a tuple type.
    pub fn tuple(items: impl IntoIterator<Item = TypeId>) -> TypeSpec {
        TypeSpec::new(TypeKind::TUPLE, DType::NONE).with_items(items)
    }

    /// Returns a sequence type.
    pub fn sequence(item: TypeId) -> TypeSpec {
        TypeSpec::new(TypeKind::SEQUENCE, DType::NONE).with_items([item])
    }

    /// Returns an optional type.
    pub fn optional(item: TypeId) -> TypeSpec {
        TypeSpec::new(TypeKind::OPTIONAL, DType::NONE).with_items([item])
    }

    /// Replaces the dims, with the same number of them.
    pub fn with_dims(mut self, dims: impl IntoIterator<Item = Dim>) -> TypeSpec {
        self.dims = dims.into_iter().collect();
        self
    }

    /// Replaces the component types, with the same number of them.
    pub fn with_items(mut self, items: impl IntoIterator<Item = TypeId>) -> TypeSpec {
        self.items = items.into_iter().collect();
        self
    }

    /// Returns a map type, whose keys have an element type.
    pub fn map(key: DType, value: TypeId) -> TypeSpec {
        TypeSpec::new(TypeKind::MAP, key).with_items([value])
    }

    /// Sets a buffer's scope, an opaque type's name, or a tensor's denotation.
    pub fn named(mut self, name: SymbolId) -> TypeSpec {
        self.name = name;
        self
    }

    pub(crate) fn desc(&self) -> TypeDesc<'_> {
        TypeDesc {
            kind: self.kind,
            dtype: self.dtype,
            lanes: self.lanes,
            flags: self.flags,
            name: self.name,
            dims: &self.dims,
            layout: &self.layout,
            items: &self.items,
        }
    }
}

/// Returns the description of an existing type.
impl From<Type<'_>> for TypeSpec {
    fn from(ty: Type<'_>) -> TypeSpec {
        let record = ty.record;
        TypeSpec {
            kind: record.kind,
            dtype: record.dtype,
            lanes: record.lanes,
            flags: record.flags,
            name: record.name,
            dims: ty.dims().map_or(Vec::new(), Iterator::collect),
            layout: ty.layout().map_or(Vec::new(), Iterator::collect),
            items: ty.items().to_vec(),
        }
    }
}
