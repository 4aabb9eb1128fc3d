//! [`Rewriter`]: what a rule makes its replacement with.

use passdock_abi::{DType, OpId, Position, Status, ValueId};

use super::condition;
use super::matching::Match;
use super::number;
use super::rules::NoMatch;
use crate::data::EditError;
use crate::ir::{ConstantSpec, Function, OpBuilder, TypeSpec};
use crate::language::{After, AttrTerm, Node, NodeAttr, Operand};
use crate::pass::PassContext;

/// The largest constant, in bytes, that is made of others however often those are used.
const SMALL: u64 = 1 << 12;

/// What a rule's code makes its replacement with: ops that stand before the root, have its place in the source,
/// and are folded to constants where all of their operands are.
pub struct Rewriter<'r> {
    pub(super) f: &'r mut Function,
    pub(super) cx: &'r PassContext,
    /// The op that is replaced.
    root: OpId,
    made: Vec<OpId>,
    /// Constants that were made, of which nobody may come to use some.
    constants: Vec<ValueId>,
}

impl<'r> Rewriter<'r> {
    pub(super) fn new(f: &'r mut Function, cx: &'r PassContext, found: &Match<'_>) -> Rewriter<'r> {
        Rewriter {
            f,
            cx,
            root: found.root(),
            made: Vec::new(),
            constants: Vec::new(),
        }
    }

    /// The function, to read.
    pub fn function(&self) -> &Function {
        self.f
    }

    /// The context of the pass.
    pub fn context(&self) -> &PassContext {
        self.cx
    }

    /// Makes an op, and answers its first result. If the builder says nothing of results, there is one. An op
    /// of constants alone is evaluated, and its result is a constant, unless that would make the model larger.
    ///
    /// # Errors
    /// As [`PassContext::create_value`]; if a function of the module has the operator's name, and so may be meant. A
    /// rule that hands an error of that kind on does nothing.
    pub fn op(&mut self, op: OpBuilder<'_>) -> Result<ValueId, EditError> {
        let made = self.op_of(op, 1)?;
        if self.f.traits(made).is_ambiguous() {
            let name = self.f.name(made);
            let said = format!("a function of the module has the name `{}`", name);
            return Err(EditError::new(Status::REFUSED, said, Some(made)));
        }
        self.fold(made).map(|values| values[0])
    }

    /// A constant scalar of a dtype; `None` if the dtype has no such number.
    ///
    /// # Errors
    /// As [`Function::add_constant`].
    pub fn scalar(&mut self, dtype: DType, number: f64) -> Result<Option<ValueId>, EditError> {
        let bytes = match number::bytes(dtype, number) {
            Some(bytes) => bytes,
            None => return Ok(None),
        };
        let ty = self.f.add_type(&TypeSpec::shaped(dtype, &[]))?;
        let value = self.f.add_constant(&ConstantSpec::new(ty, &bytes))?;
        self.constants.push(value);
        Ok(Some(value))
    }

    /// A constant int64 tensor of rank 1.
    ///
    /// # Errors
    /// As [`Function::add_ints`].
    pub fn ints(&mut self, ints: &[i64]) -> Result<ValueId, EditError> {
        let value = self.f.add_ints(ints)?;
        self.constants.push(value);
        Ok(value)
    }

    /// The number that all elements of a constant are; `None` if it isn't one, or they differ.
    ///
    /// # Errors
    /// If the constant's bytes can't be read.
    pub fn number(&self, value: ValueId) -> Result<Option<f64>, EditError> {
        number::number_of(self.f, value)
    }

    fn op_of(&mut self, op: OpBuilder<'_>, results: usize) -> Result<OpId, EditError> {
        // In the end it has the locations of all that it comes from.
        let op = op.loc(self.f.loc(self.root));
        let op = self
            .f
            .create_op_of(op, Position::before(self.root), results)?;
        self.made.push(op);
        self.cx.infer(self.f, op)?;
        Ok(op)
    }

    /// Makes an op that is to stay as it is.
    pub(super) fn copy(&mut self, op: OpBuilder<'_>) -> Result<ValueId, EditError> {
        let op = self.op_of(op, 1)?;
        Ok(self.f.result(op, 0))
    }

    /// The results of an op that was just made, or the constants that they are.
    fn fold(&mut self, op: OpId) -> Result<Vec<ValueId>, EditError> {
        let results = self.f.results(op).to_vec();
        let most = match self.most_bytes(op) {
            Some(most) => most,
            None => return Ok(results),
        };
        match self.cx.evaluate(self.f, op, most)? {
            None => Ok(results),
            Some(constants) => {
                self.f.erase_op(op)?;
                self.made.retain(|made| *made != op);
                self.constants.extend(&constants);
                Ok(constants)
            }
        }
    }

    /// The most bytes that the results of an op may have as constants; `None` if it isn't one that is folded.
    fn most_bytes(&self, op: OpId) -> Option<u64> {
        let f = &*self.f;
        let operands: Vec<ValueId> = f
            .operands(op)
            .filter(|operand| !operand.is_none())
            .collect();
        if operands.is_empty() || !f.traits(op).folds() {
            return None;
        }
        let mut most = SMALL;
        for operand in operands {
            let constant = f.constant(operand).and_then(|id| f.constant_record(id))?;
            // The op itself is one of the users, the op that goes another.
            if f.use_count(operand) <= 2 {
                most = most.max(constant.byte_len);
            }
        }
        Some(most)
    }

    /// The ops that were made and weren't folded.
    pub(super) fn made(&self) -> &[OpId] {
        &self.made
    }

    /// Takes back all that was made.
    pub(super) fn take_back(self) -> Result<(), EditError> {
        for op in self.made.iter().rev() {
            self.f.erase_op(*op)?;
        }
        self.finish()
    }

    /// Erases the constants that nobody came to use.
    pub(super) fn finish(self) -> Result<(), EditError> {
        for value in self.constants {
            if self.f.is_live_value(value) {
                self.f.erase_dead(value)?;
            }
        }
        Ok(())
    }

    /// Makes the replacement that a rule's text describes.
    pub(super) fn build(
        &mut self,
        after: &After,
        found: &Match<'_>,
    ) -> Result<Vec<ValueId>, EditError> {
        let mut made: Vec<Vec<ValueId>> = Vec::new();
        for node in &after.nodes {
            let results = self.node(node, found, &made)?;
            made.push(results);
        }
        let mut results = Vec::new();
        for result in &after.results {
            results.extend(self.operand(result, found, &made, DType::NONE)?);
        }
        Ok(results)
    }

    fn node(
        &mut self,
        node: &Node,
        found: &Match<'_>,
        made: &[Vec<ValueId>],
    ) -> Result<Vec<ValueId>, EditError> {
        let dtype = self.dtype_beside(node, found, made);
        let mut operands = Vec::new();
        for operand in &node.operands {
            operands.extend(self.operand(&operand.value, found, made, dtype)?);
        }
        while operands.last().map_or(false, |last| last.is_none()) {
            operands.pop();
        }
        let mut op = OpBuilder::new(&node.operators[0].value).operands(operands);
        if let Some(like) = node.like {
            let own = |name: &str| node.attrs.iter().any(|attr| attr.name.value == name);
            for (name, value) in self.f.attrs(found.ops[like]) {
                if !own(self.f.text(name)) {
                    op = op.attr(name, value.to_value().ok_or(NoMatch)?);
                }
            }
        }
        for NodeAttr { name, value } in &node.attrs {
            match (condition::attr(found, &value.value), &value.value) {
                (Some(value), _) => op = op.attr(&name.value, value),
                // Left out in the pattern, left out here.
                (None, AttrTerm::Bound(at)) if matches!(found.attrs[*at], Some(None)) => {}
                (None, _) => return Err(NoMatch.into()),
            }
        }
        let op = self.op_of(op, node.results.len())?;
        // A model of an older version has no such operator.
        NoMatch::unless(self.f.traits(op).is_defined() && self.cx.check_op(self.f, op).is_ok())?;
        self.fold(op)
    }

    /// The dtype that a number among the operands of an op has: that of the first operand that has one.
    fn dtype_beside(&self, node: &Node, found: &Match<'_>, made: &[Vec<ValueId>]) -> DType {
        let operands = node.operands.iter().map(|operand| &operand.value);
        let dtypes = operands.map(|operand| match operand {
            Operand::Created { node, index } => self.f.dtype(made[*node][*index]),
            operand => self.f.dtype(found.bound(self.f, operand)),
        });
        let mut known = dtypes.filter(|dtype| *dtype != DType::NONE);
        known.next().unwrap_or(DType::NONE)
    }

    fn operand(
        &mut self,
        operand: &Operand,
        found: &Match<'_>,
        made: &[Vec<ValueId>],
        dtype: DType,
    ) -> Result<Vec<ValueId>, EditError> {
        Ok(match operand {
            Operand::List(at) => found.lists[*at].clone(),
            Operand::Created { node, index } => vec![made[*node][*index]],
            Operand::Number(number) => vec![self.scalar(dtype, number.value)?.ok_or(NoMatch)?],
            Operand::Ints(ints) => vec![self.ints(ints)?],
            // One that is left out is none of the pattern's.
            operand => vec![found.bound(self.f, operand)],
        })
    }
}
