//! Names of operators as parts of names.

/// `onnx.BatchNormalization` as `batch_normalization`, `onnx.LpPool` as `lp_pool`, `onnx.LRN` as `lrn`.
pub(crate) fn snake_case(operator: &str) -> String {
    let name = operator.rsplit('.').next().unwrap_or(operator);
    let letters: Vec<char> = name.chars().collect();
    let mut snake_case = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let is_start = letter.is_ascii_uppercase()
            && at > 0
            && (letters[at - 1].is_ascii_lowercase()
                || (letters.get(at + 1)).is_some_and(|next| next.is_ascii_lowercase()));
        if is_start && !snake_case.ends_with('_') {
            snake_case.push('_');
        }
        match letter.is_ascii_alphanumeric() {
            true => snake_case.push(letter.to_ascii_lowercase()),
            false => snake_case.push('_'),
        }
    }
    snake_case
}
