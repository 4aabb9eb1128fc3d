//! `relax.transform.FoldExplicitPadding`: folds explicit pads into the convolutions and pools that use them.
//!
//! ```ir
//! fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,4,4]) opset("" = 13) {
//!   %w = const f32[1,1,3,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
//!   %pads = const i64[8] [0, 0, 1, 1, 0, 0, 1, 1]
//!   %0 = onnx.Pad(%x, %pads) : f32[1,1,6,6]
//!   %1 = onnx.Conv(%0, %w) : f32[1,1,4,4]
//!   return %1
//! }
//! →
//! fn @main(%x: f32[1,1,4,4]) -> (%y: f32[1,1,4,4]) opset("" = 13) {
//!   %w = const f32[1,1,3,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
//!   %0 = onnx.Conv(%x, %w) {pads = [1, 1, 1, 1]} : f32[1,1,4,4]
//!   return %0
//! }
//! ```
//!
//! The fill of the `onnx.Pad` must be the one that its user pads with:
//!
//! - 0 for `onnx.Conv`;
//! - the zero point for `onnx.ConvInteger` and `onnx.QLinearConv`;
//! - 0 for an `onnx.AveragePool` that counts padding. A pool without pads gets `count_include_pad = 1`;
//! - negative infinity for `onnx.MaxPool`, or 0 after an op with no negative results, such as `onnx.Relu`. ONNX doesn't
//!   define the maximum of NaN, and its result in runtimes can change with padding.
//!
//! An `onnx.Pad` whose amounts are all 0 is removed.
//!
//! An `onnx.Pad` stays if it has negative amounts, a mode other than `constant`, or another user, or if it pads the
//! batch or channel axis. It also stays before these ops:
//!
//! - convolutions and pools that compute their padding (`auto_pad`);
//! - pools with indices as a result;
//! - pools that would have a window entirely in the padding;
//! - pools where rounding up (`ceil_mode`) would add a window.
//!
//! The rewrites are counted as `pad_into_users` and `pad_nothing`, and `--disabled-rule` turns each off.
//!
//! Source: TVM `src/relay/transforms/fold_explicit_padding.cc`.

mod padding;
mod user;

use passdock_plugin_api::prelude::*;

use crate::rules::shared::pads::pad_nothing;
use crate::shared::read::{is, unless_no_match};
use padding::Padding;
use user::User;

/// The rule for pads of zero size, public for tests on models.
#[doc(hidden)]
pub static NOTHING: Rules = rules! {
    rule pad_nothing { onnx.Pad(%x, %rest...) } => pad_nothing;
};

/// The rule name under which folded pads are counted.
const INTO_USERS: &str = "pad_into_users";

/// Runs the pass.
///
/// # Errors
/// If an edit is rejected.
pub fn fold_explicit_padding(f: &mut Function, cx: &PassContext) -> PassResult {
    cx.rewrite(f, &[&NOTHING])?;
    // The last pad of a chain comes first: it is the one next to the convolution or pool.
    for op in f.ops_named("onnx.Pad").rev() {
        if is(f, op, "onnx.Pad")
            && let Some(padding) = unless_no_match(Padding::from_op(f, op))?
        {
            fold(f, cx, op, &padding)?;
        }
    }
    Ok(())
}

/// Folds a `Pad` into its users if all of them can pad instead.
fn fold(f: &mut Function, cx: &PassContext, op: OpId, padding: &Padding) -> PassResult {
    let mut users = Vec::new();
    for one in f.iter_uses(f.result(op, 0)) {
        match unless_no_match(User::from_op(f, one.op, padding))? {
            Some(user) if one.index == 0 => users.push(user),
            _ => return Ok(()),
        }
    }
    if users.is_empty() || !cx.may_rewrite(INTO_USERS) {
        return Ok(());
    }
    let pad_loc = f.loc(op);
    for user in &users {
        let loc = f.fused_locs(&[f.loc(user.op), pad_loc])?;
        f.set_loc(user.op, loc)?;
        f.set_operand(user.op, 0, padding.x)?;
        f.set_attr(user.op, "pads", user.pads.clone())?;
        if f.attr(user.op, "auto_pad").is_some() {
            f.remove_attr(user.op, "auto_pad")?;
        }
        if user.counts {
            f.set_attr(user.op, "count_include_pad", 1)?;
        }
    }
    f.erase_dead(f.result(op, 0))?;
    cx.rewrote(INTO_USERS);
    Ok(())
}
