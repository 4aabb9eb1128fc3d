//! Names of groups, after their ops: `fused_conv_batch_normalization_relu`.

use passdock_plugin_api::prelude::*;

/// The largest number of bytes of a name; more ops than fit aren't named.
const MOST: usize = 80;

/// The name of a group.
pub(super) fn name_of(f: &Function, ops: &[OpId]) -> String {
    let mut name = "fused".to_owned();
    for &op in ops {
        let full = f.name(op);
        let own = full.rsplit('.').next().unwrap_or(full);
        let part = snake_case(own);
        if name.len() + part.len() >= MOST {
            name += "_etc";
            break;
        }
        name.push('_');
        name += &part;
    }
    name
}

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
