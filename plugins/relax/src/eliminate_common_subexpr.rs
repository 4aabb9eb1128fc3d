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
//! Ops are merged that have the same name, operands (of a commutative op in any order), attributes
//! and number of results, constants that have the same type and bytes: 0.0 and -0.0 differ. An op in
//! a region gives way to one that stands before it, there or around, never to one of another branch.
//! What is left has the locations of all that it stands for.
//!
//! It does not merge ops that may have an effect (an op without a definition may), random ops, calls of functions that
//! hold such ops or call themselves, and ops with regions, nor ops of which one spells out an attribute's default. It
//! does not merge where the file would need more copies (ONNX's `Identity`) for what the regions give out than there
//! were ops.
//!
//! Source: TVM `src/relax/transform/eliminate_common_subexpr.cc`. A table by scope stands for the
//! hashing of whole expressions there: operands were merged before an op is looked at.

use std::collections::{BTreeMap, HashMap};

use passdock_plugin_api::prelude::*;
use passdock_plugin_api::{LocId, record};

use crate::shared::read::optional;
use crate::shared::signature::Signatures;

/// The number of candidates of the same hash that something is compared with: of large constants
/// only a part is hashed.
const CANDIDATES: usize = 16;

pub(crate) fn eliminate_common_subexpr(f: &mut Function, cx: &PassContext) -> PassResult {
    let mut merger = Merger::new(f, cx)?;
    let mut steps = vec![Step::Enter(f.body())];
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(region) => {
                let counts = [merger.ops.hashes.len(), merger.constants.hashes.len()];
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

/// A step to do. Regions may be nested deeper than the stack is.
enum Step {
    Enter(RegionId),
    Op(OpId),
    /// Forgets what was found since there were so many ops and constants.
    Leave([usize; 2]),
}

struct Merger {
    signatures: Signatures,
    /// Ops that are there at the place that was reached.
    ops: Scoped<OpId>,
    constants: Scoped<ConstId>,
    /// Per region, the constants in it that might be like another.
    candidates: HashMap<RegionId, Vec<ConstId>>,
    given_out: RegionResults,
    /// The locations of the ops that gave way to one.
    merged: BTreeMap<OpId, Vec<LocId>>,
}

impl Merger {
    fn new(f: &Function, cx: &PassContext) -> Result<Merger, EditError> {
        // Bytes are looked at only where type and length are those of another.
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
            given_out: RegionResults::new(f),
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
            // It would come back as a copy.
            if self.given_out.contains(record.value) || !f.constants_equal(constant, known)? {
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

    /// Lets `known` stand for `op`, if that is of use.
    fn merge(&mut self, f: &mut Function, op: OpId, known: OpId) -> Result<bool, EditError> {
        let is_local = f.parent_region(known) == f.parent_region(op);
        let pairs: Vec<[ValueId; 2]> = (0..f.result_count(op))
            .map(|index| [f.result(op, index), f.result(known, index)])
            .collect();
        let needs_copy = |&&[from, to]: &&[ValueId; 2]| self.given_out.needs_copy(f, from, to);
        let copies = pairs.iter().filter(needs_copy).count();
        if copies > usize::from(!f.traits(op).is_identity()) {
            return Ok(false);
        }
        for &[from, to] in &pairs {
            let is_known = f.type_of(from).kind() != TypeKind::UNKNOWN;
            // A contradiction is InferType's to report.
            if is_known && optional(f.set_type(to, f.type_id(from)))?.is_none() {
                return Ok(false);
            }
        }
        for &[from, to] in pairs.iter().filter(|_| is_local) {
            self.given_out.replace(from, to);
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

/// Ops or constants by a hash; the last ones can be forgotten.
struct Scoped<T> {
    by_hash: HashMap<u64, Vec<T>>,
    /// The hashes of all, in the order in which they came.
    hashes: Vec<u64>,
}

impl<T: Copy> Scoped<T> {
    fn new() -> Scoped<T> {
        Scoped {
            by_hash: HashMap::new(),
            hashes: Vec::new(),
        }
    }

    fn push(&mut self, hash: u64, entry: T) {
        self.by_hash.entry(hash).or_default().push(entry);
        self.hashes.push(hash);
    }

    /// The last few of a hash, the last first.
    fn find(&self, hash: u64) -> Vec<T> {
        let all = self.by_hash.get(&hash).into_iter().flatten();
        all.rev().take(CANDIDATES).copied().collect()
    }

    fn truncate(&mut self, len: usize) {
        for hash in self.hashes.drain(len..) {
            self.by_hash.entry(hash).or_default().pop();
        }
    }
}
