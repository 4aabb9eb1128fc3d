//! The field numbers of ONNX's messages, from `onnx.proto` of IR version 14 (onnx 1.23).
//!
//! Only the fields that the IR models have names here. All others, including those of later versions, are preserved as
//! bytes.

macro_rules! fields {
    ($($(#[doc = $doc:literal])* mod $message:ident { $($name:ident = $number:literal),* $(,)? })*) => {$(
        $(#[doc = $doc])*
        pub(crate) mod $message {
            $(pub(crate) const $name: u32 = $number;)*
        }
    )*};
}

fields! {
    /// `ModelProto`.
    mod model {
        IR_VERSION = 1, PRODUCER_NAME = 2, PRODUCER_VERSION = 3, DOMAIN = 4, MODEL_VERSION = 5,
        GRAPH = 7, OPSET_IMPORT = 8, METADATA_PROPS = 14, FUNCTIONS = 25,
    }
    /// `OperatorSetIdProto`.
    mod opset { DOMAIN = 1, VERSION = 2 }
    /// `FunctionProto`.
    mod function {
        NAME = 1, INPUT = 4, OUTPUT = 5, ATTRIBUTE = 6, NODE = 7, OPSET_IMPORT = 9, DOMAIN = 10,
        ATTRIBUTE_PROTO = 11, VALUE_INFO = 12, OVERLOAD = 13,
    }
    /// `GraphProto`.
    mod graph {
        NODE = 1, NAME = 2, INITIALIZER = 5, INPUT = 11, OUTPUT = 12, VALUE_INFO = 13,
        QUANTIZATION_ANNOTATION = 14, SPARSE_INITIALIZER = 15,
    }
    /// `TensorAnnotation`.
    mod annotation { PARAMETERS = 2 }
    /// `NodeProto`.
    mod node {
        INPUT = 1, OUTPUT = 2, NAME = 3, OP_TYPE = 4, ATTRIBUTE = 5, DOMAIN = 7, OVERLOAD = 8,
    }
    /// `AttributeProto`.
    mod attr {
        NAME = 1, F = 2, I = 3, S = 4, T = 5, G = 6, FLOATS = 7, INTS = 8, STRINGS = 9,
        TENSORS = 10, GRAPHS = 11, TP = 14, TYPE_PROTOS = 15, TYPE = 20, REF_ATTR_NAME = 21,
        SPARSE_TENSOR = 22, SPARSE_TENSORS = 23,
    }
    /// `AttributeProto.AttributeType`.
    mod attr_type {
        FLOAT = 1, INT = 2, STRING = 3, TENSOR = 4, GRAPH = 5, FLOATS = 6, INTS = 7, STRINGS = 8,
        TENSORS = 9, GRAPHS = 10, SPARSE_TENSOR = 11, TYPE_PROTO = 13,
        TYPE_PROTOS = 14,
    }
    /// `ValueInfoProto`.
    mod value_info { NAME = 1, TYPE = 2 }
    /// `TypeProto`.
    mod ty { TENSOR = 1, SEQUENCE = 4, MAP = 5, DENOTATION = 6, OPAQUE = 7, SPARSE = 8, OPTIONAL = 9 }
    /// `TypeProto.Tensor` and `TypeProto.SparseTensor`.
    mod ty_tensor { ELEM_TYPE = 1, SHAPE = 2 }
    /// `TypeProto.Sequence` and `TypeProto.Optional`.
    mod ty_item { ELEM_TYPE = 1 }
    /// `TypeProto.Map`.
    mod ty_map { KEY_TYPE = 1, VALUE_TYPE = 2 }
    /// `TypeProto.Opaque`.
    mod ty_opaque { DOMAIN = 1, NAME = 2 }
    /// `TensorShapeProto`.
    mod shape { DIM = 1 }
    /// `TensorShapeProto.Dimension`.
    mod dim { VALUE = 1, PARAM = 2, DENOTATION = 3 }
    /// `TensorProto`.
    mod tensor {
        DIMS = 1, DATA_TYPE = 2, FLOAT_DATA = 4, INT32_DATA = 5, STRING_DATA = 6, INT64_DATA = 7,
        NAME = 8, RAW_DATA = 9, DOUBLE_DATA = 10, UINT64_DATA = 11, EXTERNAL_DATA = 13,
        DATA_LOCATION = 14,
    }
    /// `SparseTensorProto`.
    mod sparse { VALUES = 1, INDICES = 2, DIMS = 3 }
    /// `StringStringEntryProto`.
    mod entry { KEY = 1, VALUE = 2 }
}

/// The fields for documentation and metadata of each message that has both.
pub(crate) mod doc {
    pub(crate) const MODEL: [u32; 2] = [6, 14];
    pub(crate) const GRAPH: [u32; 2] = [10, 16];
    pub(crate) const FUNCTION: [u32; 2] = [8, 14];
    pub(crate) const NODE: [u32; 2] = [6, 9];
    pub(crate) const VALUE_INFO: [u32; 2] = [3, 4];
    pub(crate) const TENSOR: [u32; 2] = [12, 16];
}
