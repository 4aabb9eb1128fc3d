//! Splats: large values whose elements are all equal, which stay compact.
//!
//! A chain of ops on splats becomes one `onnx.ConstantOfShape`, whatever its size. An elementwise op is evaluated for
//! one element, and an op that only moves elements keeps the element. An op that broadcasts its operands takes a single
//! element instead of a splat if another operand determines the shape. No ops are added, and no splat is expanded.

use passdock_plugin_api::Evaluated;
use passdock_plugin_api::prelude::*;
use passdock_plugin_api::rewrite::broadcasts_to;

use super::budget::static_len;
use super::checker::may_fold;
use super::forward::Forward;
use super::typed;
use crate::shared::accept;
use crate::shared::operators::is_operator;
use crate::shared::read::{add_tensor, is_one, like};

const CONSTANT_OF_SHAPE: &str = "onnx.ConstantOfShape";
/// The opset version that introduced the operator.
const SINCE: i64 = 9;

/// Operators whose results consist only of elements of operand 0, if these are all equal.
const MOVES: &[&str] = &[
    "onnx.DepthToSpace",
    "onnx.Expand",
    "onnx.Flatten",
    "onnx.Gather",
    "onnx.Identity",
    "onnx.Reshape",
    "onnx.Slice",
    "onnx.SpaceToDepth",
    "onnx.Squeeze",
    "onnx.Tile",
    "onnx.Transpose",
    "onnx.Unsqueeze",
];

impl Forward<'_> {
    /// Replaces an op whose result is a large splat with a `ConstantOfShape`. Returns the op that computes the result
    /// now.
    pub(super) fn as_splat(&mut self, f: &mut Function, op: OpId) -> Result<OpId, EditError> {
        if !self.may_be_splat(f, op) {
            return Ok(op);
        }
        let result = f.result(op, 0);
        let (name, traits) = (f.name(op), f.traits(op));
        if name == CONSTANT_OF_SHAPE {
            let element = match f.attr(op, "value") {
                None => Some(0_f32.to_le_bytes().to_vec()),
                Some(Attr::Tensor(id)) => f.constant_bytes(id).ok().map(<[u8]>::to_vec),
                Some(_) => None,
            };
            self.elements
                .extend(element.map(|element| (result, element)));
            return Ok(op);
        }
        let element = if MOVES.contains(&name) {
            f.operand(op, 0).and_then(|value| self.element(f, value))
        } else if traits.is_elementwise() && may_fold(f, op, traits) {
            self.element_of_all(f, op)?
        } else {
            None
        };
        let Some(element) = element else {
            return Ok(op);
        };
        // An Expand of one element is as small as a ConstantOfShape.
        let is_first = |value| !self.elements.contains_key(&value);
        if f.name(op) == "onnx.Expand" && f.operand(op, 0).is_some_and(is_first) {
            self.elements.insert(result, element);
            return Ok(op);
        }
        self.make(f, op, element)
    }

    fn may_be_splat(&self, f: &Function, op: OpId) -> bool {
        let &[result] = f.results(op) else {
            return false;
        };
        let has_bytes = |dtype: DType| dtype != DType::STRING && dtype.bits().is_multiple_of(8);
        f.opset("").is_some_and(|version| version >= SINCE)
            && static_len(f, result).is_some_and(|len| len > self.large)
            && f.dtype(result).is_some_and(has_bytes)
            && is_operator(self.cx, CONSTANT_OF_SHAPE)
            && f.traits(op).is_defined()
    }

    /// Returns the element that a value consists of, if it is a splat or has a single element.
    fn element(&self, f: &Function, value: ValueId) -> Option<Vec<u8>> {
        if let Some(element) = self.elements.get(&value) {
            return Some(element.clone());
        }
        let constant = self.constant(f, value).filter(|&v| is_one(f, v))?;
        f.constant_data(constant).ok()?.map(<[u8]>::to_vec)
    }

    /// Returns the element that the result of an elementwise op consists of, if all operands are splats.
    fn element_of_all(&mut self, f: &mut Function, op: OpId) -> Result<Option<Vec<u8>>, EditError> {
        let mut elements = Vec::with_capacity(f.operand_count(op));
        for (index, value) in f.operands(op).enumerate() {
            let placeholder = typed::element(f, op, index);
            let element = placeholder.or_else(|| self.element(f, value));
            let Some(element) = f.dtype(value).zip(element) else {
                return Ok(None);
            };
            elements.push(element);
        }
        let Ok(one) = like(f, op, &[]) else {
            return Ok(None);
        };
        let mut singles = Vec::with_capacity(elements.len());
        for (dtype, element) in elements {
            singles.push(self.single(f, dtype, &element)?);
        }
        let one = one.operands(singles.iter().copied()).untyped_results(1);
        let one = f.create_op(one, Position::before(op))?;
        let found = match self.cx.evaluate_with(f, one, &singles, 64)? {
            Evaluated::Constants(values) => {
                self.left
                    .extend(values.iter().filter_map(|&v| f.constant(v)));
                let from_type = |&&value: &&ValueId| f.dtype(value) == f.dtype(f.result(op, 0));
                let value = values.first().filter(from_type);
                value.and_then(|&value| Some(f.constant_data(value).ok()??.to_vec()))
            }
            _ => None,
        };
        f.erase_op(one)?;
        Ok(found)
    }

    /// Returns a constant of one element, which is created once per type and bytes.
    fn single(
        &mut self,
        f: &mut Function,
        dtype: DType,
        element: &[u8],
    ) -> Result<ValueId, EditError> {
        let key = (dtype.0, element.to_vec());
        if let Some(&known) = self.singles.get(&key) {
            return Ok(known);
        }
        let value = add_tensor(f, dtype, &[], element)?;
        self.left.extend(f.constant(value));
        self.singles.insert(key, value);
        Ok(value)
    }

    /// Replaces an op with a `ConstantOfShape`.
    fn make(&mut self, f: &mut Function, op: OpId, element: Vec<u8>) -> Result<OpId, EditError> {
        let result = f.result(op, 0);
        let ty = f.type_id(result);
        let (Some(dtype), Some(sizes)) = (f.dtype(result), f.shape(result)) else {
            return Ok(op);
        };
        self.left
            .extend(f.operands(op).filter_map(|v| f.constant(v)));
        let shape = f.add_ints(&sizes)?;
        let value = add_tensor(f, dtype, &[1], &element)?;
        let Some(value) = f.constant(value) else {
            return Ok(op);
        };
        self.left.push(value);
        let created = OpBuilder::new(CONSTANT_OF_SHAPE)
            .operand(shape)
            .attr("value", AttrValue::Tensor(value))
            .result(ty)
            .loc(f.loc(op));
        let useful = self.useful.get(op.index());
        let created = f.replace_op(op, created)?;
        self.useful.set(created.index(), useful);
        self.elements.insert(f.result(created, 0), element);
        Ok(created)
    }

    /// Replaces each large splat operand that the op broadcasts with a single element.
    pub(super) fn take_one(&mut self, f: &mut Function, op: OpId) -> Result<(), EditError> {
        if self.elements.is_empty() || f.operand_count(op) < 2 || !f.traits(op).is_elementwise() {
            return Ok(());
        }
        // The result of these operators has the shape of the first operand.
        let from = usize::from(matches!(f.name(op), "onnx.PRelu" | "onnx.CastLike"));
        for index in from..f.operand_count(op) {
            let Some(value) = f.operand(op, index) else {
                continue;
            };
            let element = self.elements.get(&value).cloned();
            let Some((dtype, element)) = f.dtype(value).zip(element) else {
                continue;
            };
            let is_shape = |other: usize| {
                let other = f.operand(op, other);
                other.is_some_and(|other| {
                    other != value && broadcasts_to(f, value, other) == Some(true)
                })
            };
            if !(0..f.operand_count(op)).any(is_shape) {
                continue;
            }
            let one = self.single(f, dtype, &element)?;
            let mut operands: Vec<ValueId> = f.operands(op).collect();
            operands[index] = one;
            if accept::rejection_reason(f, self.cx, op, &operands).is_some() {
                continue;
            }
            f.set_operand(op, index, one)?;
            if let Some(producer) = f.defining_op(value)
                && f.use_count(value) == 0
                && self.known(value).is_none()
            {
                self.left
                    .extend(f.operands(producer).filter_map(|v| f.constant(v)));
                f.erase_op(producer)?;
            }
        }
        Ok(())
    }
}
