//! The sizes and storage of constants. Elements aren't read.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use passdock_abi::{AttrKind, ConstId, Constant, DType, TypeKind, Value};
use passdock_ir::{ByteSource, ConstantData, FileRange, Function, Module, Payload, text};
use rustc_hash::FxHashMap;

use super::interface::dtype_name;
use super::{Amount, ConstantsFile, DTypeAmount, LargeConstant, Sparse, Stats, Storage};
use passdock_core::{ErrorKind, PassError};

/// The role of a constant in its function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Initializer,
    Default,
    Node,
    Attribute,
    Scalar,
}

impl Role {
    fn is_parameter(self) -> bool {
        self < Role::Attribute
    }
}

/// The location of data. Constants with equal locations share their data.
#[derive(PartialEq, Eq, Hash)]
enum DataLocation<'m> {
    Memory(*const ConstantData),
    File(&'m str, u64, u64),
}

/// The data of one or several constants.
struct Entry<'m> {
    /// The first constant with the data.
    f: &'m Function,
    id: ConstId,
    role: Role,
    dtype: DType,
    elements: u64,
    bytes: u64,
    used: bool,
}

impl<'m> Entry<'m> {
    fn payload(&self) -> &'m Payload {
        self.f.constant_data(self.id).payload()
    }
}

/// Measures the constants of all functions.
pub(super) fn measure(module: &Module, top: usize, stats: &mut Stats) -> Result<(), PassError> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut indices: FxHashMap<DataLocation<'_>, usize> = FxHashMap::default();
    for f in module.functions() {
        for (id, constant) in f.live_constants() {
            let data = f.constant_data(id);
            let entry = entry(f, id, constant, data)?;
            match indices.entry(data_location(data)) {
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(entries.len());
                    entries.push(entry);
                }
                std::collections::hash_map::Entry::Occupied(occupied) => {
                    let first = &mut entries[*occupied.get()];
                    let parameters = &mut stats.parameters;
                    if entry.role.is_parameter() && first.role.is_parameter() {
                        add(&mut parameters.shared, &entry);
                    }
                    let used = first.used || entry.used;
                    // If a parameter and an attribute share data, the parameter counts.
                    if entry.role.is_parameter() && !first.role.is_parameter() {
                        *first = entry;
                    }
                    first.used = used;
                }
            }
        }
        for (id, op) in f.ops() {
            if op.attrs.len == 1 && f.text(op.name) == "onnx.Constant" {
                sparse(f, id, &mut stats.parameters.sparse)?;
            }
        }
    }
    sum_up(&entries, stats);
    stats.parameters.largest = largest(&entries, top);
    stats.external_files = external_files(&entries);
    Ok(())
}

fn data_location(data: &Arc<ConstantData>) -> DataLocation<'_> {
    // Empty data is never shared.
    match data.in_file().filter(|_| !data.is_empty()) {
        Some(range) => DataLocation::File(range.source.name(), range.offset, range.len),
        None => DataLocation::Memory(Arc::as_ptr(data)),
    }
}

fn entry<'m>(
    f: &'m Function,
    id: ConstId,
    constant: &Constant,
    data: &ConstantData,
) -> Result<Entry<'m>, PassError> {
    let fail = |message: String| {
        let mut error = PassError::new(ErrorKind::Read, message);
        error.function = Some(f.text(f.name()).to_owned());
        error
    };
    let ty = f.live_type(constant.ty).map_err(|e| fail(e.message))?;
    let elements = f.constant_elements(constant.ty);
    let elements = elements.map_err(|e| fail(e.message))?.unwrap_or(0);
    let value = constant.value.option().map(|value| f.value(value));
    let role = match value {
        None => Role::Attribute,
        Some(_) if ty.kind == TypeKind::SCALAR => Role::Scalar,
        Some(value) if value.flags & Value::KIND != Value::CONST => Role::Default,
        Some(_) if constant.flags & Constant::NODE != 0 => Role::Node,
        Some(_) => Role::Initializer,
    };
    Ok(Entry {
        f,
        id,
        role,
        dtype: ty.dtype,
        elements,
        bytes: data.len(),
        used: value.is_none_or(|value| value.use_count > 0),
    })
}

fn add(to: &mut Amount, entry: &Entry<'_>) {
    to.tensors += 1;
    // A splat may have any size.
    to.elements = to.elements.saturating_add(entry.elements);
    to.bytes = to.bytes.saturating_add(entry.bytes);
}

fn sum_up(entries: &[Entry<'_>], stats: &mut Stats) {
    let parameters = &mut stats.parameters;
    let mut by_dtype: FxHashMap<DType, Amount> = FxHashMap::default();
    for entry in entries {
        let group = match entry.role {
            Role::Initializer => &mut parameters.initializers,
            Role::Default => &mut parameters.defaults,
            Role::Node => &mut parameters.constant_nodes,
            Role::Attribute => &mut parameters.attributes,
            Role::Scalar => &mut parameters.scalars,
        };
        add(group, entry);
        if !entry.role.is_parameter() {
            continue;
        }
        add(&mut parameters.all, entry);
        add(by_dtype.entry(entry.dtype).or_default(), entry);
        if !entry.used {
            add(&mut parameters.unused, entry);
        }
        if let Payload::Splat { .. } = entry.payload() {
            add(&mut parameters.splats, entry);
        }
    }
    let mut by_dtype: Vec<(DType, Amount)> = by_dtype.into_iter().collect();
    by_dtype.sort_unstable_by_key(|(dtype, amount)| (Reverse(amount.bytes), *dtype));
    let by_dtype = by_dtype.into_iter().map(|(dtype, amount)| DTypeAmount {
        dtype: dtype_name(dtype),
        amount,
    });
    parameters.by_dtype = by_dtype.collect();
}

/// Returns the largest parameters; equal ones in module order.
fn largest(entries: &[Entry<'_>], top: usize) -> Vec<LargeConstant> {
    let mut order: Vec<&Entry<'_>> = entries.iter().collect();
    order.retain(|entry| entry.role.is_parameter());
    order.sort_by_key(|entry| Reverse(entry.bytes));
    order.truncate(top);
    let large = |entry: &Entry<'_>| {
        let (f, constant) = (entry.f, entry.f.constant(entry.id));
        let (storage, file) = match entry.payload() {
            Payload::Inline(_) => (Storage::Inline, None),
            Payload::Mapped(_) | Payload::Deferred { .. } => (Storage::Mapped, None),
            Payload::External(range) => (Storage::External, Some(range.source.name().to_owned())),
            Payload::Splat { .. } => (Storage::Splat, None),
        };
        LargeConstant {
            name: (f.value(constant.value).name.option()).map(|name| f.text(name).to_owned()),
            function: f.text(f.name()).to_owned(),
            ty: text::type_text(f, constant.ty),
            elements: entry.elements,
            bytes: entry.bytes,
            storage,
            file,
        }
    };
    order.into_iter().map(large).collect()
}

/// Returns the external files of the parameters, sorted by path.
fn external_files(entries: &[Entry<'_>]) -> Vec<ConstantsFile> {
    let mut files: BTreeMap<&str, (ConstantsFile, &Arc<dyn ByteSource>)> = BTreeMap::new();
    for entry in entries {
        let Payload::External(FileRange {
            source,
            offset,
            len,
        }) = entry.payload()
        else {
            continue;
        };
        let (file, _) = files
            .entry(source.name())
            .or_insert_with(|| (ConstantsFile::default(), source));
        file.tensors += 1;
        file.bytes_used = file.bytes_used.saturating_add(*len);
        file.bytes_needed = file.bytes_needed.max(offset.saturating_add(*len));
    }
    let files = files.into_iter().map(|(path, (mut file, source))| {
        file.path = path.to_owned();
        let needed = file.bytes_needed;
        match source.size() {
            Ok(bytes) => {
                file.bytes = Some(bytes);
                file.problem = (bytes < needed).then(|| {
                    format!("file has {bytes} bytes, but its tensors end at byte {needed}")
                });
            }
            Err(problem) => file.problem = Some(problem),
        }
        file
    });
    files.collect()
}

/// Adds a sparse constant, which is an op.
fn sparse(f: &Function, id: passdock_abi::OpId, to: &mut Sparse) -> Result<(), PassError> {
    let Some(attr) = f.attrs(id).first() else {
        return Ok(());
    };
    if attr.kind != AttrKind::OPAQUE || f.text(attr.name) != "sparse_value" {
        return Ok(());
    }
    let facts = passdock_onnx::sparse_facts(f.bytes_in(attr.list)).map_err(|error| {
        let message = format!("invalid attribute `sparse_value`: {error}");
        let mut failure = PassError::new(ErrorKind::Read, message);
        failure.function = Some(f.text(f.name()).to_owned());
        failure.op = Some(f.describe_op(id));
        failure
    })?;
    to.tensors += 1;
    to.elements = to.elements.saturating_add(facts.elements);
    to.stored = to.stored.saturating_add(facts.stored);
    to.bytes = to.bytes.saturating_add(facts.bytes);
    Ok(())
}
