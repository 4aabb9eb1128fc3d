//! `ai.onnx.ml`: classifiers, trees, and preprocessing of features.

use passdock_plugin_api::{DType, Dim, TypeSpec, attrs};

use super::operator::{MANY, Operator};
use super::shape::same_type;
use crate::eval::name_of;
use crate::infer::{Infer, Inferred, Stop, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ai.onnx.ml.ArrayFeatureExtractor", 1, (2, 2)).infers(array_feature_extractor),
    Operator::new("ai.onnx.ml.Binarizer", 1, (1, 1))
        .attrs(attrs![threshold: float = 0.0])
        .infers(same_type),
    Operator::new("ai.onnx.ml.CastMap", 1, (1, 1))
        .attrs(attrs![
            cast_to: string = "TO_FLOAT", map_form: string = "DENSE", max_map: int = 1,
        ])
        .infers(cast_map),
    Operator::new("ai.onnx.ml.CategoryMapper", 1, (1, 1))
        .attrs(attrs![
            cats_int64s: ints, cats_strings: strings, default_int64: int = -1,
            default_string: string = "_Unused",
        ])
        .infers(category_mapper),
    Operator::new("ai.onnx.ml.DictVectorizer", 1, (1, 1))
        .attrs(attrs![int64_vocabulary: ints, string_vocabulary: strings]),
    Operator::new("ai.onnx.ml.FeatureVectorizer", 1, (1, MANY))
        .attrs(attrs![inputdimensions: ints])
        .infers(feature_vectorizer),
    Operator::new("ai.onnx.ml.Imputer", 1, (1, 1))
        .attrs(attrs![
            imputed_value_floats: floats, imputed_value_int64s: ints,
            replaced_value_float: float = 0.0, replaced_value_int64: int = 0,
        ])
        .infers(same_type),
    LABEL_ENCODER,
    LABEL_ENCODER.since(2).attrs(attrs![
        default_float: float = -0.0, default_int64: int = -1,
        default_string: string = "_Unused", keys_floats: floats, keys_int64s: ints,
        keys_strings: strings, values_floats: floats, values_int64s: ints,
        values_strings: strings,
    ]),
    LABEL_ENCODER.since(4).attrs(attrs![
        default_float: float = -0.0, default_int64: int = -1,
        default_string: string = "_Unused", default_tensor: tensor, keys_floats: floats,
        keys_int64s: ints, keys_strings: strings, keys_tensor: tensor, values_floats: floats,
        values_int64s: ints, values_strings: strings, values_tensor: tensor,
    ]),
    Operator::new("ai.onnx.ml.LinearClassifier", 1, (1, 1))
        .results((2, 2))
        .attrs(attrs![
            classlabels_ints: ints, classlabels_strings: strings, coefficients: required floats,
            intercepts: floats, multi_class: int = 0, post_transform: string = "NONE",
        ])
        .infers(classifier),
    Operator::new("ai.onnx.ml.LinearRegressor", 1, (1, 1))
        .attrs(attrs![
            coefficients: floats, intercepts: floats, post_transform: string = "NONE",
            targets: int = 1,
        ])
        .infers(|op| regression(op, Dim::constant(op.int_or("targets", 1)?))),
    Operator::new("ai.onnx.ml.Normalizer", 1, (1, 1))
        .attrs(attrs![norm: string = "MAX"])
        .infers(floats),
    Operator::new("ai.onnx.ml.OneHotEncoder", 1, (1, 1))
        .attrs(attrs![cats_int64s: ints, cats_strings: strings, zeros: int = 1])
        .infers(one_hot_encoder),
    Operator::new("ai.onnx.ml.SVMClassifier", 1, (1, 1))
        .results((2, 2))
        .attrs(attrs![
            classlabels_ints: ints, classlabels_strings: strings, coefficients: floats,
            kernel_params: floats, kernel_type: string = "LINEAR",
            post_transform: string = "NONE", prob_a: floats, prob_b: floats, rho: floats,
            support_vectors: floats, vectors_per_class: ints,
        ])
        .infers(classifier),
    Operator::new("ai.onnx.ml.SVMRegressor", 1, (1, 1))
        .attrs(attrs![
            coefficients: floats, kernel_params: floats, kernel_type: string = "LINEAR",
            n_supports: int = 0, one_class: int = 0, post_transform: string = "NONE", rho: floats,
            support_vectors: floats,
        ])
        .infers(|op| regression(op, Dim::constant(1))),
    Operator::new("ai.onnx.ml.Scaler", 1, (1, 1))
        .attrs(attrs![offset: floats, scale: floats])
        .infers(floats),
    Operator::new("ai.onnx.ml.TreeEnsemble", 5, (1, 1))
        .attrs(attrs![
            aggregate_function: int = 1, leaf_targetids: required ints,
            leaf_weights: required tensor, membership_values: tensor, n_targets: int,
            nodes_falseleafs: required ints, nodes_falsenodeids: required ints,
            nodes_featureids: required ints, nodes_hitrates: tensor,
            nodes_missing_value_tracks_true: ints, nodes_modes: required tensor,
            nodes_splits: required tensor, nodes_trueleafs: required ints,
            nodes_truenodeids: required ints, post_transform: int = 0, tree_roots: required ints,
        ])
        .infers(tree_ensemble),
    TREE_ENSEMBLE_CLASSIFIER,
    TREE_ENSEMBLE_CLASSIFIER.since(3).attrs(attrs![
        base_values: floats, base_values_as_tensor: tensor, class_ids: ints,
        class_nodeids: ints, class_treeids: ints, class_weights: floats,
        class_weights_as_tensor: tensor, classlabels_int64s: ints,
        classlabels_strings: strings, nodes_falsenodeids: ints, nodes_featureids: ints,
        nodes_hitrates: floats, nodes_hitrates_as_tensor: tensor,
        nodes_missing_value_tracks_true: ints, nodes_modes: strings, nodes_nodeids: ints,
        nodes_treeids: ints, nodes_truenodeids: ints, nodes_values: floats,
        nodes_values_as_tensor: tensor, post_transform: string = "NONE",
    ]),
    TREE_ENSEMBLE_REGRESSOR,
    TREE_ENSEMBLE_REGRESSOR.since(3).attrs(attrs![
        aggregate_function: string = "SUM", base_values: floats,
        base_values_as_tensor: tensor, n_targets: int, nodes_falsenodeids: ints,
        nodes_featureids: ints, nodes_hitrates: floats, nodes_hitrates_as_tensor: tensor,
        nodes_missing_value_tracks_true: ints, nodes_modes: strings, nodes_nodeids: ints,
        nodes_treeids: ints, nodes_truenodeids: ints, nodes_values: floats,
        nodes_values_as_tensor: tensor, post_transform: string = "NONE", target_ids: ints,
        target_nodeids: ints, target_treeids: ints, target_weights: floats,
        target_weights_as_tensor: tensor,
    ]),
    Operator::new("ai.onnx.ml.ZipMap", 1, (1, 1))
        .attrs(attrs![classlabels_int64s: ints, classlabels_strings: strings])
        .infers(zip_map),
];

const LABEL_ENCODER: Operator = Operator::new("ai.onnx.ml.LabelEncoder", 1, (1, 1))
    .attrs(attrs![
        classes_strings: strings, default_int64: int = -1, default_string: string = "_Unused",
    ])
    .infers(label_encoder);

const TREE_ENSEMBLE_CLASSIFIER: Operator =
    Operator::new("ai.onnx.ml.TreeEnsembleClassifier", 1, (1, 1))
        .results((2, 2))
        .attrs(attrs![
            base_values: floats, class_ids: ints, class_nodeids: ints, class_treeids: ints,
            class_weights: floats, classlabels_int64s: ints, classlabels_strings: strings,
            nodes_falsenodeids: ints, nodes_featureids: ints, nodes_hitrates: floats,
            nodes_missing_value_tracks_true: ints, nodes_modes: strings, nodes_nodeids: ints,
            nodes_treeids: ints, nodes_truenodeids: ints, nodes_values: floats,
            post_transform: string = "NONE",
        ])
        .infers(classifier);

const TREE_ENSEMBLE_REGRESSOR: Operator =
    Operator::new("ai.onnx.ml.TreeEnsembleRegressor", 1, (1, 1))
        .attrs(attrs![
            aggregate_function: string = "SUM", base_values: floats, n_targets: int,
            nodes_falsenodeids: ints, nodes_featureids: ints, nodes_hitrates: floats,
            nodes_missing_value_tracks_true: ints, nodes_modes: strings, nodes_nodeids: ints,
            nodes_treeids: ints, nodes_truenodeids: ints, nodes_values: floats,
            post_transform: string = "NONE", target_ids: ints, target_nodeids: ints,
            target_treeids: ints, target_weights: floats,
        ])
        .infers(|op| regression(op, Dim::constant(op.int_or("n_targets", 1)?)));

/// Infers the data's dims, with the number of indices as the last one. The shape of the indices doesn't matter.
fn array_feature_extractor(op: &Infer) -> Inferred {
    let dtype = op.dtype(0)?;
    let mut indices = op.dims(1).unwrap_or(vec![Dim::UNKNOWN]);
    indices.retain(|dim| *dim != Dim::constant(1));
    let mut sizes = indices.iter().map(|dim| dim.as_const());
    let count = sizes.try_fold(1i64, |count, size| count.checked_mul(size?));
    let chosen = match (indices[..].first(), count) {
        (_, Some(count)) => Dim::constant(count),
        (Some(dim), None) if indices.len() == 1 => *dim,
        _ => Dim::UNKNOWN,
    };
    let dims = match op.dims(0) {
        None => None,
        Some(dims) if dims.is_empty() => {
            return invalid!("operand 0 has rank 0, expected at least 1");
        }
        // A list of features is a row.
        Some(dims) if dims.len() == 1 => Some(vec![Dim::constant(1), chosen]),
        Some(mut dims) => {
            *dims.last_mut().expect("dims are not empty") = chosen;
            Some(dims)
        }
    };
    op.set(0, dtype, dims)
}

/// Infers the operand's shape, as float32.
fn floats(op: &Infer) -> Inferred {
    op.set(0, DType::F32, op.dims(0))
}

/// Infers a tensor of the type in `cast_to`.
fn cast_map(op: &Infer) -> Inferred {
    let dtype = match op.enum_value("cast_to", &["TO_FLOAT", "TO_STRING", "TO_INT64"])? {
        "TO_FLOAT" => DType::F32,
        "TO_STRING" => DType::STRING,
        _ => DType::I64,
    };
    op.set(0, dtype, None)
}

/// Infers the operand's shape, as integers for strings and as strings for integers.
fn category_mapper(op: &Infer) -> Inferred {
    let dtype = match op.dtype(0)? {
        DType::STRING => DType::I64,
        DType::I64 => DType::STRING,
        other => {
            return invalid!(
                "operand 0 has unsupported element type {}; supported: i64, str",
                name_of(other)
            );
        }
    };
    op.set(0, dtype, op.dims(0))
}

/// Infers the operand's shape, with the type of the values in the attributes.
fn label_encoder(op: &Infer) -> Inferred {
    let dtype = if let Some(values) = op.tensor("values_tensor")? {
        values.dtype()
    } else if op.strings("values_strings")?.is_some() || op.strings("classes_strings")?.is_some() {
        // Version 1 maps strings to their indices, and back.
        match (op.strings("classes_strings")?, op.dtype(0)?) {
            (Some(_), DType::STRING) => DType::I64,
            _ => DType::STRING,
        }
    } else if op.ints("values_int64s")?.is_some() {
        DType::I64
    } else if op.floats("values_floats")?.is_some() {
        DType::F32
    } else {
        return Err(Stop::Unknown);
    };
    op.set(0, dtype, op.dims(0))
}

/// Returns the number of examples, which is 1 for a list.
fn examples(op: &Infer) -> Inferred<Dim> {
    Ok(match op.dims(0).as_deref() {
        None => Dim::UNKNOWN,
        Some([] | [_]) => Dim::constant(1),
        Some([count, ..]) => *count,
    })
}

/// Infers `[N, targets]` of float32.
fn regression(op: &Infer, targets: Dim) -> Inferred {
    op.set(0, DType::F32, Some(vec![examples(op)?, targets]))
}

/// Infers `[N, n_targets]` of the operand's type.
fn tree_ensemble(op: &Infer) -> Inferred {
    let targets = op.int("n_targets")?.map_or(Dim::UNKNOWN, Dim::constant);
    op.set(0, op.dtype(0)?, Some(vec![examples(op)?, targets]))
}

/// Infers labels `[N]` of the type of `classlabels_*`, and scores `[N, E]`.
fn classifier(op: &Infer) -> Inferred {
    let strings = op
        .strings("classlabels_strings")?
        .map(|labels| labels.len());
    let ints = match op.ints("classlabels_ints")? {
        Some(labels) => Some(labels.len()),
        None => op.ints("classlabels_int64s")?.map(|labels| labels.len()),
    };
    let dtype = match (strings, ints) {
        (Some(1..), _) => DType::STRING,
        (_, Some(1..)) => DType::I64,
        _ => return Err(Stop::Unknown),
    };
    // Some classifiers of two classes have one score. An SVM has one score per pair.
    let scores = match strings.max(ints) {
        Some(count @ 3..) if op.name != "ai.onnx.ml.SVMClassifier" => Dim::constant(count as i64),
        _ => Dim::UNKNOWN,
    };
    let count = examples(op)?;
    op.set(0, dtype, Some(vec![count]))?;
    op.set(1, DType::F32, Some(vec![count, scores]))
}

/// Infers the operand's dims and one for the categories.
fn one_hot_encoder(op: &Infer) -> Inferred {
    let categories = match (op.ints("cats_int64s")?, op.strings("cats_strings")?) {
        (Some(list), _) => Dim::constant(list.len() as i64),
        (_, Some(list)) => Dim::constant(list.len() as i64),
        _ => Dim::UNKNOWN,
    };
    let dims = op.dims(0).map(|dims| [&*dims, &[categories]].concat());
    op.set(0, DType::F32, dims)
}

/// Infers `[N, columns]`, the concatenation of all operands.
fn feature_vectorizer(op: &Infer) -> Inferred {
    let (mut rows, mut columns) = (Dim::UNKNOWN, Dim::constant(0));
    for index in 0..op.host.operand_count() {
        let (count, width) = match op.dims(index).as_deref() {
            None => (Dim::UNKNOWN, Dim::UNKNOWN),
            Some(&[width]) => (Dim::constant(1), width),
            Some(&[count, width]) => (count, width),
            Some(dims) => {
                return invalid!("operand {index} has rank {}, expected 1 or 2", dims.len());
            }
        };
        rows = op.agree(rows, count)?;
        columns = op.add(columns, width);
    }
    op.set(0, DType::F32, Some(vec![rows, columns]))
}

/// Infers a sequence of maps from labels to scores.
fn zip_map(op: &Infer) -> Inferred {
    let key = match (
        op.strings("classlabels_strings")?,
        op.ints("classlabels_int64s")?,
    ) {
        (Some(list), _) if !list.is_empty() => DType::STRING,
        (_, Some(list)) if !list.is_empty() => DType::I64,
        _ => return Err(Stop::Unknown),
    };
    let value = op.host.add_type(&TypeSpec::unranked(DType::F32));
    let map = TypeSpec::map(key, value.map_err(|_| Stop::Unknown)?);
    op.set_sequence(0, &map)
}
