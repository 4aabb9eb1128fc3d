//! `relax.transform.EliminateCommonSubexpr`: eliminates common subexpressions.
//!
//! ```ir
//! fn @main(%x: f32[2], %y: f32[2]) -> (%z: f32[2]) opset("" = 17) {
//!   %0 = onnx.Add(%x, %y) : f32[2]
//!   %1 = onnx.Add(%y, %x) : f32[2]
//!   %2 = onnx.Mul(%0, %1) : f32[2]
//!   return %2
//! }
//! →
//! fn @main(%x: f32[2], %y: f32[2]) -> (%z: f32[2]) opset("" = 17) {
//!   %0 = onnx.Add(%x, %y) : f32[2]
//!   %1 = onnx.Mul(%0, %0) : f32[2]
//!   return %1
//! }
//! ```
//!
//! Ops are merged if they have the same name, operands (in any order for commutative ops), attributes and number of
//! results. Constants are merged if they have the same type and bytes; 0.0 and -0.0 differ. An op is replaced by an
//! earlier one in the same region or in an enclosing region, never by one of another branch. The remaining op has the
//! fused locations of all merged ops.
//!
//! The pass doesn't merge random ops, ops with regions, or ops that may have effects; ops without a definition count as
//! such. It doesn't merge calls of recursive functions or of functions that contain such ops. An explicit attribute and
//! its implicit default count as different. Ops stay if the file would need more copies (ONNX's `Identity`) for yielded
//! values than merging removes.
//!
//! Source: TVM `src/relax/transform/eliminate_common_subexpr.cc`. TVM hashes whole expressions; this pass has a scoped
//! table of ops instead, as operands are merged before their users are visited.

use std::collections::{BTreeMap, HashMap};

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{LocId, record};

use crate::shared::read::unless_no_match;
use crate::shared::signature::Signatures;

/// The maximum number of candidates with the same hash that are compared. Hashes of large constants cover only a part
/// of the bytes, so they may collide.
const CANDIDATES: usize = 16;

pub(crate) fn eliminate_common_subexpr(f: &mut Function, cx: &PassContext) -> PassResult {
    let mut merger = Merger::new(f, cx)?;
    let mut steps = vec![Step::Enter(f.body())];
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(region) => {
                let counts = [merger.ops.entries.len(), merger.constants.entries.len()];
                steps.push(Step::Leave(counts));
                steps.extend(f.first_op(region).map(Step::Op));
                merger.enter(f, region)?;
            }
            Step::Op(op) => {
                steps.extend(f.next_op(op).map(Step::Op));
                steps.extend(f.regions(op).iter().rev().copied().map(Step::Enter));
                merger.visit(f, op)?;
            }
            Step::Leave([ops, constants]) => {
                merger.ops.truncate(ops);
                merger.constants.truncate(constants);
            }
        }
    }
    merger.fuse_locations(f)
}

/// A step of the traversal. It uses an explicit stack, because deeply nested regions could overflow the call stack.
enum Step {
    Enter(RegionId),
    Op(OpId),
    /// Leaves a region: truncates the tables of ops and constants to these lengths.
    Leave([usize; 2]),
}

struct Merger {
    signatures: Signatures,
    /// The ops that are visible at the current position.
    ops: Scoped<OpId>,
    constants: Scoped<ConstId>,
    /// The constants of each region that may equal another one.
    candidates: HashMap<RegionId, Vec<ConstId>>,
    yielded: RegionResults,
    /// The locations of the ops that were merged into each op.
    merged: BTreeMap<OpId, Vec<LocId>>,
}

impl Merger {
    fn new(f: &Function, cx: &PassContext) -> Result<Merger, EditError> {
        // Only constants with equal type and length are hashed.
        let kind = |constant: &record::Constant| (constant.ty, constant.byte_len);
        let mut counts: HashMap<(TypeId, u64), usize> = HashMap::new();
        for (_, constant) in f.constants() {
            *counts.entry(kind(&constant)).or_default() += 1;
        }
        let mut candidates: HashMap<RegionId, Vec<ConstId>> = HashMap::new();
        for (id, constant) in f.constants() {
            if counts[&kind(&constant)] > 1 {
                let region = constant.region.option().unwrap_or_else(|| f.body());
                candidates.entry(region).or_default().push(id);
            }
        }
        Ok(Merger {
            signatures: Signatures::new(f, cx)?,
            ops: Scoped::new(),
            constants: Scoped::new(),
            candidates,
            yielded: RegionResults::new(f),
            merged: BTreeMap::new(),
        })
    }

    fn enter(&mut self, f: &mut Function, region: RegionId) -> PassResult {
        for constant in self.candidates.remove(&region).unwrap_or_default() {
            self.visit_constant(f, constant)?;
        }
        Ok(())
    }

    fn visit_constant(&mut self, f: &mut Function, constant: ConstId) -> PassResult {
        let Some(record) = f.constant_record(constant) else {
            return Ok(());
        };
        let hash = f.constant_hash(constant)? ^ u64::from(record.ty.0).rotate_left(32);
        for known in self.constants.find(hash) {
            let other = f.constant_record(known);
            let Some(other) = other.filter(|other| other.ty == record.ty) else {
                continue;
            };
            // Export would add it again as a copy.
            if self.yielded.contains(record.value) || !f.constants_equal(constant, known)? {
                continue;
            }
            f.replace_uses(record.value, other.value)?;
            f.erase_constant(constant)?;
            return Ok(());
        }
        self.constants.push(hash, constant);
        Ok(())
    }

    fn visit(&mut self, f: &mut Function, op: OpId) -> PassResult {
        let Some(hash) = self.signatures.hash(f, op)? else {
            return Ok(());
        };
        for known in self.ops.find(hash) {
            if self.signatures.are_equal(f, op, known)? && self.merge(f, op, known)? {
                return Ok(());
            }
        }
        self.ops.push(hash, op);
        Ok(())
    }

    /// Replaces `op` with `known`. Returns `false` if that would need too many copies, or if the types contradict each
    /// other.
    fn merge(&mut self, f: &mut Function, op: OpId, known: OpId) -> Result<bool, EditError> {
        let is_local = f.parent_region(known) == f.parent_region(op);
        let pairs: Vec<[ValueId; 2]> = (0..f.result_count(op))
            .map(|index| [f.result(op, index), f.result(known, index)])
            .collect();
        let needs_copy = |&&[from, to]: &&[ValueId; 2]| self.yielded.needs_copy(f, from, to);
        let copies = pairs.iter().filter(needs_copy).count();
        if copies > usize::from(!f.traits(op).is_identity()) {
            return Ok(false);
        }
        for &[from, to] in &pairs {
            let is_known = f.type_of(from).kind() != TypeKind::UNKNOWN;
            // InferType reports contradictions.
            if is_known && unless_no_match(f.set_type(to, f.type_id(from)))?.is_none() {
                return Ok(false);
            }
        }
        for &[from, to] in pairs.iter().filter(|_| is_local) {
            self.yielded.replace(from, to);
        }
        let loc = f.loc(op);
        self.merged.entry(known).or_default().push(loc);
        let known: Vec<ValueId> = pairs.iter().map(|pair| pair[1]).collect();
        f.replace_op_with(op, &known)?;
        Ok(true)
    }

    fn fuse_locations(self, f: &mut Function) -> PassResult {
        for (op, mut locs) in self.merged {
            let own = f.loc(op);
            locs.insert(0, own);
            let all = f.fused_locs(&locs)?;
            if all != own {
                f.set_loc(op, all)?;
            }
        }
        Ok(())
    }
}

/// A table of ops or constants by hash, from which the latest entries can be removed.
struct Scoped<T> {
    /// The index of the latest entry of each hash.
    latest: HashMap<u64, usize>,
    /// Each entry with its hash and the index of the previous entry of that hash.
    entries: Vec<(T, u64, Option<usize>)>,
}

impl<T: Copy> Scoped<T> {
    fn new() -> Scoped<T> {
        Scoped {
            latest: HashMap::new(),
            entries: Vec::new(),
        }
    }

    fn push(&mut self, hash: u64, entry: T) {
        let previous = self.latest.insert(hash, self.entries.len());
        self.entries.push((entry, hash, previous));
    }

    /// Returns the latest entries with a hash, the latest first.
    fn find(&self, hash: u64) -> Vec<T> {
        let previous = |&index: &usize| self.entries[index].2;
        let all = std::iter::successors(self.latest.get(&hash).copied(), previous);
        let latest = all.take(CANDIDATES).map(|index| self.entries[index].0);
        latest.collect()
    }

    fn truncate(&mut self, len: usize) {
        for (_, hash, previous) in self.entries.drain(len..).rev() {
            match previous {
                Some(previous) => self.latest.insert(hash, previous),
                None => self.latest.remove(&hash),
            };
        }
    }
}
