//! Whether ops accept a constant operand instead of a computed one. An invalid op may never run, and fails only if it
//! does; with a constant operand, a runtime may reject the whole model.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

/// Cached results for users and operands: the reason why a user would be invalid with a constant instead of the
/// operand.
pub(crate) type Rejections = HashMap<(OpId, ValueId), Option<String>>;

/// Returns the reason why an op would be invalid with these operands, or `None` if it is valid.
pub(crate) fn rejection_reason(
    f: &mut Function,
    cx: &PassContext,
    user: OpId,
    operands: &[ValueId],
) -> Option<String> {
    let why = cx.infer_with(f, user, operands).err()?.message;
    Some(format!(
        "folding would make `{}` invalid: {why}",
        f.name(user)
    ))
}

/// Returns the reason why a user of `from` would be invalid with the values `to` as operands, where these are constants
/// or evaluate to constants. All operands of a user are replaced together. Results are cached in `checked`.
pub(crate) fn user_rejection(
    f: &mut Function,
    cx: &PassContext,
    from: &[ValueId],
    to: &[ValueId],
    constant: impl Fn(&Function, ValueId) -> Option<ValueId>,
    checked: &mut Rejections,
) -> Option<String> {
    let known: HashMap<ValueId, ValueId> = from.iter().copied().zip(to.iter().copied()).collect();
    for (&value, &other) in from.iter().zip(to) {
        if other.is_none() || constant(f, other).is_none() {
            continue;
        }
        for user in f.users(value).collect::<Vec<_>>() {
            if let Some(why) = checked.get(&(user, value)) {
                if why.is_some() {
                    return why.clone();
                }
                continue;
            }
            let replacement = |operand: ValueId| {
                let operand = known.get(&operand).copied().unwrap_or(operand);
                constant(f, operand).unwrap_or(operand)
            };
            let operands: Vec<ValueId> = f.operands(user).map(replacement).collect();
            let why = rejection_reason(f, cx, user, &operands);
            for (before, &after) in f.operands(user).zip(&operands) {
                if before != after {
                    checked.insert((user, before), why.clone());
                }
            }
            if why.is_some() {
                return why;
            }
        }
    }
    None
}

/// Returns the copies of constants (result → constant) that must stay because a user would be invalid with the
/// constants. Each user is checked once for all its copies.
pub(crate) fn needed_copies(
    f: &mut Function,
    cx: &PassContext,
    copies: &HashMap<ValueId, ValueId>,
) -> HashSet<ValueId> {
    let mut users: Vec<OpId> = copies.keys().flat_map(|&copy| f.users(copy)).collect();
    users.sort_unstable();
    users.dedup();
    let mut needed = HashSet::new();
    for user in users {
        let before: Vec<ValueId> = f.operands(user).collect();
        let replacement = |operand: &ValueId| copies.get(operand).copied().unwrap_or(*operand);
        let operands: Vec<ValueId> = before.iter().map(replacement).collect();
        if rejection_reason(f, cx, user, &operands).is_some() {
            needed.extend(
                before
                    .into_iter()
                    .filter(|value| copies.contains_key(value)),
            );
        }
    }
    needed
}
