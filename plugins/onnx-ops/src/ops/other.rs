//! Operators without an evaluation, about whose types little or nothing is said: that they have no
//! effect is what matters.

use passdock_plugin_api::{DType, Dim, TypeKind};

use super::shape::same_type;
use super::{MANY, Operator};
use crate::infer::{Answer, Infer, Stop, Ty};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.AffineGrid", 20, (2, 2)),
    Operator::new("onnx.Attention", 23, (3, 7)).infers(same_elements),
    Operator::new("onnx.BlackmanWindow", 17, (1, 1)),
    Operator::new("onnx.CausalConvWithState", 27, (2, 4)),
    Operator::new("onnx.CenterCropPad", 18, (2, 2)).infers(same_elements),
    Operator::new("onnx.Col2Im", 18, (3, 3)).infers(same_elements),
    Operator::new("onnx.ConcatFromSequence", 11, (1, 1)),
    Operator::new("onnx.DFT", 17, (1, 3)),
    Operator::new("onnx.DeformConv", 19, (3, 5)).infers(same_elements),
    Operator::new("onnx.GridSample", 16, (2, 2)).infers(same_elements),
    Operator::new("onnx.HammingWindow", 17, (1, 1)),
    Operator::new("onnx.HannWindow", 17, (1, 1)),
    Operator::new("onnx.ImageDecoder", 20, (1, 1)),
    Operator::new("onnx.LinearAttention", 27, (3, 6)),
    Operator::new("onnx.MaxRoiPool", 1, (2, 2)).infers(same_elements),
    Operator::new("onnx.MaxUnpool", 9, (2, 3)).infers(same_elements),
    Operator::new("onnx.MelWeightMatrix", 17, (5, 5)),
    Operator::new("onnx.NegativeLogLikelihoodLoss", 12, (2, 3)),
    Operator::new("onnx.NonMaxSuppression", 10, (2, 5)).infers(boxes),
    Operator::new("onnx.Optional", 15, (0, 1)),
    Operator::new("onnx.OptionalGetElement", 15, (1, 1)),
    Operator::new("onnx.OptionalHasElement", 15, (0, 1)).infers(truth),
    Operator::new("onnx.RegexFullMatch", 20, (1, 1)),
    Operator::new("onnx.RoiAlign", 10, (3, 3)).infers(same_elements),
    Operator::new("onnx.RotaryEmbedding", 23, (3, 4)).infers(same_type),
    Operator::new("onnx.STFT", 17, (2, 4)),
    Operator::new("onnx.SequenceAt", 11, (2, 2)).infers(item),
    Operator::new("onnx.SequenceConstruct", 11, (1, MANY)),
    Operator::new("onnx.SequenceEmpty", 11, (0, 0)),
    Operator::new("onnx.SequenceErase", 11, (1, 2)).infers(same_type),
    Operator::new("onnx.SequenceInsert", 11, (2, 3)),
    Operator::new("onnx.SequenceLength", 11, (1, 1)).infers(count),
    Operator::new("onnx.SoftmaxCrossEntropyLoss", 12, (2, 3)),
    Operator::new("onnx.SplitToSequence", 11, (1, 2)).infers(pieces),
    Operator::new("onnx.StringConcat", 20, (2, 2)),
    Operator::new("onnx.StringNormalizer", 10, (1, 1)),
    Operator::new("onnx.StringSplit", 20, (1, 1)),
    Operator::new("onnx.SwiGLU", 28, (2, 2)).infers(same_elements),
    Operator::new("onnx.TensorScatter", 24, (2, 3)).infers(same_type),
    Operator::new("onnx.TfIdfVectorizer", 9, (1, 1)),
    Operator::new("onnx.Unique", 11, (1, 1)),
    Operator::new("onnx.Upsample", 1, (1, 2)).infers(same_elements),
    Operator::new("ai.onnx.ml.ArrayFeatureExtractor", 1, (2, 2)),
    Operator::new("ai.onnx.ml.Binarizer", 1, (1, 1)),
    Operator::new("ai.onnx.ml.CastMap", 1, (1, 1)),
    Operator::new("ai.onnx.ml.CategoryMapper", 1, (1, 1)),
    Operator::new("ai.onnx.ml.DictVectorizer", 1, (1, 1)),
    Operator::new("ai.onnx.ml.FeatureVectorizer", 1, (1, MANY)),
    Operator::new("ai.onnx.ml.Imputer", 1, (1, 1)),
    Operator::new("ai.onnx.ml.LabelEncoder", 1, (1, 1)),
    Operator::new("ai.onnx.ml.LinearClassifier", 1, (1, 1)),
    Operator::new("ai.onnx.ml.LinearRegressor", 1, (1, 1)),
    Operator::new("ai.onnx.ml.Normalizer", 1, (1, 1)),
    Operator::new("ai.onnx.ml.OneHotEncoder", 1, (1, 1)),
    Operator::new("ai.onnx.ml.SVMClassifier", 1, (1, 1)),
    Operator::new("ai.onnx.ml.SVMRegressor", 1, (1, 1)),
    Operator::new("ai.onnx.ml.Scaler", 1, (1, 1)),
    Operator::new("ai.onnx.ml.TreeEnsemble", 5, (1, 1)),
    Operator::new("ai.onnx.ml.TreeEnsembleClassifier", 1, (1, 1)),
    Operator::new("ai.onnx.ml.TreeEnsembleRegressor", 1, (1, 1)),
    Operator::new("ai.onnx.ml.ZipMap", 1, (1, 1)),
];

/// A tensor of the first operand's element type.
fn same_elements(op: &Infer) -> Answer {
    op.set(0, op.dtype(0)?, None)
}

/// A bool.
fn truth(op: &Infer) -> Answer {
    op.set(0, DType::BOOL, Some(vec![]))
}

/// A number.
fn count(op: &Infer) -> Answer {
    op.set(0, DType::I64, Some(vec![]))
}

/// Three indices for each box that is kept.
fn boxes(op: &Infer) -> Answer {
    op.set(0, DType::I64, Some(vec![Dim::UNKNOWN, Dim::constant(3)]))
}

/// What the sequence is made of.
fn item(op: &Infer) -> Answer {
    let ty = op.host.operand_type(0);
    match (ty.kind(), ty.items()) {
        (TypeKind::SEQUENCE, &[item]) => op.set_type(0, Ty::Other(op.host.ty(item).into())),
        _ => Err(Stop::Unknown),
    }
}

/// A sequence of tensors with the operand's dims, that along the axis aside.
fn pieces(op: &Infer) -> Answer {
    let dtype = op.dtype(0)?;
    let dims = match op.dims(0) {
        None => None,
        Some(mut dims) => {
            let at = op.axis(op.int_or("axis", 0)?, dims.len())?;
            // Pieces of one element may lose the dim, when no lengths are given.
            if !op.has(1) && !op.flag("keepdims", true)? {
                dims.remove(at);
            } else {
                dims[at] = Dim::UNKNOWN;
            }
            Some(dims)
        }
    };
    let item = op
        .host
        .add_type(&Ty::Tensor(dtype, dims).spec())
        .map_err(|_| Stop::Unknown)?;
    op.set_type(0, Ty::Other(passdock_plugin_api::TypeSpec::sequence(item)))
}
