//! Whether ops take a constant where something is computed. An op that can't be right with it fails when
//! it is run, which it may never be; with the constant in plain sight a runtime refuses the whole model.

use passdock_plugin_api::prelude::*;

/// Why an op couldn't be right with these in place of its operands; `None`: it could.
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
/// or come to constants.
pub(crate) fn refusal_of_users(
    f: &mut Function,
    cx: &PassContext,
    from: &[ValueId],
    to: &[ValueId],
    constant: impl Fn(&Function, ValueId) -> Option<ValueId>,
) -> Option<String> {
    for (&value, &other) in from.iter().zip(to) {
        if other.is_none() || constant(f, other).is_none() {
            continue;
        }
        for user in f.users(value).collect::<Vec<_>>() {
            let stands = |operand: ValueId| {
                let at = from.iter().position(|&value| value == operand);
                let operand = at.and_then(|at| to.get(at)).copied().unwrap_or(operand);
                constant(f, operand).unwrap_or(operand)
            };
            let operands: Vec<ValueId> = f.operands(user).map(stands).collect();
            if let Some(why) = refusal(f, cx, user, &operands) {
                return Some(why);
            }
        }
    }
    None
}
