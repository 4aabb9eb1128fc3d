//! Properties of a file that the IR doesn't model, for reports on models. Only shapes, types and names are read, and no
//! elements of tensors.

use passdock_abi::DType;
use passdock_ir::Module;
use passdock_ir::constant::element_count;

use crate::file::model::ModelFile;
use crate::format::body::constant_inputs;
use crate::format::error::{OnnxError, Result, Within};
use crate::format::fields::{bodies, read_pair};
use crate::format::header::{Header, MAIN, ir_version};
use crate::format::schema::{attr, model, sparse, tensor};
use crate::format::typed::string_len;
use crate::format::types::dtype;
use crate::format::wire::{Message, Value, push_varints};
use crate::layout::parts::Layout;

/// Properties of a module's file that the IR doesn't model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// The `metadata_props`: keys and values, in the order of the file.
    pub metadata: Vec<(String, String)>,
    /// The number of the main graph's inputs that are initializers. Before IR version 4, these are constant. From
    /// version 4 on, the number is 0, because such an initializer is the default of the input.
    pub initializer_inputs: usize,
}

/// The size of a sparse constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseFacts {
    /// The element type.
    pub dtype: DType,
    /// The number of elements of the shape.
    pub elements: u64,
    /// The number of stored elements; all others are zero.
    pub stored: u64,
    /// The size of the stored elements and their indices, in bytes.
    pub bytes: u64,
}

/// Returns the properties of a module's ONNX file, or of the IR text that was converted from one. `None` if the module
/// was read from neither.
///
/// # Errors
/// If a part of the file that was skipped when reading is invalid.
pub fn file_facts(module: &Module) -> std::result::Result<Option<FileFacts>, OnnxError> {
    let Some(source) = ModelFile::from_module(module).and_then(|file| file.source.as_ref()) else {
        let extras = module.extras();
        let pairs = extras.metadata.iter().flatten();
        let facts = FileFacts {
            metadata: pairs
                .map(|(key, value)| (key.to_string(), value.to_string()))
                .collect(),
            initializer_inputs: old_inputs(module),
        };
        return Ok((!extras.is_empty() || facts != FileFacts::default()).then_some(facts));
    };
    let message = Message::whole(source.bytes());
    let facts = read(message);
    facts
        .map(Some)
        .map_err(|error| error.in_file(&source.path().display().to_string()))
}

/// Returns the number of initializers of a self-contained module that are also inputs, before IR version 4.
fn old_inputs(module: &Module) -> usize {
    let Some(main) = module.function_named(MAIN) else {
        return 0;
    };
    let layout = Layout::new(main, ir_version(module) < 4);
    let ids = layout.initializers(main.body()).into_iter();
    ids.filter(|&id| layout.is_old_input(id)).count()
}

fn read(file: Message<'_>) -> Result<FileFacts> {
    let mut facts = FileFacts::default();
    for body in bodies(file, model::METADATA_PROPS) {
        let part_name = || format!("metadata_props[{}]", facts.metadata.len());
        let (key, value) = read_pair(body?).within(part_name)?;
        facts.metadata.push((key.to_owned(), value.to_owned()));
    }
    let header = Header::read(file)?;
    if let Some(main) = header.graph.filter(|_| header.ir_version() < 4) {
        facts.initializer_inputs = constant_inputs(main)?.len();
    }
    Ok(facts)
}

/// Returns the size of the sparse tensor in a `Constant`'s attribute `sparse_value`, which the IR keeps in ONNX's form.
///
/// # Errors
/// If the bytes aren't such an attribute.
pub fn sparse_facts(attribute: &[u8]) -> std::result::Result<SparseFacts, OnnxError> {
    let message = Message::whole(attribute);
    let value = message.last(attr::SPARSE_TENSOR)?;
    let value = value.ok_or_else(|| OnnxError::new("the attribute has no sparse tensor"))?;
    let (mut values, mut indices, mut dims) = (None, 0, Vec::new());
    for field in value.fields() {
        let field = field?;
        match (field.number, field.value) {
            (sparse::VALUES, Value::Bytes(body)) => values = Some(tensor_size(body)?),
            (sparse::INDICES, Value::Bytes(body)) => indices = tensor_size(body)?.bytes,
            (sparse::DIMS, value) => _ = push_varints(value, &mut dims)?,
            _ => {}
        }
    }
    let values = values.ok_or_else(|| OnnxError::new("the sparse tensor has no values"))?;
    Ok(SparseFacts {
        dtype: values.dtype,
        elements: elements(&dims)?,
        stored: values.elements,
        bytes: values.bytes.saturating_add(indices),
    })
}

struct TensorSize {
    dtype: DType,
    elements: u64,
    bytes: u64,
}

fn tensor_size(message: Message<'_>) -> Result<TensorSize> {
    let (mut code, mut dims) = (0, Vec::new());
    for field in message.fields() {
        let field = field?;
        match (field.number, field.value) {
            (tensor::DIMS, value) => _ = push_varints(value, &mut dims)?,
            (tensor::DATA_TYPE, Value::Varint(number)) => code = number,
            _ => {}
        }
    }
    let (dtype, elements) = (dtype(code), elements(&dims)?);
    let bytes = match dtype {
        DType::STRING => string_len(message)?.1,
        // Data of an unknown type counts as 0 bytes.
        dtype => dtype.byte_len(elements).unwrap_or(0),
    };
    Ok(TensorSize {
        dtype,
        elements,
        bytes,
    })
}

fn elements(dims: &[i64]) -> Result<u64> {
    element_count(dims).ok_or_else(|| {
        OnnxError::new(format!(
            "invalid tensor shape {dims:?}: negative or too large"
        ))
    })
}
