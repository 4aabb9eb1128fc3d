//! String operators.

use passdock_plugin_api::{DType, Dim, attrs};

use super::operator::Operator;
use crate::eval::strings;
use crate::infer::{Infer, Inferred, invalid};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("onnx.RegexFullMatch", 20, (1, 1))
        .attrs(attrs![pattern: string])
        .infers(|op| op.set(0, DType::BOOL, op.dims(0))),
    Operator::new("onnx.StringConcat", 20, (2, 2))
        .infers(|op| op.set(0, DType::STRING, op.broadcast_operands(2)?))
        .folds(strings::concat),
    Operator::new("onnx.StringNormalizer", 10, (1, 1))
        .attrs(attrs![
            case_change_action: string = "NONE", is_case_sensitive: int = 0, locale: string,
            stopwords: strings,
        ])
        .infers(normalize),
    Operator::new("onnx.StringSplit", 20, (1, 1))
        .results((2, 2))
        .attrs(attrs![delimiter: string, maxsplit: int])
        .infers(split),
    Operator::new("onnx.TfIdfVectorizer", 9, (1, 1))
        .attrs(attrs![
            max_gram_length: required int, max_skip_count: required int,
            min_gram_length: required int, mode: required string, ngram_counts: required ints,
            ngram_indexes: required ints, pool_int64s: ints, pool_strings: strings,
            weights: floats,
        ])
        .infers(tf_idf),
];

/// Infers `[C]` or `[1, C]`. `C` is unknown if stop words may be removed. An empty result becomes one empty string.
fn normalize(op: &Infer) -> Inferred {
    op.set_from(DType::STRING, |mut dims| {
        let rank = dims.len();
        let Some(last) = dims.last_mut().filter(|_| rank <= 2) else {
            return invalid!("operand 0 has rank {rank}, expected 1 or 2");
        };
        let stopwords = op.strings("stopwords")?.unwrap_or_default();
        if !stopwords.is_empty() || matches!(last.as_const(), None | Some(0)) {
            *last = Dim::UNKNOWN;
        }
        Ok(dims)
    })
}

/// Infers the operand's dims and one for the pieces. The second result, the number of pieces, has the operand's dims.
fn split(op: &Infer) -> Inferred {
    let dims = op.dims(0);
    op.set(1, DType::I64, dims.clone())?;
    let dims = dims.map(|dims| [&*dims, &[Dim::UNKNOWN]].concat());
    op.set(0, DType::STRING, dims)
}

/// Infers `[C]` or `[N, C]`, with the largest of `ngram_indexes` plus one as the number of columns.
fn tf_idf(op: &Infer) -> Inferred {
    let columns = match op.ints("ngram_indexes")? {
        Some(indexes) => indexes.iter().max().map(|most| most.saturating_add(1)),
        None => None,
    };
    let Some(columns) = columns.map(Dim::constant) else {
        return invalid!("missing or empty attribute `ngram_indexes`");
    };
    let dims = match op.dims(0).as_deref() {
        None => None,
        Some([] | [_]) => Some(vec![columns]),
        Some(&[rows, _]) => Some(vec![rows, columns]),
        Some(dims) => return invalid!("operand 0 has rank {}, expected at most 2", dims.len()),
    };
    op.set(0, DType::F32, dims)
}
