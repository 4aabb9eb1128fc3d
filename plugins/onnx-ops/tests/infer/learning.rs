//! Losses, optimizers, and classical machine learning.

use expect_test::expect;

use crate::{check, wrong};

#[test]
fn a_loss_is_a_number_or_one_a_label() {
    check(
        13,
        "%x: f32[n,c,d], %t: i64[n,d], %w: f32[c]",
        "
    %0 = onnx.NegativeLogLikelihoodLoss(%x, %t)
    %1 = onnx.NegativeLogLikelihoodLoss(%x, %t, %w) {reduction = \"none\"}
    %2, %3 = onnx.SoftmaxCrossEntropyLoss(%x, %t) {reduction = \"none\"}
    %4, %5 = onnx.SoftmaxCrossEntropyLoss(%x, %t)
",
        expect![[r#"
            %0 = onnx.NegativeLogLikelihoodLoss(%x, %t) : f32[]
            %1 = onnx.NegativeLogLikelihoodLoss(%x, %t, %w) {reduction = "none"} : f32[n,d]
            %2, %3 = onnx.SoftmaxCrossEntropyLoss(%x, %t) {reduction = "none"} : f32[n,d], f32[n,c,d]
            %4, %5 = onnx.SoftmaxCrossEntropyLoss(%x, %t) : f32[], f32[n,c,d]
        "#]],
    );
    wrong(
        13,
        "%x: f32[2,5], %t: i64[3]",
        "%0 = onnx.NegativeLogLikelihoodLoss(%x, %t)",
        expect!["onnx.NegativeLogLikelihoodLoss: 2 and 3 should be the same size"],
    );
}

#[test]
fn optimizers_give_back_what_they_were_given() {
    check(
        17,
        "%r: f32[], %t: i64[], %x: f32[n], %y: f32[2,3], %gx: f32[n], %gy: f32[2,3]",
        "
    %0, %1, %2, %3 = ai.onnx.preview.training.Adagrad(%r, %t, %x, %y, %gx, %gy, %x, %y)
    %4, %5, %6 = ai.onnx.preview.training.Adam(%r, %t, %y, %gy, %y, %y)
    %7, %8 = ai.onnx.preview.training.Momentum(%r, %t, %x, %gx, %x) {alpha = 0.9, beta = 1.0, mode = \"standard\", norm_coefficient = 0.0}
",
        expect![[r#"
            %0, %1, %2, %3 = ai.onnx.preview.training.Adagrad(%r, %t, %x, %y, %gx, %gy, %x, %y) : f32[n], f32[2,3], f32[n], f32[2,3]
            %4, %5, %6 = ai.onnx.preview.training.Adam(%r, %t, %y, %gy, %y, %y) : f32[2,3], f32[2,3], f32[2,3]
            %7, %8 = ai.onnx.preview.training.Momentum(%r, %t, %x, %gx, %x) {alpha = 0.9, beta = 1.0, mode = "standard", norm_coefficient = 0.0} : f32[n], f32[n]
        "#]],
    );
    wrong(
        17,
        "%r: f32[], %t: i64[], %x: f32[n]",
        "%0 = ai.onnx.preview.training.Adagrad(%r, %t, %x, %x)",
        expect!["ai.onnx.preview.training.Adagrad: 2 tensors aren't 3 groups of as many"],
    );
}

#[test]
fn examples_have_scores_and_labels() {
    check(
        17,
        "%x: f32[n,4], %y: i64[3], %v: f32[4], %t: str[n]",
        "
    %0 = ai.onnx.ml.LinearRegressor(%x) {coefficients = [1.0], targets = 2}
    %1 = ai.onnx.ml.SVMRegressor(%v)
    %2 = ai.onnx.ml.TreeEnsembleRegressor(%x) {n_targets = 3}
    %3, %4 = ai.onnx.ml.LinearClassifier(%x) {classlabels_ints = [0, 1, 2], coefficients = [1.0]}
    %5, %6 = ai.onnx.ml.SVMClassifier(%x) {classlabels_strings = [\"a\", \"b\", \"c\"]}
    %7, %8 = ai.onnx.ml.TreeEnsembleClassifier(%x) {classlabels_int64s = [0, 1]}
    %9 = ai.onnx.ml.ZipMap(%4) {classlabels_int64s = [0, 1, 2]}
",
        expect![[r#"
            %0 = ai.onnx.ml.LinearRegressor(%x) {coefficients = [1.0], targets = 2} : f32[n,2]
            %1 = ai.onnx.ml.SVMRegressor(%v) : f32[1,1]
            %2 = ai.onnx.ml.TreeEnsembleRegressor(%x) {n_targets = 3} : f32[n,3]
            %3, %4 = ai.onnx.ml.LinearClassifier(%x) {classlabels_ints = [0, 1, 2], coefficients = [1.0]} : i64[n], f32[n,3]
            %5, %6 = ai.onnx.ml.SVMClassifier(%x) {classlabels_strings = ["a", "b", "c"]} : str[n], f32[n,?]
            %7, %8 = ai.onnx.ml.TreeEnsembleClassifier(%x) {classlabels_int64s = [0, 1]} : i64[n], f32[n,?]
            %9 = ai.onnx.ml.ZipMap(%4) {classlabels_int64s = [0, 1, 2]} : seq<map<i64, f32[*]>>
        "#]],
    );
}

#[test]
fn features_are_as_many_as_indices() {
    check(
        17,
        "%v: f32[4], %x: f32[n,4], %a: i64[2,3], %b: i64[1,m], %c: i64[m,3], %d: i64[]",
        "
    %0 = ai.onnx.ml.ArrayFeatureExtractor(%v, %a)
    %1 = ai.onnx.ml.ArrayFeatureExtractor(%x, %b)
    %2 = ai.onnx.ml.ArrayFeatureExtractor(%v, %c)
    %3 = ai.onnx.ml.ArrayFeatureExtractor(%v, %d)
",
        expect![[r#"
            %0 = ai.onnx.ml.ArrayFeatureExtractor(%v, %a) : f32[1,6]
            %1 = ai.onnx.ml.ArrayFeatureExtractor(%x, %b) : f32[n,m]
            %2 = ai.onnx.ml.ArrayFeatureExtractor(%v, %c) : f32[1,?]
            %3 = ai.onnx.ml.ArrayFeatureExtractor(%v, %d) : f32[1,1]
        "#]],
    );
}

#[test]
fn features_are_prepared() {
    check(
        17,
        "%x: f32[n,4], %y: i64[3], %v: f32[4], %t: str[n], %m: map<i64, f32[]>",
        "
    %0 = ai.onnx.ml.ArrayFeatureExtractor(%x, %y)
    %1 = ai.onnx.ml.ArrayFeatureExtractor(%v, %y)
    %2 = ai.onnx.ml.Binarizer(%x) {threshold = 1.0}
    %3 = ai.onnx.ml.CategoryMapper(%t)
    %4 = ai.onnx.ml.LabelEncoder(%t) {keys_strings = [\"a\"], values_floats = [1.0]}
    %5 = ai.onnx.ml.OneHotEncoder(%t) {cats_strings = [\"a\", \"b\"]}
    %6 = ai.onnx.ml.FeatureVectorizer(%x, %x) {inputdimensions = [4, 4]}
    %7 = ai.onnx.ml.Scaler(%y)
    %8 = ai.onnx.ml.Imputer(%x)
    %9 = ai.onnx.ml.Normalizer(%v)
    %10 = ai.onnx.ml.CastMap(%m) {cast_to = \"TO_INT64\"}
",
        expect![[r#"
            %0 = ai.onnx.ml.ArrayFeatureExtractor(%x, %y) : f32[n,3]
            %1 = ai.onnx.ml.ArrayFeatureExtractor(%v, %y) : f32[1,3]
            %2 = ai.onnx.ml.Binarizer(%x) {threshold = 1.0} : f32[n,4]
            %3 = ai.onnx.ml.CategoryMapper(%t) : i64[n]
            %4 = ai.onnx.ml.LabelEncoder(%t) {keys_strings = ["a"], values_floats = [1.0]} : f32[n]
            %5 = ai.onnx.ml.OneHotEncoder(%t) {cats_strings = ["a", "b"]} : f32[n,2]
            %6 = ai.onnx.ml.FeatureVectorizer(%x, %x) {inputdimensions = [4, 4]} : f32[n,8]
            %7 = ai.onnx.ml.Scaler(%y) : f32[3]
            %8 = ai.onnx.ml.Imputer(%x) : f32[n,4]
            %9 = ai.onnx.ml.Normalizer(%v) : f32[4]
            %10 = ai.onnx.ml.CastMap(%m) {cast_to = "TO_INT64"} : i64[*]
        "#]],
    );
    wrong(
        17,
        "%x: f32[2,3]",
        "%0 = ai.onnx.ml.CategoryMapper(%x)",
        expect!["ai.onnx.ml.CategoryMapper: its operand 0 is f32, and it takes i64, str"],
    );
}
