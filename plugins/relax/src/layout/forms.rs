//! [`Forms`]: the layouts in which each value is available, and the creation of conversions.

use std::collections::HashMap;

use passdock_plugin_api::Evaluated;
use passdock_plugin_api::op::{Layout, LayoutStep};
use passdock_plugin_api::prelude::*;

use crate::shared::read::{perm, viewed};

/// The maximum total size in bytes of constants that are converted: they are held in memory.
const MAX_BYTES: u64 = 128 << 20;

/// The forms of a function's values.
pub(crate) struct Forms<'c> {
    cx: &'c PassContext,
    forms: HashMap<ValueId, Form>,
    /// The remaining budget for converted constants, in bytes.
    room: u64,
    /// Values that may have become dead.
    left: Vec<ValueId>,
    /// Replacements of values whose op was replaced, in the same layout.
    pub(crate) same: HashMap<ValueId, ValueId>,
}

/// The forms of one value.
#[derive(Default)]
struct Form {
    /// The value in other layouts. The first one is the layout in which it is computed.
    others: Vec<(Layout, ValueId)>,
    /// The replacement, in the original layout, of a value whose op was replaced. `None` until it is needed.
    own: Option<ValueId>,
    /// The replaced op that defines the value. It stays until the end, as an insertion point.
    replaced: Option<OpId>,
}

impl<'c> Forms<'c> {
    pub(crate) fn new(cx: &'c PassContext) -> Forms<'c> {
        Forms {
            cx,
            forms: HashMap::new(),
            room: MAX_BYTES,
            left: Vec::new(),
            same: HashMap::new(),
        }
    }

    /// Records values that may have become dead.
    pub(crate) fn leave(&mut self, values: impl IntoIterator<Item = ValueId>) {
        self.left.extend(values);
    }

    /// Records that the replacement of an op computes a value in another layout.
    pub(crate) fn add_form(&mut self, value: ValueId, op: OpId, layout: Layout, created: ValueId) {
        let form = Form {
            others: vec![(layout, created)],
            own: None,
            replaced: Some(op),
        };
        self.forms.insert(value, form);
    }

    /// Returns the layout in which a value is available without a conversion.
    pub(crate) fn layout(&self, value: ValueId) -> Option<&Layout> {
        let (layout, _) = self.forms.get(&value)?.others.first()?;
        Some(layout)
    }

    /// Whether a value is available without a conversion, in a layout or in the original one (`None`).
    pub(crate) fn has(&self, f: &Function, value: ValueId, layout: Option<&Layout>) -> bool {
        let form = self.forms.get(&value);
        match layout {
            None => form.is_none_or(|form| form.replaced.is_none() || form.own.is_some()),
            Some(layout) => {
                f.constant(value).is_some()
                    || form.is_some_and(|form| form.others.iter().any(|(known, _)| known == layout))
                    || transposed(f, value)
                        .and_then(|(_, perm)| perm.then(layout))
                        .is_some_and(|layout| layout.is_identity())
                    || form.is_none_or(|form| form.replaced.is_none())
                        && view_shape(f, value, layout).is_some()
            }
        }
    }

    /// Returns a value in its original layout, with a conversion if it is computed in another one.
    pub(crate) fn own(&mut self, f: &mut Function, value: ValueId) -> Result<ValueId, PassError> {
        let Some(form) = self.forms.get(&value) else {
            return Ok(value);
        };
        let (Some(op), None) = (form.replaced, form.own) else {
            return Ok(form.own.unwrap_or(value));
        };
        let (layout, created) = form.others[0].clone();
        let sizes = sizes(f, value, layout.rank());
        let steps = layout
            .steps_back(&sizes)
            .ok_or_else(|| lost(f, value, &layout))?;
        let own = apply(f, self.cx, created, &steps, op, f.next_op(op))?;
        refine(f, own, f.type_id(value));
        self.forms.entry(value).or_default().own = Some(own);
        Ok(own)
    }

    /// Returns a value in a layout. Creates a conversion if necessary. `user` is the op that needs the value.
    pub(crate) fn get(
        &mut self,
        f: &mut Function,
        value: ValueId,
        layout: &Layout,
        user: OpId,
    ) -> Result<ValueId, PassError> {
        let form = self.forms.entry(value).or_default();
        let mut others = form.others.iter();
        if let Some((_, created)) = others.find(|(known, _)| known == layout) {
            return Ok(*created);
        }
        let sizes = sizes(f, value, layout.rank());
        let steps = layout.steps(&sizes).ok_or_else(|| lost(f, value, layout))?;
        let created = match (form.replaced, form.own, f.constant(value)) {
            (Some(op), None, _) => {
                let (known, created) = form.others[0].clone();
                let back = known
                    .steps_back(&sizes)
                    .ok_or_else(|| lost(f, value, &known))?;
                let steps = merged([back, steps].concat());
                apply(f, self.cx, created, &steps, op, f.next_op(op))?
            }
            (Some(op), Some(own), _) => {
                // After the conversion to the original layout, which follows the op.
                let next = f.next_op(f.defining_op(own).unwrap_or(op));
                apply(f, self.cx, own, &steps, op, next)?
            }
            (None, _, Some(_)) => self.constant(f, value, &steps, user)?,
            (None, _, None) => {
                let (from, steps) = self.above(f, value, layout, steps);
                let producer = f.defining_op(from);
                let next = match producer {
                    Some(producer) => f.next_op(producer),
                    None => f.arg_region(from).and_then(|region| f.first_op(region)),
                };
                apply(f, self.cx, from, &steps, producer.unwrap_or(user), next)?
            }
        };
        let ty = laid_type(f, value, layout)?;
        refine(f, created, ty);
        let form = self.forms.entry(value).or_default();
        form.others.push((layout.clone(), created));
        Ok(created)
    }

    /// Returns the steps from the operand of a `Transpose` or view that defines the value, if these are fewer.
    fn above(
        &mut self,
        f: &Function,
        value: ValueId,
        layout: &Layout,
        steps: Vec<LayoutStep>,
    ) -> (ValueId, Vec<LayoutStep>) {
        if let Some(shape) = view_shape(f, value, layout) {
            let mut from = value;
            while let Some(above) = viewed(f, from) {
                from = above;
            }
            self.left.push(value);
            return (from, vec![LayoutStep::Reshape(shape)]);
        }
        let merged = transposed(f, value).and_then(|(from, perm)| {
            let steps = perm.then(layout)?.perm()?;
            Some((from, merged(vec![LayoutStep::Transpose(steps)])))
        });
        match merged {
            Some(merged) => {
                self.left.push(value);
                merged
            }
            None => (value, steps),
        }
    }

    /// Converts a constant to another layout: at compile time if the budget permits.
    fn constant(
        &mut self,
        f: &mut Function,
        value: ValueId,
        steps: &[LayoutStep],
        user: OpId,
    ) -> Result<ValueId, PassError> {
        self.left.push(value);
        let record = f.constant(value).and_then(|id| f.constant_record(id));
        let bytes = record.map_or(u64::MAX, |record| record.byte_len);
        let region = f.parent_region(user);
        if bytes > self.room {
            // Inserted where it dominates all later users.
            let next = f.first_op(record.map_or(region, |record| record.region));
            return apply(f, self.cx, value, steps, user, next);
        }
        let last = apply(f, self.cx, value, steps, user, Some(user))?;
        let mut created = Vec::new();
        let mut op = f.defining_op(last);
        while let Some(one) = op.filter(|_| created.len() < steps.len()) {
            created.push(one);
            op = f.operand(one, 0).and_then(|value| f.defining_op(value));
        }
        let mut now = value;
        for &op in created.iter().rev() {
            let mut operands: Vec<ValueId> = f.operands(op).collect();
            operands[0] = now;
            match self.cx.evaluate_with(f, op, &operands, bytes)? {
                Evaluated::Constants(values) => {
                    if now != value {
                        self.left.push(now);
                    }
                    now = values[0];
                }
                _ => return Ok(last),
            }
        }
        for op in created {
            let used: Vec<ValueId> = f.operands(op).collect();
            f.erase_op(op)?;
            self.left.extend(used);
        }
        self.room -= bytes;
        Ok(now)
    }

    /// Erases the replaced ops and dead values.
    pub(crate) fn finish(self, f: &mut Function, replaced: &[OpId]) -> PassResult {
        let mut left = self.left;
        for &op in replaced.iter().rev() {
            left.extend(f.operands(op));
            // A replacement in the original layout takes the name of the result.
            let own = |result: &ValueId| match self.forms.get(result) {
                Some(form) => form.own.unwrap_or(ValueId::NONE),
                None => self.same.get(result).copied().unwrap_or(ValueId::NONE),
            };
            let values: Vec<ValueId> = f.results(op).iter().map(own).collect();
            f.replace_op_with(op, &values)?;
        }
        for value in left {
            f.erase_dead(value)?;
        }
        Ok(())
    }
}

/// Returns the operand of a `Transpose` that defines a value, and the layout of the value relative to it.
fn transposed(f: &Function, value: ValueId) -> Option<(ValueId, Layout)> {
    let op = f.defining_op(value)?;
    if f.name(op) != "onnx.Transpose" || !f.traits(op).is_defined() {
        return None;
    }
    let perm = perm(f, op)?.into_iter().map(|axis| axis as usize);
    Some((
        f.operand(op, 0)?,
        Layout::permuted(&perm.collect::<Vec<_>>())?,
    ))
}

/// Returns the shape of a value in a layout to which a reshape suffices: all moved axes have size 1.
fn view_shape(f: &Function, value: ValueId, layout: &Layout) -> Option<Vec<i64>> {
    let sizes = f.shape(value)?;
    let known: Vec<Option<i64>> = sizes.iter().map(|size| Some(*size)).collect();
    let is_view = layout.keeps_order(&known) && !sizes.contains(&0) && f.opset("") >= Some(5);
    layout.shape(&sizes).filter(|_| is_view)
}

/// Merges consecutive `Transpose`s, and removes identities.
fn merged(steps: Vec<LayoutStep>) -> Vec<LayoutStep> {
    let mut out: Vec<LayoutStep> = Vec::with_capacity(steps.len());
    for step in steps {
        if let (Some(LayoutStep::Transpose(first)), LayoutStep::Transpose(second)) =
            (out.last_mut(), &step)
            && second.iter().all(|at| *at < first.len())
        {
            *first = second.iter().map(|at| first[*at]).collect();
        } else {
            out.push(step);
        }
    }
    out.retain(|step| match step {
        LayoutStep::Transpose(perm) => perm.iter().enumerate().any(|(at, axis)| at != *axis),
        _ => true,
    });
    out
}

/// Creates the ops of the steps before `before`, with the location of `like`.
fn apply(
    f: &mut Function,
    cx: &PassContext,
    value: ValueId,
    steps: &[LayoutStep],
    like: OpId,
    before: Option<OpId>,
) -> Result<ValueId, PassError> {
    let (loc, at) = (f.loc(like), Position::before(before.unwrap_or(like)));
    let mut value = value;
    for step in steps {
        let op = match step {
            LayoutStep::Transpose(perm) => {
                let perm: Vec<i64> = perm.iter().map(|at| *at as i64).collect();
                OpBuilder::new("onnx.Transpose")
                    .operand(value)
                    .attr("perm", perm)
            }
            LayoutStep::Reshape(shape) => {
                let shape = f.add_ints(shape)?;
                OpBuilder::new("onnx.Reshape").operands([value, shape])
            }
            _ => {
                return Err(PassError::new("a layout has an unsupported step"));
            }
        };
        value = cx.create_value(f, op.loc(loc), at)?;
    }
    Ok(value)
}

/// Returns the sizes of a value; unknown ones are `None`.
pub(crate) fn sizes(f: &Function, value: ValueId, rank: usize) -> Vec<Option<i64>> {
    match f.dims(value) {
        Some(dims) => dims.map(|dim| dim.as_const()).collect(),
        None => vec![None; rank],
    }
}

/// Returns the type of a value in a layout.
pub(crate) fn laid_type(
    f: &mut Function,
    value: ValueId,
    layout: &Layout,
) -> Result<TypeId, EditError> {
    let dtype = f.dtype(value).unwrap_or(DType::NONE);
    let dims: Option<Vec<Dim>> = f.dims(value).map(Iterator::collect);
    let dims = dims.filter(|dims| dims.len() == layout.rank());
    let Some(dims) = dims else {
        return f.add_type(&TypeSpec::unranked(dtype));
    };
    let laid = layout.positions().iter().map(|position| {
        let (dim, block) = (dims[position.axis], layout.block(position.axis));
        match (position.block, dim.as_const()) {
            (Some(size), _) => Dim::constant(size),
            (None, _) if block == 1 => dim,
            (None, Some(size)) => Dim::constant(size / block),
            (None, None) => Dim::UNKNOWN,
        }
    });
    f.add_type(&TypeSpec::tensor(dtype, laid))
}

/// Refines the type of a value, unless the new type contradicts the inferred one.
pub(crate) fn refine(f: &mut Function, value: ValueId, ty: TypeId) {
    if ty.is_some() {
        // On a contradiction, the inferred type stays.
        _ = f.set_type(value, ty);
    }
}

/// Returns an error: the definition returned a layout that the value can't have.
fn lost(f: &Function, value: ValueId, layout: &Layout) -> PassError {
    let position = f.defining_op(value);
    let error = PassError::new(format!(
        "invalid layout `{layout}` for a value of type {}, requested by an op definition",
        f.type_of(value)
    ));
    match position {
        Some(op) => error.at(op).within(f),
        None => error,
    }
}
