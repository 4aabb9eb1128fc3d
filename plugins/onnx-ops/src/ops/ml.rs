//! `ai.onnx.ml`: classifiers, trees and what prepares their features.

use passdock_plugin_api::attrs;

use super::{MANY, Operator};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ai.onnx.ml.ArrayFeatureExtractor", 1, (2, 2)),
    Operator::new("ai.onnx.ml.Binarizer", 1, (1, 1)).attrs(attrs![threshold: float = 0.0]),
    Operator::new("ai.onnx.ml.CastMap", 1, (1, 1)).attrs(attrs![
        cast_to: string = "TO_FLOAT", map_form: string = "DENSE", max_map: int = 1,
    ]),
    Operator::new("ai.onnx.ml.CategoryMapper", 1, (1, 1)).attrs(attrs![
        cats_int64s: ints, cats_strings: strings, default_int64: int = -1,
        default_string: string = "_Unused",
    ]),
    Operator::new("ai.onnx.ml.DictVectorizer", 1, (1, 1))
        .attrs(attrs![int64_vocabulary: ints, string_vocabulary: strings]),
    Operator::new("ai.onnx.ml.FeatureVectorizer", 1, (1, MANY))
        .attrs(attrs![inputdimensions: ints]),
    Operator::new("ai.onnx.ml.Imputer", 1, (1, 1)).attrs(attrs![
        imputed_value_floats: floats, imputed_value_int64s: ints,
        replaced_value_float: float = 0.0, replaced_value_int64: int = 0,
    ]),
    Operator::new("ai.onnx.ml.LabelEncoder", 1, (1, 1)).attrs(attrs![
        classes_strings: strings, default_int64: int = -1, default_string: string = "_Unused",
    ]),
    Operator::new("ai.onnx.ml.LabelEncoder", 2, (1, 1)).attrs(attrs![
        default_float: float = -0.0, default_int64: int = -1,
        default_string: string = "_Unused", keys_floats: floats, keys_int64s: ints,
        keys_strings: strings, values_floats: floats, values_int64s: ints,
        values_strings: strings,
    ]),
    Operator::new("ai.onnx.ml.LabelEncoder", 4, (1, 1)).attrs(attrs![
        default_float: float = -0.0, default_int64: int = -1,
        default_string: string = "_Unused", default_tensor: tensor, keys_floats: floats,
        keys_int64s: ints, keys_strings: strings, keys_tensor: tensor, values_floats: floats,
        values_int64s: ints, values_strings: strings, values_tensor: tensor,
    ]),
    Operator::new("ai.onnx.ml.LinearClassifier", 1, (1, 1)).attrs(attrs![
        classlabels_ints: ints, classlabels_strings: strings, coefficients: required floats,
        intercepts: floats, multi_class: int = 0, post_transform: string = "NONE",
    ]),
    Operator::new("ai.onnx.ml.LinearRegressor", 1, (1, 1)).attrs(attrs![
        coefficients: floats, intercepts: floats, post_transform: string = "NONE",
        targets: int = 1,
    ]),
    Operator::new("ai.onnx.ml.Normalizer", 1, (1, 1)).attrs(attrs![norm: string = "MAX"]),
    Operator::new("ai.onnx.ml.OneHotEncoder", 1, (1, 1))
        .attrs(attrs![cats_int64s: ints, cats_strings: strings, zeros: int = 1]),
    Operator::new("ai.onnx.ml.SVMClassifier", 1, (1, 1)).attrs(attrs![
        classlabels_ints: ints, classlabels_strings: strings, coefficients: floats,
        kernel_params: floats, kernel_type: string = "LINEAR",
        post_transform: string = "NONE", prob_a: floats, prob_b: floats, rho: floats,
        support_vectors: floats, vectors_per_class: ints,
    ]),
    Operator::new("ai.onnx.ml.SVMRegressor", 1, (1, 1)).attrs(attrs![
        coefficients: floats, kernel_params: floats, kernel_type: string = "LINEAR",
        n_supports: int = 0, one_class: int = 0, post_transform: string = "NONE", rho: floats,
        support_vectors: floats,
    ]),
    Operator::new("ai.onnx.ml.Scaler", 1, (1, 1)).attrs(attrs![offset: floats, scale: floats]),
    Operator::new("ai.onnx.ml.TreeEnsemble", 5, (1, 1)).attrs(attrs![
        aggregate_function: int = 1, leaf_targetids: required ints,
        leaf_weights: required tensor, membership_values: tensor, n_targets: int,
        nodes_falseleafs: required ints, nodes_falsenodeids: required ints,
        nodes_featureids: required ints, nodes_hitrates: tensor,
        nodes_missing_value_tracks_true: ints, nodes_modes: required tensor,
        nodes_splits: required tensor, nodes_trueleafs: required ints,
        nodes_truenodeids: required ints, post_transform: int = 0, tree_roots: required ints,
    ]),
    Operator::new("ai.onnx.ml.TreeEnsembleClassifier", 1, (1, 1)).attrs(attrs![
        base_values: floats, class_ids: ints, class_nodeids: ints, class_treeids: ints,
        class_weights: floats, classlabels_int64s: ints, classlabels_strings: strings,
        nodes_falsenodeids: ints, nodes_featureids: ints, nodes_hitrates: floats,
        nodes_missing_value_tracks_true: ints, nodes_modes: strings, nodes_nodeids: ints,
        nodes_treeids: ints, nodes_truenodeids: ints, nodes_values: floats,
        post_transform: string = "NONE",
    ]),
    Operator::new("ai.onnx.ml.TreeEnsembleClassifier", 3, (1, 1)).attrs(attrs![
        base_values: floats, base_values_as_tensor: tensor, class_ids: ints,
        class_nodeids: ints, class_treeids: ints, class_weights: floats,
        class_weights_as_tensor: tensor, classlabels_int64s: ints,
        classlabels_strings: strings, nodes_falsenodeids: ints, nodes_featureids: ints,
        nodes_hitrates: floats, nodes_hitrates_as_tensor: tensor,
        nodes_missing_value_tracks_true: ints, nodes_modes: strings, nodes_nodeids: ints,
        nodes_treeids: ints, nodes_truenodeids: ints, nodes_values: floats,
        nodes_values_as_tensor: tensor, post_transform: string = "NONE",
    ]),
    Operator::new("ai.onnx.ml.TreeEnsembleRegressor", 1, (1, 1)).attrs(attrs![
        aggregate_function: string = "SUM", base_values: floats, n_targets: int,
        nodes_falsenodeids: ints, nodes_featureids: ints, nodes_hitrates: floats,
        nodes_missing_value_tracks_true: ints, nodes_modes: strings, nodes_nodeids: ints,
        nodes_treeids: ints, nodes_truenodeids: ints, nodes_values: floats,
        post_transform: string = "NONE", target_ids: ints, target_nodeids: ints,
        target_treeids: ints, target_weights: floats,
    ]),
    Operator::new("ai.onnx.ml.TreeEnsembleRegressor", 3, (1, 1)).attrs(attrs![
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
        .attrs(attrs![classlabels_int64s: ints, classlabels_strings: strings]),
];
