//! `tir.transform.UnrollLoop`: replaces loops by copies of their bodies.
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
//! A loop that is marked `unroll` always; a serial loop if the options say so: it and what it holds
//! make no more than `auto_max_step` steps, or it runs no more than `auto_max_extent` times, it holds
//! no loop that stays, and no more than `auto_max_depth` loops were unrolled in it. A loop that runs
//! once counts as such. Without `explicit_unroll` such serial loops are marked `unroll` instead.
//!
//! It does not unroll loops whose bounds aren't constant; one that is marked `unroll` is an error.
//!
//! Source: TVM `src/tir/transforms/unroll_loop.cc`.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

/// The most ops that unrolling one loop may make.
const MAX_OPS: u64 = 1 << 22;

options! {
    /// Which loops are unrolled.
    pub struct UnrollLoop {
        /// Serial loops of up to this many steps, nested ones multiplied.
        #[range(0..)]
        auto_max_step: i64 = 0,
        /// Serial loops in which up to this many loops were unrolled.
        #[range(0..)]
        auto_max_depth: i64 = 8,
        /// Serial loops that run up to this many times.
        #[range(0..)]
        auto_max_extent: i64 = 0,
        /// Write the copies out; otherwise only mark the loops.
        explicit_unroll: bool = true,
    }
}

/// What is known of a region whose loops were looked at.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Steps that one run of it makes.
    steps: i64,
    /// Loops in it that were unrolled, one inside the other.
    unrolled: i64,
    /// Whether a loop in it stays.
    has_loop: bool,
}

impl Cost {
    fn add(&mut self, inner: Cost) {
        self.steps = self.steps.saturating_add(inner.steps);
        self.unrolled = self.unrolled.max(inner.unrolled);
        self.has_loop |= inner.has_loop;
    }
}

pub(crate) fn unroll_loop(f: &mut Function, cx: &PassContext) -> PassResult {
    let options = cx.options::<UnrollLoop>()?;
    let mut costs: HashMap<RegionId, Cost> = HashMap::new();
    // From the back, loops come after the loops that they hold.
    for op in f.walk(f.body()).rev() {
        let region = f.parent_region(op);
        let mut cost = Cost::default();
        for &inner in f.regions(op) {
            cost.add(costs.get(&inner).copied().unwrap_or_default());
        }
        if f.name(op) == "for" {
            cost = visit_loop(f, op, cost, &options)?;
        } else if f.result_count(op) == 0 && f.terminator(region) != Some(op) {
            // What has no result is there for its effect: a step.
            cost.steps = cost.steps.saturating_add(1);
        }
        costs.entry(region).or_default().add(cost);
    }
    Ok(())
}

/// Unrolls a loop, or not, and answers what it costs now.
fn visit_loop(
    f: &mut Function,
    op: OpId,
    body: Cost,
    options: &UnrollLoop,
) -> Result<Cost, PassError> {
    let is_marked = f.string(op, "kind") == Some("unroll");
    let is_serial = matches!(f.string(op, "kind"), None | Some("serial"));
    let Some(bounds) = Bounds::of(f, op)? else {
        if is_marked {
            let message = "A loop that is marked `unroll` has to have constant bounds.";
            return Err(PassError::new(message).at(op));
        }
        return Ok(Cost {
            has_loop: true,
            ..body
        });
    };
    let steps = body.steps.saturating_mul(bounds.extent);
    let is_small = steps <= options.auto_max_step || bounds.extent <= options.auto_max_extent;
    let is_auto = is_serial
        && !body.has_loop
        && body.unrolled <= options.auto_max_depth
        && (is_small && bounds.extent > 0 || bounds.extent == 1);
    if is_marked || (is_auto && options.explicit_unroll) {
        unroll(f, op, bounds)?;
        return Ok(Cost {
            steps,
            unrolled: body.unrolled + 1,
            has_loop: body.has_loop,
        });
    }
    if is_auto {
        f.set_attr(op, "kind", "unroll")?;
    }
    Ok(Cost {
        steps,
        has_loop: !is_auto,
        unrolled: body.unrolled,
    })
}

/// A loop's constant bounds.
#[derive(Clone, Copy)]
struct Bounds {
    first: i64,
    step: i64,
    extent: i64,
}

impl Bounds {
    fn of(f: &Function, op: OpId) -> Result<Option<Bounds>, EditError> {
        let constant = |index| match f.operand(op, index) {
            Some(value) => Ok(f
                .constant_ints(value)?
                .and_then(|ints| ints.first().copied())),
            None => Ok(None),
        };
        let (Some(first), Some(end)) = (constant(0)?, constant(1)?) else {
            return Ok(None);
        };
        let step = match f.operand(op, 2) {
            Some(_) => constant(2)?,
            None => Some(1),
        };
        let Some(step) = step.filter(|&step| step > 0) else {
            return Ok(None);
        };
        let span = i128::from(end) - i128::from(first);
        let runs = (span.max(0) + i128::from(step) - 1) / i128::from(step);
        let extent = i64::try_from(runs).unwrap_or(i64::MAX);
        Ok(Some(Bounds {
            first,
            step,
            extent,
        }))
    }
}

/// Puts a copy of the body for each run in the place of the loop.
fn unroll(f: &mut Function, op: OpId, bounds: Bounds) -> PassResult {
    let Some(body) = f.region(op, "body") else {
        return Err(PassError::new("A `for` has to have a region `body`.").at(op));
    };
    let &[index] = f.args(body) else {
        return Err(PassError::new("The body of a `for` has to have one argument.").at(op));
    };
    // All but the terminator.
    let ops = (f.iter_in(body).count() as u64).saturating_sub(1);
    if ops.saturating_mul(bounds.extent as u64) > MAX_OPS {
        let message = format!(
            "Unrolling this loop would make {} copies of {ops} ops; the limit is {MAX_OPS} ops.",
            bounds.extent
        );
        return Err(PassError::new(message).at(op));
    }
    let ty = f.type_id(index);
    let width = (f.dtype(index).bits() / 8) as usize;
    if !matches!(width, 1 | 2 | 4 | 8) {
        let message = "The argument of a loop's body has to have an integer type.";
        return Err(PassError::new(message).at(op));
    }
    for run in 0..bounds.extent {
        let value = bounds.first.wrapping_add(run.wrapping_mul(bounds.step));
        let bytes = value.to_le_bytes();
        let value = f.add_constant(&ConstantSpec::new(ty, &bytes[..width]))?;
        f.clone_region(
            body,
            Position {
                region: f.parent_region(op),
                before: op,
            },
            &[value],
        )?;
    }
    let operands: Vec<ValueId> = f.operands(op).collect();
    f.erase_op(op)?;
    for operand in operands {
        // The bounds were the loop's own.
        if let (0, Some(constant)) = (f.use_count(operand), f.constant(operand)) {
            f.erase_constant(constant)?;
        }
    }
    Ok(())
}
