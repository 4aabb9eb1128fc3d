//! Whether ops take a constant where something is computed. An op that can't be right with it fails when
//! it is run, which it may never be; with the constant in plain sight a runtime refuses the whole model.

use std::collections::{HashMap, HashSet};

use passdock_plugin_api::prelude::*;

/// The answers of users about an operand that would be a constant: why they couldn't be right with
/// it.
pub(crate) type Answers = HashMap<(OpId, ValueId), Option<String>>;

/// The reason why an op couldn't be right with these in place of its operands; `None`: it could.
pub(crate) fn refusal(
    f: &mut Function,
    cx: &PassContext,
    user: OpId,
    operands: &[ValueId],
) -> Option<String> {
    let why = cx.infer_with(f, user, operands).err()?.message;
    Some(format!("{} couldn't take its value: {why}", f.name(user)))
}

/// Why one of those who use the first values couldn't be right with the second ones, as far as these are
/// or come to constants. A user is asked about all its operands at once, and isn't asked again about one
/// of which `asked` has its answer.
pub(crate) fn refusal_of_users(
    f: &mut Function,
    cx: &PassContext,
    from: &[ValueId],
    to: &[ValueId],
    constant: impl Fn(&Function, ValueId) -> Option<ValueId>,
    asked: &mut Answers,
) -> Option<String> {
    let known: HashMap<ValueId, ValueId> = from.iter().copied().zip(to.iter().copied()).collect();
    for (&value, &other) in from.iter().zip(to) {
        if other.is_none() || constant(f, other).is_none() {
            continue;
        }
        for user in f.users(value).collect::<Vec<_>>() {
            if let Some(why) = asked.get(&(user, value)) {
                if why.is_some() {
                    return why.clone();
                }
                continue;
            }
            let stands = |operand: ValueId| {
                let operand = known.get(&operand).copied().unwrap_or(operand);
                constant(f, operand).unwrap_or(operand)
            };
            let operands: Vec<ValueId> = f.operands(user).map(stands).collect();
            let why = refusal(f, cx, user, &operands);
            for (before, &after) in f.operands(user).zip(&operands) {
                if before != after {
                    asked.insert((user, before), why.clone());
                }
            }
            if why.is_some() {
                return why;
            }
        }
    }
    None
}

/// Of copies of constants (result, constant), those that stay because an op that uses them couldn't be
/// right with the constants. Each user is asked once, about all of them.
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
        let stands = |operand: &ValueId| copies.get(operand).copied().unwrap_or(*operand);
        let operands: Vec<ValueId> = before.iter().map(stands).collect();
        if refusal(f, cx, user, &operands).is_some() {
            needed.extend(
                before
                    .into_iter()
                    .filter(|value| copies.contains_key(value)),
            );
        }
    }
    needed
}
