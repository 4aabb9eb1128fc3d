//! Views with ops between that work element by element, whatever the shape is.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use super::views::reshape;
use crate::shared::read::{axes_in, ints_of, is, known_dims, like};

pub(super) static RULES: Rules = rules! {
    rule view_after_ops keeps_type {
        %outer = onnx.Reshape|onnx.Squeeze|onnx.Unsqueeze|onnx.Flatten(%inner, %rest...)
    } => once;
};

/// The most ops between views that are looked through.
const MOST_BETWEEN: usize = 16;

fn is_view(f: &Function, op: OpId) -> bool {
    let names = [
        "onnx.Reshape",
        "onnx.Squeeze",
        "onnx.Unsqueeze",
        "onnx.Flatten",
    ];
    names.iter().any(|name| is(f, op, name))
}

/// Whether an op works element by element, and on nothing else.
fn is_plain(f: &Function, op: OpId) -> bool {
    let traits = f.traits(op);
    traits.is_elementwise()
        && traits.is_pure()
        && f.regions(op).is_empty()
        && f.result_count(op) == 1
}

/// Ops element by element with views above them.
#[derive(Default)]
struct Between {
    /// What they make, what is made first at first.
    made: Vec<ValueId>,
    views: Vec<OpId>,
    /// Whether nobody else needs the views.
    goes: bool,
    looked: usize,
}

impl Between {
    /// Those between a view and what is above it.
    fn above(f: &Function, root: OpId, value: ValueId) -> Option<Between> {
        let mut between = Between::default();
        between.look(f, value)?;
        let is_own = |user: OpId| {
            user == root || f.result_count(user) == 1 && between.made.contains(&f.result(user, 0))
        };
        let is_all = |value: &ValueId| {
            let own = f.iter_uses(*value).filter(|one| is_own(one.op));
            own.count() == f.use_count(*value)
        };
        let mut views = between.views.iter().map(|view| f.result(*view, 0));
        let goes = views.all(|view| is_all(&view));
        let is_alone = between.made.iter().all(is_all);
        is_alone.then_some(Between { goes, ..between })
    }

    fn look(&mut self, f: &Function, value: ValueId) -> Option<()> {
        let op = f.defining_op(value)?;
        if self.made.contains(&value) || self.views.contains(&op) {
            return Some(());
        }
        self.looked += 1;
        if is_view(f, op) {
            self.views.push(op);
            return Some(());
        }
        if self.looked > MOST_BETWEEN || !is_plain(f, op) {
            return None;
        }
        let is_scalar = |value: &ValueId| value.is_none() || f.rank(*value) == Some(0);
        let passed: Vec<ValueId> = f.operands(op).filter(|one| !is_scalar(one)).collect();
        let dims = |value: &ValueId| known_dims(f, *value);
        // What is stretched here would be stretched in other ways there.
        let is_even = passed.windows(2).all(|two| {
            two[0] == two[1] || dims(&two[0]).is_some_and(|own| Some(own) == dims(&two[1]))
        });
        if passed.is_empty() || !is_even {
            return None;
        }
        for operand in passed {
            self.look(f, operand)?;
        }
        self.made.push(value);
        Some(())
    }
}

/// Whether one view takes away the dims that the other gave, or the other way round, as their axes say.
fn undoes(f: &Function, inner: OpId, outer: OpId) -> Result<bool, EditError> {
    let (gives, takes) = ("onnx.Unsqueeze", "onnx.Squeeze");
    let is_pair =
        is(f, inner, gives) && is(f, outer, takes) || is(f, inner, takes) && is(f, outer, gives);
    if !is_pair {
        return Ok(false);
    }
    let (Some(a), Some(b)) = (
        ints_of(f, inner, 1, "axes")?.flatten(),
        ints_of(f, outer, 1, "axes")?.flatten(),
    ) else {
        return Ok(false);
    };
    // The axes are those of the longer shape: of what goes in, which is what comes out, or of what is between.
    let longer = match is(f, inner, takes) {
        true => f.operand(inner, 0).and_then(|x| f.rank(x)),
        false => f.operand(outer, 0).and_then(|x| f.rank(x)),
    };
    let placed = |axes: &[i64]| match longer {
        Some(rank) => axes_in(axes, rank),
        None => axes_in(axes, usize::MAX >> 1).filter(|_| axes.iter().all(|axis| *axis >= 0)),
    };
    Ok(placed(&a).is_some() && placed(&a) == placed(&b))
}

/// Whether two values have the same dims, and all of them are known.
fn has_same_dims(f: &Function, a: ValueId, b: ValueId) -> bool {
    known_dims(f, a).is_some_and(|dims| Some(dims) == known_dims(f, b))
}

/// Ops between views work on what the first ones take. Of the views one is left, or none.
fn once(r: &mut Rewriter<'_>, m: &Match<'_>) -> Rewritten {
    let f = r.function();
    let (outer, inner) = (m.value(f, "outer"), m.value(f, "inner"));
    let Some(between) = Between::above(f, m.root(), inner) else {
        return Ok(None);
    };
    let mut moved: HashMap<ValueId, ValueId> = HashMap::new();
    for &view in &between.views {
        let Some(x) = f.operand(view, 0) else {
            return Ok(None);
        };
        moved.insert(f.result(view, 0), x);
    }
    let is_same = moved.values().all(|x| has_same_dims(f, *x, outer));
    let undoes = match between.views[..] {
        [view] => undoes(f, view, m.root())?,
        _ => false,
    };
    // Without ops between it is a view of a view.
    let is_near = between.made.is_empty() && !(undoes && between.goes);
    let is_less = undoes || is_same || between.goes && between.views.len() == 1;
    if is_near || !is_less {
        return Ok(None);
    }
    for result in between.made {
        let f = r.function();
        let Some(op) = f.defining_op(result) else {
            return Ok(None);
        };
        let own = |value| moved.get(&value).copied().unwrap_or(value);
        let operands: Vec<ValueId> = f.operands(op).map(own).collect();
        match like(f, op, &[]) {
            Some(made) => moved.insert(result, r.op(made.operands(operands))?),
            None => return Ok(None),
        };
    }
    let Some(&value) = moved.get(&inner) else {
        return Ok(None);
    };
    match undoes || is_same {
        true => Ok(Some(vec![value])),
        false => reshape(r, value, outer),
    }
}
