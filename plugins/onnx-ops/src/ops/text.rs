//! Strings.

use passdock_plugin_api::attrs;

use super::Operator;
use crate::eval::strings;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.RegexFullMatch", 20, (1, 1)).attrs(attrs![pattern: string]),
    Operator::new("onnx.StringConcat", 20, (2, 2)).folds(strings::concat),
    Operator::new("onnx.StringNormalizer", 10, (1, 1)).attrs(attrs![
        case_change_action: string = "NONE", is_case_sensitive: int = 0, locale: string,
        stopwords: strings,
    ]),
    Operator::new("onnx.StringSplit", 20, (1, 1)).attrs(attrs![delimiter: string, maxsplit: int]),
    Operator::new("onnx.TfIdfVectorizer", 9, (1, 1)).attrs(attrs![
        max_gram_length: required int, max_skip_count: required int,
        min_gram_length: required int, mode: required string, ngram_counts: required ints,
        ngram_indexes: required ints, pool_int64s: ints, pool_strings: strings,
        weights: floats,
    ]),
];
