//! `relax.transform.FoldExplicitPadding`: lets convolutions and pools pad what was padded before them.
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
//! An `onnx.Conv` pads with 0, an `onnx.ConvInteger` and a `QLinearConv` with their zero point, an `onnx.AveragePool`
//! with 0 if it counts what is padded (it does from then on, if it padded nothing itself), an `onnx.MaxPool` with -inf;
//! there, 0 is as good after an op whose results are not negative, such as `onnx.Relu`. What a MaxPool makes of NaN
//! isn't defined, and runtimes make another thing of it with padding. An `onnx.Pad` that pads nothing goes.
//!
//! It does not touch what crops, or pads a batch or channels; other modes than `constant`; a Pad that somebody else
//! needs; convolutions that pad as much as their size asks for (`auto_pad`); pools that give indices, would pad a whole
//! window, or have one window more because they round up (`ceil_mode`).
//!
//! It counts as `pad_into_users` and `pad_nothing`, which can be disabled as rules can.
//!
//! Source: TVM `src/relay/transforms/fold_explicit_padding.cc`.

mod padding;
mod user;

use passdock_plugin_api::prelude::*;

use crate::rules::shared::pads::pad_nothing;
use crate::shared::read::{is, optional};
use padding::Padding;
use user::User;

/// The rule, for what tries it on models.
#[doc(hidden)]
pub static NOTHING: Rules = rules! {
    rule pad_nothing { onnx.Pad(%x, %rest...) } => pad_nothing;
};

/// What a Pad counts as that its users do.
const INTO_USERS: &str = "pad_into_users";

/// The pass.
///
/// # Errors
/// If an edit is refused.
pub fn fold_explicit_padding(f: &mut Function, cx: &PassContext) -> PassResult {
    cx.rewrite(f, &[&NOTHING])?;
    // The last one of a chain first: what it pads is next to what it's padded for.
    for op in f.ops_named("onnx.Pad").rev() {
        if is(f, op, "onnx.Pad")
            && let Some(padding) = optional(Padding::from_op(f, op))?
        {
            fold(f, cx, op, &padding)?;
        }
    }
    Ok(())
}

/// Lets all users of a Pad pad instead of it, if all can.
fn fold(f: &mut Function, cx: &PassContext, op: OpId, padding: &Padding) -> PassResult {
    let mut users = Vec::new();
    for one in f.iter_uses(f.result(op, 0)) {
        match optional(User::from_op(f, one.op, padding))? {
            Some(user) if one.index == 0 => users.push(user),
            _ => return Ok(()),
        }
    }
    if users.is_empty() || !cx.may_rewrite(INTO_USERS) {
        return Ok(());
    }
    let gone = f.loc(op);
    for user in &users {
        let loc = f.fused_locs(&[f.loc(user.op), gone])?;
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
