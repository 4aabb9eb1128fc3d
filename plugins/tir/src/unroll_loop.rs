//! `tir.transform.UnrollLoop`: unrolls loops.
//!
//! ```ir
//! prim @copy(%a: buffer<f32[2]>, %b: buffer<f32[2]>) {
//!   for %i in 0..2 unroll {
//!     %0 = tir.load(%a, %i) : f32
//!     tir.store(%0, %b, %i)
//!   }
//! }
//! →
//! prim @copy(%a: buffer<f32[2]>, %b: buffer<f32[2]>) {
//!   %0 = tir.load(%a, 0) : f32
//!   tir.store(%0, %b, 0)
//!   %1 = tir.load(%a, 1) : f32
//!   tir.store(%1, %b, 1)
//! }
//! ```
//!
//! Loops that are marked `unroll` are always unrolled. A serial loop is unrolled if it executes at most `auto_max_step`
//! steps including nested loops, or if its trip count is at most `auto_max_extent`. In addition, it must not contain a
//! remaining loop, and at most `auto_max_depth` nested loops may have been unrolled in it. A loop with a trip count of
//! 1 always satisfies the first condition. Without `explicit_unroll`, such serial loops are marked `unroll` instead.
//! With `auto_max_extent = 1`, any loop with a trip count of 0 or 1 is removed, whatever it contains.
//!
//! The trip count must be constant, but not the start: `%n..%m` with `%m = tir.add(%n, 2)` runs twice, at `%n` and
//! `tir.add(%n, 1)`.
//!
//! Other loops aren't unrolled. It is an error if a loop that is marked `unroll` has no constant trip count, or would
//! create more than `max_ops` ops.
//!
//! Source: TVM `src/tir/transforms/unroll_loop.cc`.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

options! {
    /// Options of UnrollLoop.
    pub struct UnrollLoop {
        /// The maximum number of steps of a serial loop that is unrolled, multiplied over nested loops.
        #[range(0..)]
        auto_max_step: i64 = 0,
        /// The maximum number of nested unrolled loops in a serial loop that is unrolled.
        #[range(0..)]
        auto_max_depth: i64 = 8,
        /// The maximum trip count of a serial loop that is unrolled.
        #[range(0..)]
        auto_max_extent: i64 = 0,
        /// Whether to unroll the selected serial loops. If `false`, they are only marked `unroll`.
        explicit_unroll: bool = true,
        /// The maximum number of ops that unrolling may create per function. Serial loops that would exceed it aren't
        /// unrolled.
        #[range(0..)]
        max_ops: i64 = 1_000_000,
    }
}

/// The cost of a region whose loops have been visited.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// The number of steps of one execution.
    steps: i64,
    /// The nesting depth of unrolled loops in it.
    unrolled: i64,
    /// Whether a loop in it stays.
    has_loop: bool,
    /// The number of ops including nested ones, without the terminator.
    ops: i64,
    /// The number of pending loops in it.
    waiting: usize,
}

impl Cost {
    fn add(&mut self, inner: Cost) {
        self.steps = self.steps.saturating_add(inner.steps);
        self.unrolled = self.unrolled.max(inner.unrolled);
        self.has_loop |= inner.has_loop;
        self.ops = self.ops.saturating_add(inner.ops);
        self.waiting += inner.waiting;
    }
}

pub(crate) fn unroll_loop(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<UnrollLoop>()?;
    let mut unroller = Unroller {
        room: options.max_ops,
        options,
        waiting: Vec::new(),
    };
    let mut costs: HashMap<RegionId, Cost> = HashMap::new();
    // In reverse order, loops are visited after the loops that they contain.
    for op in f.walk(f.body()).rev() {
        let region = f.parent_region(op);
        let is_end = f.terminator(region) == Some(op);
        let mut cost = Cost::default();
        for inner in f.regions(op) {
            cost.add(costs.get(inner).copied().unwrap_or_default());
        }
        if f.name(op) == "for" {
            cost = unroller.visit(f, op, cost)?;
        } else {
            // An op without results is executed for its effect and counts as a step.
            let steps = i64::from(f.result_count(op) == 0 && !is_end);
            cost.steps = cost.steps.saturating_add(steps);
            cost.ops = cost.ops.saturating_add(i64::from(!is_end));
        }
        costs.entry(region).or_default().add(cost);
    }
    unroller.write_out(f, usize::MAX)
}

struct Unroller {
    options: UnrollLoop,
    /// The remaining number of ops that copies may create.
    room: i64,
    /// Pending loops with a trip count of 1, in reverse program order. They are expanded from the outside in, so that
    /// each op moves once, whatever the nesting depth.
    waiting: Vec<(OpId, Runs)>,
}

impl Unroller {
    /// Decides about a loop and unrolls it if necessary. Returns its new cost.
    fn visit(&mut self, f: &mut Function, op: OpId, body: Cost) -> Result<Cost, PassError> {
        let options = &self.options;
        let is_marked = f.string(op, "kind") == Some("unroll");
        let is_serial = matches!(f.string(op, "kind"), None | Some("serial"));
        let Some(runs) = Runs::from_op(f, op)? else {
            if is_marked {
                let message = "a loop of kind `unroll` must have a constant trip count";
                return Err(PassError::new(message).at(op));
            }
            return Ok(Cost {
                has_loop: true,
                ops: body.ops.saturating_add(1),
                ..body
            });
        };
        let steps = body.steps.saturating_mul(runs.extent);
        let is_small = steps <= options.auto_max_step || runs.extent <= options.auto_max_extent;
        let is_auto = is_serial
            && !body.has_loop
            && body.unrolled <= options.auto_max_depth
            && (is_small && runs.extent > 0 || runs.extent == 1);
        let is_unit = options.auto_max_extent == 1 && runs.extent <= 1;
        let indices = runs.indices(f, op);
        // The last iteration reuses the body.
        let copies = (runs.extent - 1).max(0);
        let added_ops = body.ops.saturating_mul(copies).saturating_add(indices);
        if is_marked && added_ops > self.room {
            let message = format!(
                "unrolling the loop would add {added_ops} ops to the function; only {} of `max_ops` = {} remain",
                self.room, options.max_ops
            );
            return Err(PassError::new(message).at(op));
        }
        if (is_marked || is_unit || (is_auto && options.explicit_unroll)) && added_ops <= self.room
        {
            self.room -= added_ops;
            let mut waiting = 0;
            if body.ops == 0 || runs.extent == 0 {
                self.waiting.truncate(self.waiting.len() - body.waiting);
                erase(f, op)?;
            } else if runs.extent == 1 {
                self.waiting.push((op, runs));
                waiting = body.waiting + 1;
            } else {
                self.write_out(f, body.waiting)?;
                runs.write_out(f, op)?;
            }
            return Ok(Cost {
                steps,
                unrolled: body.unrolled + i64::from(is_marked || is_auto),
                has_loop: body.has_loop || !(is_marked || is_auto),
                ops: body.ops.saturating_mul(runs.extent).saturating_add(indices),
                waiting,
            });
        }
        if is_auto && !options.explicit_unroll {
            f.set_attr(op, "kind", "unroll")?;
        }
        Ok(Cost {
            steps,
            has_loop: !is_auto,
            unrolled: body.unrolled,
            ops: body.ops.saturating_add(1),
            waiting: body.waiting,
        })
    }

    /// Expands the latest `count` pending loops.
    fn write_out(&mut self, f: &mut Function, count: usize) -> PassResult {
        let from = self.waiting.len().saturating_sub(count);
        for (op, runs) in self.waiting.drain(from..).rev() {
            runs.write_out(f, op)?;
        }
        Ok(())
    }
}

/// The iterations of a loop.
#[derive(Clone, Copy)]
struct Runs {
    /// The start, if it is constant; otherwise it is the first operand.
    first: Option<i64>,
    step: i64,
    extent: i64,
}

impl Runs {
    /// Returns `None` if the trip count isn't constant.
    fn from_op(f: &Function, op: OpId) -> Result<Option<Runs>, EditError> {
        let (Some(first), Some(end)) = (f.operand(op, 0), f.operand(op, 1)) else {
            return Ok(None);
        };
        let step = match f.operand(op, 2) {
            Some(step) => constant(f, step)?,
            None => Some(1),
        };
        let Some(step) = step.filter(|&step| step > 0) else {
            return Ok(None);
        };
        let (from, to) = (Sum::from_value(f, first)?, Sum::from_value(f, end)?);
        let index = f.region(op, "body").and_then(|body| f.args(body).first());
        let is_index = |value| index.is_some_and(|&index| f.type_id(index) == f.type_id(value));
        if from.value != to.value || from.value.is_some() && !is_index(first) {
            return Ok(None);
        }
        let span = i128::from(to.number) - i128::from(from.number);
        let runs = (span.max(0) + i128::from(step) - 1) / i128::from(step);
        Ok(Some(Runs {
            first: from.value.is_none().then_some(from.number),
            step,
            extent: i64::try_from(runs).unwrap_or(i64::MAX),
        }))
    }

    /// Returns the number of ops that compute indices. A loop with a constant start needs none, and the first iteration
    /// of others uses the start.
    fn indices(self, f: &Function, op: OpId) -> i64 {
        match self.first {
            None if uses_index(f, op) => (self.extent - 1).max(0),
            _ => 0,
        }
    }

    /// Replaces the loop with a copy of the body for each iteration; the last one is the body itself.
    fn write_out(self, f: &mut Function, op: OpId) -> PassResult {
        let Some(body) = f.region(op, "body") else {
            return Err(PassError::new("`for` lacks region `body`").at(op));
        };
        let &[index] = f.args(body) else {
            return Err(PassError::new("the body of `for` must have exactly one argument").at(op));
        };
        let width = (f.dtype(index).map_or(0, DType::bits) / 8) as usize;
        if !matches!(width, 1 | 2 | 4 | 8) {
            let message = "the argument of a loop body must have an integer type";
            return Err(PassError::new(message).at(op));
        }
        for run in 0..self.extent {
            let value = match uses_index(f, op) {
                true => self.index(f, op, index, run)?,
                false => ValueId::NONE,
            };
            if run + 1 < self.extent {
                f.clone_region(body, Position::before(op), &[value], &[])?;
            } else {
                f.inline_region(body, &[value])?;
            }
        }
        erase(f, op)
    }

    /// Returns the index of an iteration.
    fn index(
        self,
        f: &mut Function,
        op: OpId,
        index: ValueId,
        run: i64,
    ) -> Result<ValueId, EditError> {
        let ty = f.type_id(index);
        let offset = run.wrapping_mul(self.step);
        let number = self.first.unwrap_or(0).wrapping_add(offset);
        let start = f.operand(op, 0).unwrap_or(ValueId::NONE);
        if self.first.is_none() && run == 0 {
            return Ok(start);
        }
        let width = (f.dtype(index).map_or(0, DType::bits) / 8) as usize;
        let number = f.add_constant(&ConstantSpec::new(ty, &number.to_le_bytes()[..width]))?;
        if self.first.is_some() {
            return Ok(number);
        }
        let sum = OpBuilder::new("tir.add").operands([start, number]);
        let sum = f.create_op(sum.result(ty).loc(f.loc(op)), Position::before(op))?;
        Ok(f.result(sum, 0))
    }
}

/// Erases a loop, and its bounds if they become unused.
fn erase(f: &mut Function, op: OpId) -> PassResult {
    let operands: Vec<ValueId> = f.operands(op).collect();
    f.erase_op(op)?;
    for operand in operands {
        if let (0, Some(constant)) = (f.use_count(operand), f.constant(operand)) {
            f.erase_constant(constant)?;
        }
    }
    Ok(())
}

/// Whether the body of a loop uses the index.
fn uses_index(f: &Function, op: OpId) -> bool {
    let body = f.region(op, "body");
    body.is_some_and(|body| f.args(body).iter().any(|&index| f.use_count(index) > 0))
}

/// The sum of a value and a constant.
#[derive(Clone, Copy)]
struct Sum {
    value: Option<ValueId>,
    number: i64,
}

/// The maximum length of a chain of additions of constants that is followed.
const MAX_ADDITIONS: usize = 16;

impl Sum {
    fn from_value(f: &Function, value: ValueId) -> Result<Sum, EditError> {
        let (mut value, mut number) = (value, 0_i64);
        for _ in 0..MAX_ADDITIONS {
            if let Some(constant) = constant(f, value)? {
                return Ok(Sum {
                    value: None,
                    number: number.wrapping_add(constant),
                });
            }
            let Some(op) = f.defining_op(value).filter(|&op| f.name(op) == "tir.add") else {
                break;
            };
            let (Some(a), Some(b)) = (f.operand(op, 0), f.operand(op, 1)) else {
                break;
            };
            let (added, other) = match (constant(f, a)?, constant(f, b)?) {
                (_, Some(added)) => (added, a),
                (Some(added), None) => (added, b),
                (None, None) => break,
            };
            (value, number) = (other, number.wrapping_add(added));
        }
        Ok(Sum {
            value: Some(value),
            number,
        })
    }
}

fn constant(f: &Function, value: ValueId) -> Result<Option<i64>, EditError> {
    let ints = f.constant_ints(value)?;
    Ok(ints.and_then(|ints| ints.first().copied()))
}
