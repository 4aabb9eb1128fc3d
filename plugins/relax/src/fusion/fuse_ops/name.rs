//! Names of groups, which list the ops: `fused_conv_batch_normalization_relu`.

use passdock_plugin_api::prelude::*;

use crate::shared::operators::snake_case;

/// The maximum length of a name in bytes. Ops that don't fit are replaced by `_etc`.
const MAX_LENGTH: usize = 80;

/// Returns the name of a group.
pub(super) fn name_of(f: &Function, ops: &[OpId]) -> String {
    let mut name = "fused".to_owned();
    for &op in ops {
        let part = snake_case(f.name(op));
        if name.len() + part.len() >= MAX_LENGTH {
            name += "_etc";
            break;
        }
        name.push('_');
        name += &part;
    }
    name
}
