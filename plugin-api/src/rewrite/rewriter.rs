//! [`Rewriter`]: creates the replacement of a match.

use passdock_abi::{DType, OpId, Position, Status, ValueId};

use super::condition;
use super::matching::Match;
use super::number;
use super::rules::NoMatch;
use crate::data::{AttrValue, EditError};
use crate::ir::{ConstantSpec, Function, OpBuilder, TypeSpec};
use crate::language::{After, AttrTerm, Node, NodeAttr, Operand};
use crate::pass::PassContext;

/// The maximum size of a folded constant, in bytes, whose operands have other users.
const SMALL: u64 = 1 << 12;

/// Creates the replacement of a match, in a rule's code. New ops are inserted before the root, get its location, and
/// are folded to constants if all operands are constant.
///
/// # Examples
///
/// A rule with code gets a `Rewriter` and a [`Match`]:
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// fn mul_to_add(rw: &mut Rewriter, found: &Match) -> Rewritten {
///     let x = found.value(rw.function(), "x");
///     let y = rw.op(OpBuilder::new("onnx.Add").operands([x, x]))?;
///     Ok(Some(vec![y]))
/// }
///
/// static RULES: Rules = rules! {
///     rule double { onnx.Mul(%x, 2.0) } => mul_to_add;
/// };
/// assert_eq!(RULES.names().unwrap(), ["double"]);
/// ```
pub struct Rewriter<'r> {
    pub(super) f: &'r mut Function,
    pub(super) cx: &'r PassContext,
    /// The op that is replaced.
    root: OpId,
    created: Vec<OpId>,
    /// New constants, some of which may remain unused.
    constants: Vec<ValueId>,
}

impl<'r> Rewriter<'r> {
    pub(super) fn new(
        f: &'r mut Function,
        cx: &'r PassContext,
        matched: &Match<'_>,
    ) -> Rewriter<'r> {
        Rewriter {
            f,
            cx,
            root: matched.root(),
            created: Vec::new(),
            constants: Vec::new(),
        }
    }

    /// Returns the function, to read.
    pub fn function(&self) -> &Function {
        self.f
    }

    /// Returns the context of the pass.
    pub fn context(&self) -> &PassContext {
        self.cx
    }

    /// Creates an op, and returns its first result. The default is one result. An op whose operands are constant is
    /// evaluated and replaced by a constant, unless that would make the model larger.
    ///
    /// # Errors
    /// See [`Rewriter::op_results`].
    pub fn op(&mut self, op: OpBuilder<'_>) -> Result<ValueId, EditError> {
        self.op_results(op).map(|results| results[0])
    }

    /// Creates an op like [`Rewriter::op`], and returns all its results, or the constants that replace them.
    ///
    /// # Errors
    /// See [`PassContext::create_value`]; also if a function of the module has the operator's name, so that the op
    /// would be ambiguous. A rule that returns such an error rewrites nothing.
    pub fn op_results(&mut self, op: OpBuilder<'_>) -> Result<Vec<ValueId>, EditError> {
        let created = self.op_of(op, 1)?;
        if self.f.traits(created).is_ambiguous() {
            let name = self.f.name(created);
            let message = format!("duplicate function `{}`", name);
            return Err(EditError::new(Status::REJECTED, message, Some(created)));
        }
        self.fold(created)
    }

    /// Creates a constant scalar of a dtype; `None` if the dtype can't represent the number.
    ///
    /// # Errors
    /// See [`Function::add_constant`].
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

    /// Creates a constant int64 tensor of rank 1.
    ///
    /// # Errors
    /// See [`Function::add_ints`].
    pub fn ints(&mut self, ints: &[i64]) -> Result<ValueId, EditError> {
        let value = self.f.add_ints(ints)?;
        self.constants.push(value);
        Ok(value)
    }

    /// Returns the number that all elements of a constant equal; `None` if it isn't a constant, or they differ.
    ///
    /// # Errors
    /// If the constant's bytes can't be read.
    pub fn number(&self, value: ValueId) -> Result<Option<f64>, EditError> {
        number::number_of(self.f, value)
    }

    fn op_of(&mut self, op: OpBuilder<'_>, results: usize) -> Result<OpId, EditError> {
        // The driver sets the locations of all replaced ops at the end.
        let op = op.loc(self.f.loc(self.root));
        let op = self
            .f
            .create_op_of(op, Position::before(self.root), results)?;
        self.created.push(op);
        self.cx.infer(self.f, op)?;
        Ok(op)
    }

    /// Creates an op that isn't folded.
    pub(super) fn copy(&mut self, op: OpBuilder<'_>) -> Result<ValueId, EditError> {
        let op = self.op_of(op, 1)?;
        Ok(self.f.result(op, 0))
    }

    /// Returns the results of a new op, or the constants that replace them.
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
                self.created.retain(|created| *created != op);
                self.constants.extend(&constants);
                Ok(constants)
            }
        }
    }

    /// Returns the maximum size of the results of an op as constants; `None` if it can't be folded.
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
            // The users are the op itself and the replaced op.
            if f.use_count(operand) <= 2 {
                most = most.max(constant.byte_len);
            }
        }
        Some(most)
    }

    /// Returns the new ops that weren't folded.
    pub(super) fn created(&self) -> &[OpId] {
        &self.created
    }

    /// Erases everything that was created.
    pub(super) fn take_back(self) -> Result<(), EditError> {
        for op in self.created.iter().rev() {
            self.f.erase_op(*op)?;
        }
        self.finish()
    }

    /// Erases new constants without users.
    pub(super) fn finish(self) -> Result<(), EditError> {
        for value in self.constants {
            if self.f.is_live_value(value) {
                self.f.erase_dead(value)?;
            }
        }
        Ok(())
    }

    /// Creates the replacement that a rule's text describes.
    pub(super) fn build(
        &mut self,
        after: &After,
        matched: &Match<'_>,
    ) -> Result<Vec<ValueId>, EditError> {
        let mut created: Vec<Vec<ValueId>> = Vec::new();
        for node in &after.nodes {
            let results = self.node(node, matched, &created)?;
            created.push(results);
        }
        let mut results = Vec::new();
        for result in &after.results {
            results.extend(self.operand(result, matched, &created, None)?);
        }
        Ok(results)
    }

    fn node(
        &mut self,
        node: &Node,
        matched: &Match<'_>,
        created: &[Vec<ValueId>],
    ) -> Result<Vec<ValueId>, EditError> {
        let dtype = self.infer_dtype(node, matched, created);
        let mut operands = Vec::new();
        for operand in &node.operands {
            operands.extend(self.operand(&operand.value, matched, created, dtype)?);
        }
        while operands.last().map_or(false, |last| last.is_none()) {
            operands.pop();
        }
        let mut op = OpBuilder::new(&node.operators[0].value).operands(operands);
        let like = node.like.map(|like| matched.nodes[like]);
        if let Some(like) = like.filter(|like| *like != OpId::NONE) {
            let own = |name: &str| node.attrs.iter().any(|attr| attr.name.value == name);
            for (name, value) in self.f.attrs(like) {
                if !own(self.f.text(name)) {
                    op = op.attr(name, value.to_value().ok_or(NoMatch)?);
                }
            }
        }
        for NodeAttr { name, value } in &node.attrs {
            match (condition::attr(matched, &value.value), &value.value) {
                (Some(value), _) => op = op.attr(&name.value, value),
                // Omitted in the pattern, or of an alternative that isn't chosen, so omitted here.
                (None, AttrTerm::Bound(_)) => {}
                (None, _) => return Err(NoMatch.into()),
            }
        }
        let op = self.op_of(op, node.results.len())?;
        // The function may import an older version without this operator.
        NoMatch::unless(self.f.traits(op).is_defined() && self.cx.check_op(self.f, op).is_ok())?;
        self.fold(op)
    }

    /// Returns the dtype of a number among the operands of an op: that of the first operand with a dtype.
    fn infer_dtype(
        &self,
        node: &Node,
        matched: &Match<'_>,
        created: &[Vec<ValueId>],
    ) -> Option<DType> {
        let operands = node.operands.iter().map(|operand| &operand.value);
        let mut dtypes = operands.map(|operand| match operand {
            Operand::Created { node, index } => self.f.dtype(created[*node][*index]),
            operand => self.f.dtype(matched.bound(self.f, operand)),
        });
        dtypes.find_map(|dtype| dtype)
    }

    fn operand(
        &mut self,
        operand: &Operand,
        matched: &Match<'_>,
        created: &[Vec<ValueId>],
        dtype: Option<DType>,
    ) -> Result<Vec<ValueId>, EditError> {
        Ok(match operand {
            Operand::List(at) => matched.lists[*at].clone(),
            Operand::Created { node, index } => vec![created[*node][*index]],
            Operand::Number(number) => {
                let dtype = dtype.ok_or(NoMatch)?;
                vec![self.scalar(dtype, number.value)?.ok_or(NoMatch)?]
            }
            Operand::Splat(at) => match &matched.attrs[*at] {
                Some(Some(attr)) => {
                    let number = number::number_of_attr(attr).ok_or(NoMatch)?;
                    vec![self.scalar(dtype.ok_or(NoMatch)?, number)?.ok_or(NoMatch)?]
                }
                _ => vec![ValueId::NONE],
            },
            Operand::Elements(term) => match (condition::attr(matched, term), term) {
                (Some(AttrValue::Ints(ints)), _) => vec![self.ints(&ints)?],
                (None, AttrTerm::Bound(_)) => vec![ValueId::NONE],
                _ => return Err(NoMatch.into()),
            },
            // An omitted operand isn't bound.
            operand => vec![matched.bound(self.f, operand)],
        })
    }
}
