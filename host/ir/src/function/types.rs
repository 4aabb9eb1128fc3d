//! Types and dims, interned per function, so that types are equal if their ids are.

use std::borrow::Cow;
use std::hash::BuildHasher;

use passdock_abi::{
    DType, Dim, DimExpr, DimKind, ExprId, Range, SymbolId, Type, TypeId, TypeKind, symbol,
};
use rustc_hash::FxBuildHasher;

use super::Function;
use crate::pool::{push_range, slice};

/// The maximum depth of nested types.
pub const MAX_TYPE_DEPTH: u32 = 64;

/// A type to intern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TypeData<'a> {
    /// The unknown type.
    Unknown,
    /// A tensor; `None`: unknown rank.
    Tensor(DType, Option<&'a [Dim]>),
    /// A sparse tensor; `None`: unknown rank.
    Sparse(DType, Option<&'a [Dim]>),
    /// A scalar with a number of lanes.
    Scalar(DType, u32),
    /// A buffer.
    Buffer(BufferSpec<'a>),
    /// A tuple of element types.
    Tuple(&'a [TypeId]),
    /// A sequence of an element type.
    Sequence(TypeId),
    /// An optional of an element type.
    Optional(TypeId),
    /// A map from a key type to a value type.
    Map(DType, TypeId),
    /// An opaque type, by its canonical name.
    Opaque(SymbolId),
    /// A function with parameter types and result types.
    Function(&'a [TypeId], &'a [TypeId]),
}

/// A buffer type to intern.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferSpec<'a> {
    /// The element type.
    pub dtype: DType,
    /// The shape.
    pub shape: &'a [Dim],
    /// Strides in elements, one per dim, then the offset; empty: compact, with offset 0.
    pub layout: &'a [Dim],
    /// The memory scope; NONE: global.
    pub scope: SymbolId,
    /// Whether other buffers may overlap it.
    pub may_alias: bool,
}

/// Returns the denotation of a symbol; NONE for the empty string.
fn denotation_of(name: SymbolId) -> SymbolId {
    match name {
        symbol::EMPTY => SymbolId::NONE,
        name => name,
    }
}

fn plain(dims: &[Dim]) -> Cow<'_, [Dim]> {
    if dims.iter().all(|dim| dim.denotation != symbol::EMPTY) {
        return Cow::Borrowed(dims);
    }
    let each = dims.iter().map(|&dim| Dim {
        denotation: denotation_of(dim.denotation),
        ..dim
    });
    each.collect()
}

impl Function {
    /// Interns the unknown type, which is type 0 of each function.
    pub(super) fn add_unknown_type(&mut self) {
        self.add_type(TypeData::Unknown);
    }

    /// Interns a type.
    pub fn add_type(&mut self, spec: TypeData<'_>) -> TypeId {
        self.add_denoted_type(spec, SymbolId::NONE)
    }

    /// Interns an ONNX tensor type with a denotation.
    pub fn add_denoted_type(&mut self, spec: TypeData<'_>, denotation: SymbolId) -> TypeId {
        let mut record = Type {
            kind: TypeKind::UNKNOWN,
            dtype: DType::NONE,
            lanes: 0,
            flags: 0,
            dims: Range::EMPTY,
            aux: Range::EMPTY,
            name: denotation,
            reserved: 0,
        };
        let (mut dims, mut layout): (&[Dim], &[Dim]) = (&[], &[]);
        let one;
        let joined;
        let items: &[TypeId] = match spec {
            TypeData::Unknown => &[],
            TypeData::Tensor(dtype, shape) | TypeData::Sparse(dtype, shape) => {
                record.kind = match spec {
                    TypeData::Tensor(..) => TypeKind::TENSOR,
                    _ => TypeKind::SPARSE,
                };
                record.dtype = dtype;
                match shape {
                    Some(shape) => dims = shape,
                    None => record.flags = Type::UNRANKED,
                }
                &[]
            }
            TypeData::Scalar(dtype, lanes) => {
                (record.kind, record.dtype, record.lanes) = (TypeKind::SCALAR, dtype, lanes);
                &[]
            }
            TypeData::Buffer(buffer) => {
                (record.kind, record.dtype, record.name) =
                    (TypeKind::BUFFER, buffer.dtype, buffer.scope);
                record.flags = if buffer.may_alias { Type::MAY_ALIAS } else { 0 };
                (dims, layout) = (buffer.shape, buffer.layout);
                &[]
            }
            TypeData::Tuple(items) => {
                record.kind = TypeKind::TUPLE;
                items
            }
            TypeData::Sequence(item) | TypeData::Optional(item) => {
                record.kind = match spec {
                    TypeData::Sequence(_) => TypeKind::SEQUENCE,
                    _ => TypeKind::OPTIONAL,
                };
                one = [item];
                &one
            }
            TypeData::Map(key, value) => {
                (record.kind, record.dtype) = (TypeKind::MAP, key);
                one = [value];
                &one
            }
            TypeData::Opaque(name) => {
                (record.kind, record.name) = (TypeKind::OPAQUE, name);
                &[]
            }
            TypeData::Function(params, results) => {
                record.kind = TypeKind::FUNCTION;
                record.lanes = results.len() as u32;
                joined = [params, results].concat();
                &joined
            }
        };
        record.name = denotation_of(record.name);
        self.intern_type(record, &plain(dims), &plain(layout), items)
    }

    /// Interns a record with its lists; the ranges in the record are ignored.
    pub(crate) fn intern_type(
        &mut self,
        mut record: Type,
        dims: &[Dim],
        layout: &[Dim],
        items: &[TypeId],
    ) -> TypeId {
        record.dims = Range::EMPTY;
        record.aux = Range::EMPTY;
        let hash = FxBuildHasher.hash_one((record, dims, layout, items));
        let found = self.type_index.find(hash, |&(_, id)| {
            let known = self.ty(id);
            let bare = Type {
                dims: Range::EMPTY,
                aux: Range::EMPTY,
                ..*known
            };
            bare == record
                && self.dims_in(known.dims) == dims
                && self.layout_of(known) == layout
                && self.items_of(known).eq(items.iter().copied())
        });
        if let Some(&(_, id)) = found {
            return id;
        }
        record.dims = push_range(&mut self.dims, dims.iter().copied());
        record.aux = if items.is_empty() {
            push_range(&mut self.dims, layout.iter().copied())
        } else {
            push_range(&mut self.ids, items.iter().map(|item| item.0))
        };
        let id = TypeId(self.types.len() as u32);
        self.types.push(record);
        self.type_index
            .insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// Maps each dim of a type and of its nested types, and interns the result.
    pub fn map_dims(&mut self, id: TypeId, map: &mut impl FnMut(&Function, Dim) -> Dim) -> TypeId {
        let record = *self.ty(id);
        let items: Vec<TypeId> = self.items_of(&record).collect();
        let items: Vec<TypeId> = items
            .into_iter()
            .map(|item| self.map_dims(item, map))
            .collect();
        let [dims, layout] = [self.dims_in(record.dims), self.layout_of(&record)]
            .map(|dims| dims.iter().map(|&dim| map(self, dim)).collect::<Vec<_>>());
        self.intern_type(record, &dims, &layout, &items)
    }

    /// Returns a type's record.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.index()]
    }

    /// Returns the dims of a tensor's or buffer's shape; `None` if the rank is unknown.
    pub fn shape(&self, id: TypeId) -> Option<&[Dim]> {
        let ty = self.types.get(id.index())?;
        let shaped = matches!(
            ty.kind,
            TypeKind::TENSOR | TypeKind::SPARSE | TypeKind::BUFFER
        );
        (shaped && ty.flags & Type::UNRANKED == 0).then(|| self.dims_in(ty.dims))
    }

    /// Returns the shape of a type if all its dims are constant.
    pub fn static_shape(&self, id: TypeId) -> Option<Vec<i64>> {
        let dims = self.shape(id)?;
        dims.iter()
            .map(|dim| (dim.kind == DimKind::CONST).then_some(dim.value))
            .collect()
    }

    /// Returns a buffer's strides and offset.
    pub fn layout_of(&self, ty: &Type) -> &[Dim] {
        if ty.kind == TypeKind::BUFFER {
            self.dims_in(ty.aux)
        } else {
            &[]
        }
    }

    /// Iterates over the types that a type contains.
    pub fn items_of(&self, ty: &Type) -> impl ExactSizeIterator<Item = TypeId> + '_ {
        let range = if ty.kind == TypeKind::BUFFER {
            Range::EMPTY
        } else {
            ty.aux
        };
        slice(&self.ids, range).iter().map(|&id| TypeId(id))
    }

    /// Returns the dims in a range.
    pub fn dims_in(&self, range: Range) -> &[Dim] {
        slice(&self.dims, range)
    }

    /// Returns a dim expression's record.
    pub fn expr(&self, id: ExprId) -> &DimExpr {
        &self.exprs[id.index()]
    }

    /// Whether a value of type `new` may replace one of type `old`: the types may specify more or less, but may not
    /// contradict each other.
    pub fn is_compatible(&self, old: TypeId, new: TypeId) -> bool {
        let mut pairs = vec![(old, new)];
        while let Some((old, new)) = pairs.pop() {
            if old == new || old.is_none() || new.is_none() {
                continue;
            }
            let (a, b) = (self.ty(old), self.ty(new));
            if a.kind == TypeKind::UNKNOWN || b.kind == TypeKind::UNKNOWN {
                continue;
            }
            let dtypes = a.dtype == b.dtype || a.dtype == DType::NONE || b.dtype == DType::NONE;
            if a.kind != b.kind || !dtypes || a.lanes != b.lanes {
                return false;
            }
            if let (Some(a), Some(b)) = (self.shape(old), self.shape(new)) {
                let contradict = |(a, b): (&Dim, &Dim)| {
                    a.kind == DimKind::CONST && b.kind == DimKind::CONST && a.value != b.value
                };
                if a.len() != b.len() || a.iter().zip(b).any(contradict) {
                    return false;
                }
            }
            if self.items_of(a).len() != self.items_of(b).len() {
                return false;
            }
            pairs.extend(self.items_of(a).zip(self.items_of(b)));
        }
        true
    }
}
