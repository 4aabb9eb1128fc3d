//! Names of operators as parts of names.

/// `BatchNormalization` as `batch_normalization`, `LpPool` as `lp_pool`, `LRN` as `lrn`.
pub(crate) fn snake_case(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut made = String::new();
    for (at, &letter) in letters.iter().enumerate() {
        let is_start = letter.is_ascii_uppercase()
            && at > 0
            && (letters[at - 1].is_ascii_lowercase()
                || (letters.get(at + 1)).is_some_and(|next| next.is_ascii_lowercase()));
        if is_start && !made.ends_with('_') {
            made.push('_');
        }
        match letter.is_ascii_alphanumeric() {
            true => made.push(letter.to_ascii_lowercase()),
            false => made.push('_'),
        }
    }
    made
}
