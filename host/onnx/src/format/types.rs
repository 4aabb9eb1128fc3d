//! Conversion between `TypeProto` and the IR's types.

use passdock_abi::{DType, Dim, DimKind, SymbolId, Type, TypeId, TypeKind};
use passdock_ir::{Function, OpName, TypeData};
use rustc_hash::FxHashMap;

use super::error::{OnnxError, Result};
use super::fields::{bodies, text};
use super::schema::{dim, shape, ty, ty_item, ty_map, ty_opaque, ty_tensor};
use super::wire::{Message, Value, put_bytes, put_int};

/// The maximum depth of nested types, which is protobuf's own.
const MAX_DEPTH: u32 = 100;

/// The first code of the IR's own element types. All codes of ONNX are smaller.
const FIRST_PLACEHOLDER: u32 = 0x8000;

/// Returns the element type of a `TensorProto.DataType`.
pub(crate) fn dtype(code: u64) -> DType {
    DType(code as i32 as u32)
}

/// Reads and interns a type. Fields that the IR doesn't model are ignored.
pub(crate) fn read_type(f: &mut Function, message: Message<'_>) -> Result<TypeId> {
    read_nested(f, message, 0)
}

fn read_nested(f: &mut Function, message: Message<'_>, depth: u32) -> Result<TypeId> {
    if depth > MAX_DEPTH {
        let what = format!("types are nested deeper than {MAX_DEPTH} levels");
        return Err(OnnxError::at(message.at, what));
    }
    let mut denotation = SymbolId::NONE;
    let mut held = None;
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (ty::DENOTATION, Value::Bytes(body)) => denotation = f.symbols().intern(text(body)?),
            // The fields are a oneof, so the last one counts.
            (
                ty::TENSOR | ty::SPARSE | ty::SEQUENCE | ty::OPTIONAL | ty::MAP | ty::OPAQUE,
                Value::Bytes(body),
            ) => held = Some((field.number, body)),
            _ => {}
        }
    }
    let Some((number, body)) = held else {
        return Ok(f.add_denoted_type(TypeData::Unknown, denotation));
    };
    let spec = match number {
        ty::TENSOR | ty::SPARSE => {
            let (dtype, dims) = read_tensor(f, body)?;
            let dims = dims.as_deref();
            let spec = if number == ty::TENSOR {
                TypeData::Tensor(dtype, dims)
            } else {
                TypeData::Sparse(dtype, dims)
            };
            return Ok(f.add_denoted_type(spec, denotation));
        }
        ty::SEQUENCE => TypeData::Sequence(read_item(f, body, ty_item::ELEM_TYPE, depth)?),
        ty::OPTIONAL => TypeData::Optional(read_item(f, body, ty_item::ELEM_TYPE, depth)?),
        ty::MAP => {
            let mut key = DType::NONE;
            for field in body.fields() {
                let field = field?;
                if let (ty_map::KEY_TYPE, Value::Varint(code)) = (field.number, field.value) {
                    key = dtype(code);
                }
            }
            TypeData::Map(key, read_item(f, body, ty_map::VALUE_TYPE, depth)?)
        }
        _ => return read_opaque(f, body),
    };
    Ok(f.add_denoted_type(spec, denotation))
}

fn read_item(f: &mut Function, message: Message<'_>, number: u32, depth: u32) -> Result<TypeId> {
    match message.last(number)? {
        Some(body) => read_nested(f, body, depth + 1),
        None => Ok(f.add_type(TypeData::Unknown)),
    }
}

fn read_opaque(f: &mut Function, message: Message<'_>) -> Result<TypeId> {
    let [domain, name] = message.lasts([ty_opaque::DOMAIN, ty_opaque::NAME])?;
    let (domain, name) = (domain.map_or(Ok(""), text)?, name.map_or(Ok(""), text)?);
    let name = OpName::in_domain(domain, name, "").to_string();
    let name = f.symbols().intern(&name);
    Ok(f.add_type(TypeData::Opaque(name)))
}

/// Reads the element type and dims of a tensor; the dims are `None` if the rank is unknown.
fn read_tensor(f: &Function, message: Message<'_>) -> Result<(DType, Option<Vec<Dim>>)> {
    let mut elements = DType::NONE;
    let mut dims: Option<Vec<Dim>> = None;
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (ty_tensor::ELEM_TYPE, Value::Varint(code)) => elements = dtype(code),
            (ty_tensor::SHAPE, Value::Bytes(body)) => {
                let dims = dims.get_or_insert_default();
                for dim in bodies(body, shape::DIM) {
                    dims.push(read_dim(f, dim?)?);
                }
            }
            _ => {}
        }
    }
    Ok((elements, dims))
}

fn read_dim(f: &Function, message: Message<'_>) -> Result<Dim> {
    let mut read = Dim::UNKNOWN;
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (dim::VALUE, Value::Varint(value)) => {
                // Some exporters write -1 for an unknown size.
                let value = value as i64;
                (read.kind, read.value) = if value < 0 {
                    (DimKind::UNKNOWN, 0)
                } else {
                    (DimKind::CONST, value)
                };
            }
            (dim::PARAM, Value::Bytes(body)) => {
                let name = text(body)?;
                (read.kind, read.value) = match name {
                    "" => (DimKind::UNKNOWN, 0),
                    _ => (DimKind::SYMBOL, i64::from(f.symbols().intern(name).0)),
                };
            }
            (dim::DENOTATION, Value::Bytes(body)) => {
                read.denotation = f.symbols().intern(text(body)?);
            }
            _ => {}
        }
    }
    Ok(read)
}

/// Names that exporters write for any unknown size. Two dims with such a name needn't have the same size.
const PLACEHOLDERS: [&str; 9] = [
    "?", "*", "-1", "None", "none", "null", "unk", "unknown", "Unknown",
];

/// Whether a dim's name, with or without a number, only means that the size is unknown.
pub fn is_placeholder(name: &str) -> bool {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let mut parts = name.split('#');
    let stem = parts.next().unwrap_or_default();
    let is_unknown =
        PLACEHOLDERS.contains(&stem) || stem.strip_prefix("unk__").is_some_and(is_number);
    is_unknown && parts.all(is_number)
}

/// A source of distinct symbols for placeholders: `None`, then `None#2`, and so on.
#[derive(Default)]
pub(crate) struct Placeholders {
    /// The number of occurrences of each placeholder.
    met: FxHashMap<SymbolId, u32>,
}

impl Placeholders {
    /// Whether a type contains a placeholder.
    pub(crate) fn are_in(f: &Function, ty: TypeId) -> bool {
        let is_one = |dim: &Dim| {
            dim.kind == DimKind::SYMBOL && is_placeholder(f.text(SymbolId(dim.value as u32)))
        };
        ty.is_some()
            && (f.shape(ty).unwrap_or_default().iter().any(is_one)
                || f.items_of(f.ty(ty))
                    .any(|item| Placeholders::are_in(f, item)))
    }

    /// Returns the type with a distinct symbol for each placeholder.
    pub(crate) fn with_distinct_symbols(&mut self, f: &mut Function, id: TypeId) -> TypeId {
        f.map_dims(id, &mut |f, mut dim| {
            if dim.kind == DimKind::SYMBOL {
                let symbol = self.symbol(f, SymbolId(dim.value as u32));
                dim.value = i64::from(symbol.0);
            }
            dim
        })
    }

    fn symbol(&mut self, f: &Function, symbol: SymbolId) -> SymbolId {
        let name = f.text(symbol);
        if !is_placeholder(name) {
            return symbol;
        }
        let met = self.met.entry(symbol).or_default();
        *met += 1;
        match *met {
            // A name that looks like a generated one is numbered from its first occurrence on.
            1 if !name.contains('#') => symbol,
            number => f.symbols().intern(&format!("{name}#{number}")),
        }
    }
}

/// Returns the name of a dim symbol in the file. Placeholders such as `None` mean any unknown size, so the reader
/// numbers them; this removes the number.
pub fn name_in_file(symbol: &str) -> &str {
    match symbol.rsplit_once('#') {
        Some((stem, _)) if is_placeholder(symbol) => stem,
        _ => symbol,
    }
}

/// Rejects the IR's own element types, such as `index`. Unknown codes are may be of later versions.
pub(crate) fn check_dtype(dtype: DType) -> Result {
    match dtype.name() {
        Some(name) if dtype.0 >= FIRST_PLACEHOLDER => Err(OnnxError::new(format!(
            "ONNX has no element type `{name}`; use another one, such as `i64`, before exporting"
        ))),
        _ => Ok(()),
    }
}

/// Rejects a type that contains one of the IR's own element types.
pub(crate) fn check_dtypes(f: &Function, id: TypeId) -> Result {
    let mut pending = Vec::from_iter(id.is_some().then_some(id));
    while let Some(id) = pending.pop() {
        let record = f.ty(id);
        check_dtype(record.dtype)?;
        pending.extend(f.items_of(record));
    }
    Ok(())
}

/// Encodes a type as the fields of a `TypeProto`; empty for `NONE`.
pub(crate) fn encode_type(f: &Function, id: TypeId) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if id.is_some() {
        put_nested(f, id, &mut bytes, 0)?;
    }
    Ok(bytes)
}

fn put_nested(f: &Function, id: TypeId, to: &mut Vec<u8>, depth: u32) -> Result {
    if depth > MAX_DEPTH {
        let what = format!("types are nested deeper than {MAX_DEPTH} levels, the limit of ONNX");
        return Err(OnnxError::new(what));
    }
    let record = f.ty(id);
    let mut body = Vec::new();
    let number = match record.kind {
        TypeKind::UNKNOWN => 0,
        TypeKind::TENSOR | TypeKind::SPARSE => {
            put_tensor(f, record, &mut body);
            if record.kind == TypeKind::TENSOR {
                ty::TENSOR
            } else {
                ty::SPARSE
            }
        }
        TypeKind::SEQUENCE | TypeKind::OPTIONAL => {
            put_item(f, record, ty_item::ELEM_TYPE, &mut body, depth)?;
            if record.kind == TypeKind::SEQUENCE {
                ty::SEQUENCE
            } else {
                ty::OPTIONAL
            }
        }
        TypeKind::MAP => {
            put_int(&mut body, ty_map::KEY_TYPE, i64::from(record.dtype.0));
            put_item(f, record, ty_map::VALUE_TYPE, &mut body, depth)?;
            ty::MAP
        }
        TypeKind::OPAQUE => {
            let name = f.text(record.name);
            let name = OpName::parse(name)
                .ok_or_else(|| OnnxError::new(format!("`{name}` is not a canonical type name")))?;
            if let Some(domain) = name.domain.filter(|domain| !domain.is_empty()) {
                put_bytes(&mut body, ty_opaque::DOMAIN, domain.as_bytes());
            }
            put_bytes(&mut body, ty_opaque::NAME, name.name.as_bytes());
            put_bytes(to, ty::OPAQUE, &body);
            return Ok(());
        }
        _ => {
            let what = "ONNX has no type for a scalar, buffer, tuple or function of the IR; lower it \
                        to tensors before exporting";
            return Err(OnnxError::new(what));
        }
    };
    if number != 0 {
        put_bytes(to, number, &body);
    }
    if record.name.is_some() {
        put_bytes(to, ty::DENOTATION, f.text(record.name).as_bytes());
    }
    Ok(())
}

fn put_item(f: &Function, record: &Type, number: u32, to: &mut Vec<u8>, depth: u32) -> Result {
    let Some(item) = f.items_of(record).next() else {
        return Ok(());
    };
    let mut body = Vec::new();
    put_nested(f, item, &mut body, depth + 1)?;
    if !body.is_empty() {
        put_bytes(to, number, &body);
    }
    Ok(())
}

fn put_tensor(f: &Function, record: &Type, to: &mut Vec<u8>) {
    if record.dtype != DType::NONE {
        put_int(to, ty_tensor::ELEM_TYPE, i64::from(record.dtype.0 as i32));
    }
    if record.flags & Type::UNRANKED != 0 {
        return;
    }
    let mut dims = Vec::new();
    for dim in f.dims_in(record.dims) {
        let mut body = Vec::new();
        match dim.kind {
            DimKind::CONST => put_int(&mut body, dim::VALUE, dim.value),
            DimKind::SYMBOL => {
                let name = name_in_file(f.text(SymbolId(dim.value as u32)));
                put_bytes(&mut body, dim::PARAM, name.as_bytes());
            }
            // ONNX has no dim expressions, and a new symbol would add a name to the file.
            _ => {}
        }
        if dim.denotation.is_some() {
            put_bytes(
                &mut body,
                dim::DENOTATION,
                f.text(dim.denotation).as_bytes(),
            );
        }
        put_bytes(&mut dims, shape::DIM, &body);
    }
    put_bytes(to, ty_tensor::SHAPE, &dims);
}

#[cfg(test)]
mod tests {
    use passdock_abi::FunctionKind;
    use passdock_ir::Symbols;

    use super::*;

    fn function() -> Function {
        let symbols = Symbols::new();
        let name = symbols.intern("main");
        Function::new(symbols, FunctionKind::GRAPH, name)
    }

    /// Types as ONNX encodes them are unchanged after reading and writing.
    #[test]
    fn types_round_trip() {
        let mut f = function();
        let shape: &[u8] = &[0x12, 10, 10, 2, 8, 3, 10, 0, 10, 2, 18, 0];
        let named: &[u8] = &[0x12, 9, 10, 7, 18, 1, b'n', 26, 2, b'N', b'C'];
        let tensor = |shape: &[u8]| {
            let mut body = vec![0x08, 1];
            body.extend(shape);
            let mut ty = vec![0x0a, body.len() as u8];
            ty.extend(body);
            ty
        };
        let wrap = |number: u8, mut body: Vec<u8>| {
            body.splice(0..0, [number << 3 | 2, body.len() as u8]);
            body
        };
        let sequence = wrap(4, wrap(1, tensor(named)));
        let mut denoted = tensor(named);
        denoted.extend([0x32, 1, b'D']);
        let map = wrap(5, [vec![8, 7], wrap(2, tensor(&[]))].concat());
        let opaque = wrap(7, vec![10, 1, b'a', 18, 1, b'b']);
        let sparse = [&[0x42, 2][..], &[8, 10]].concat();
        for bytes in [
            Vec::new(),
            tensor(named),
            tensor(&[]),
            tensor(&[0x12, 0]),
            denoted,
            sequence.clone(),
            wrap(9, wrap(1, sequence)),
            map,
            opaque,
            sparse,
        ] {
            let id = read_type(&mut f, Message::detached(&bytes)).unwrap();
            assert_eq!(encode_type(&f, id).unwrap(), bytes);
        }
        // An empty dim name is the same as none.
        let id = read_type(&mut f, Message::detached(&tensor(shape))).unwrap();
        assert_eq!(f.shape(id).map(<[Dim]>::len), Some(3));
        assert_eq!(f.static_shape(id), None);
    }

    /// Each occurrence of a placeholder is a distinct symbol, and has the same name in the file.
    #[test]
    fn placeholders_are_distinct_symbols() {
        let named = |name: &[u8]| {
            let dim = [&[10, name.len() as u8 + 2, 18, name.len() as u8], name].concat();
            let shape = [&[0x12, dim.len() as u8][..], &dim].concat();
            let tensor = [&[0x08, 1][..], &shape].concat();
            [&[0x0a, tensor.len() as u8][..], &tensor].concat()
        };
        let (mut f, mut placeholders) = (function(), Placeholders::default());
        let cases = [
            ("None", "None"),
            ("None", "None#2"),
            ("unk__0", "unk__0"),
            ("?", "?"),
            ("?", "?#2"),
            ("None#2", "None#2#1"),
            ("batch", "batch"),
            ("batch", "batch"),
            ("batch#2", "batch#2"),
        ];
        for (name, symbol) in cases {
            let bytes = named(name.as_bytes());
            let raw = read_type(&mut f, Message::detached(&bytes)).unwrap();
            let id = match Placeholders::are_in(&f, raw) {
                true => placeholders.with_distinct_symbols(&mut f, raw),
                false => raw,
            };
            let dim = f.shape(id).unwrap()[0];
            assert_eq!(f.text(SymbolId(dim.value as u32)), symbol);
            assert_eq!(encode_type(&f, id).unwrap(), bytes, "{name}");
        }
    }

    #[test]
    fn nesting_of_types_is_limited() {
        let mut bytes = Vec::new();
        for _ in 0..250 {
            for number in [ty_item::ELEM_TYPE, ty::SEQUENCE] {
                let mut outer = Vec::new();
                put_bytes(&mut outer, number, &bytes);
                bytes = outer;
            }
        }
        let message = Message::whole(&bytes);
        let error = read_type(&mut function(), message).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("types are nested deeper than 100 levels"),
            "{error}"
        );
    }
}
