//! Properties of op definitions: their functions agree with each other, and with the traits that they declare.

use std::collections::HashSet;

use passdock_abi::{Dim, TypeKind};
use passdock_core::boundary::IS_INVALID;
use passdock_core::sdk::{
    ConstantSpec, EditError, Function, OpId, PassContext, Position, Type, TypeSpec, ValueId,
};

use super::ops::MAX_BYTES;
use super::tensor::Tensor;

/// The constants that an op evaluates to.
type Results = Vec<ValueId>;

/// The properties of one op, whose types have been inferred.
pub(super) struct Properties<'q> {
    f: &'q mut Function,
    cx: &'q PassContext,
    op: OpId,
    operands: Vec<ValueId>,
    /// The results of `evaluate`.
    results: Option<Results>,
    /// Properties that don't hold, and the values that show it.
    pub(super) violations: Vec<(String, String)>,
}

impl<'q> Properties<'q> {
    pub(super) fn new(f: &'q mut Function, cx: &'q PassContext, op: OpId) -> Properties<'q> {
        Properties {
            operands: f.operands(op).collect(),
            f,
            cx,
            op,
            results: None,
            violations: Vec::new(),
        }
    }

    /// Checks that `evaluate` gives the elements that `infer` found, the same results again, and results that agree
    /// with the traits.
    pub(super) fn check_evaluation(&mut self) {
        let operands = self.operands.clone();
        let known: Vec<Option<Vec<Dim>>> = self.per_result(Function::known_dims);
        self.results = self.evaluate(&operands, false);
        let Some(results) = self.results.clone() else {
            return;
        };
        self.check_known(&known, &results);
        let traits = self.f.traits(self.op);
        if traits.is_random() || traits.is_stateful() {
            self.results = None;
            return;
        }
        let again = self.evaluate(&operands, false);
        let violation = "`evaluate` gives other results when it is called again";
        self.compare(violation, again, true);
        if let (Some(&result), Some(&first)) = (results.first(), operands.first()) {
            self.check_traits(result, first);
        }
    }

    /// Checks that the results agree with the traits.
    fn check_traits(&mut self, result: ValueId, first: ValueId) {
        let traits = self.f.traits(self.op);
        if traits.is_commutative() {
            let mut swapped = self.operands.clone();
            swapped.swap(0, self.operands.len() - 1);
            let other = self.evaluate(&swapped, true);
            let violation = "COMMUTATIVE, but `evaluate` gives other results for swapped operands";
            self.compare(violation, other, false);
        }
        if traits.is_identity() {
            let violation = "IDENTITY, but the first result of `evaluate` isn't the first operand";
            self.compare(violation, Some(vec![first]), true);
        }
        if traits.is_idempotent() && self.f.type_id(first) == self.f.type_id(result) {
            let mut operands = self.operands.clone();
            operands[0] = result;
            let again = self.evaluate(&operands, true);
            let violation = "IDEMPOTENT, but `evaluate` gives another result for its result";
            self.compare(violation, again, false);
        }
        if traits.is_shape_only() {
            self.check_shape_only();
        }
        if traits.is_elementwise() {
            self.check_elementwise(result);
        }
    }

    /// Checks a body of the op: its types are those of `infer`, and its values those of `evaluate`.
    pub(super) fn check_body(&mut self) -> Result<(), EditError> {
        let region = self.f.parent_region(self.op);
        let before: HashSet<OpId> = self.f.ops_in(region).collect();
        let Some(mut values) = self.cx.decompose(self.f, self.op)? else {
            return Ok(());
        };
        let body = self.f.ops_in(region).filter(|op| !before.contains(op));
        let body: Vec<OpId> = body.collect();
        let declared = self.wrong_type(&values);
        // The types of the values are inferred again, without those of the op's results.
        for &value in &values {
            let op = self.f.defining_op(value);
            if op.is_some_and(|op| body.contains(&op)) {
                self.reset_type(value);
            }
        }
        // The op is invalid, although its definition accepts it, if an op of the body is.
        if body.iter().any(|&op| self.cx.infer(self.f, op).is_err()) {
            return Ok(());
        }
        let wrong = declared.or_else(|| self.wrong_type(&values));
        self.violations.extend(wrong);
        if self.results.is_some() && self.evaluate_body(&body, &mut values) {
            self.compare(
                "`evaluate` contradicts the body of `decompose`",
                Some(values),
                false,
            );
        }
        Ok(())
    }

    /// Replaces all ops of a body with constants. Returns `false` if one can't be evaluated.
    fn evaluate_body(&mut self, body: &[OpId], values: &mut [ValueId]) -> bool {
        for &op in body {
            let results = self.f.results(op).to_vec();
            let Ok(Some(constants)) = self.cx.evaluate(self.f, op, MAX_BYTES) else {
                return false;
            };
            for value in values.iter_mut() {
                if let Some(at) = results.iter().position(|result| result == value) {
                    *value = constants[at];
                }
            }
            if self.f.replace_op_with(op, &constants).is_err() {
                return false;
            }
        }
        true
    }

    /// Compares the types of the op's results with those of the values that replace them. Their shapes are compared
    /// only if the operands have the same type: `infer` may accept operands whose shapes don't fit.
    fn wrong_type(&self, values: &[ValueId]) -> Option<(String, String)> {
        let present = self
            .operands
            .iter()
            .filter(|operand| operand.option().is_some());
        let operands: HashSet<_> = present.map(|&operand| self.f.type_id(operand)).collect();
        let with_shapes = operands.len() <= 1;
        let pairs = self.f.results(self.op).iter().zip(values).enumerate();
        let mut types = pairs
            .filter(|(_, (_, value))| value.option().is_some())
            .map(|(at, (&result, &value))| (at, self.f.type_of(result), self.f.type_of(value)));
        let (at, inferred, found) =
            types.find(|(_, inferred, found)| contradict(inferred, found, with_shapes))?;
        let violation = "`infer` contradicts the body of `decompose`".to_owned();
        Some((
            violation,
            format!(": result {at} is {inferred}, then {found}"),
        ))
    }

    /// Compares the elements that `infer` found with those of `evaluate`.
    fn check_known(&mut self, known: &[Option<Vec<Dim>>], results: &[ValueId]) {
        for (at, (dims, &result)) in known.iter().zip(results).enumerate() {
            let numbers = dims.iter().flatten().map(|dim| dim.as_const());
            let Some(numbers): Option<Vec<i64>> = numbers.collect() else {
                continue;
            };
            let evaluated = self.f.constant_ints(result).ok().flatten();
            if let (Some(_), Some(evaluated)) = (dims, evaluated)
                && evaluated != numbers
            {
                let values = format!(": result {at} is {numbers:?}, then {evaluated:?}");
                let violation = "`infer` contradicts `evaluate` about elements".to_owned();
                self.violations.push((violation, values));
            }
        }
    }

    /// Evaluates the op on operands of the same types whose elements are all 1.
    fn check_shape_only(&mut self) {
        let operands = self.operands.clone();
        let ones = operands.iter().map(|&operand| {
            let ones = Tensor::read(self.f, operand).and_then(|tensor| tensor.ones());
            ones.map_or(Some(operand), |ones| self.constant(&ones))
        });
        let Some(ones) = ones.collect::<Option<Vec<ValueId>>>() else {
            return;
        };
        let other = self.evaluate(&ones, true);
        let violation =
            "SHAPE_ONLY, but `evaluate` gives other results if all elements of the operands are 1";
        self.compare(violation, other, false);
    }

    /// Evaluates the op on single elements of the operands.
    fn check_elementwise(&mut self, result: ValueId) {
        let Some(whole) = Tensor::read(self.f, result) else {
            return;
        };
        let present = self
            .operands
            .iter()
            .filter(|operand| operand.option().is_some());
        let operands = present.map(|&operand| Tensor::read(self.f, operand));
        let Some(operands): Option<Vec<Tensor>> = operands.collect() else {
            return;
        };
        if let Some(first) = operands.first()
            && operands.iter().all(|operand| operand.shape == first.shape)
            && first.shape != whole.shape
        {
            let (shape, found) = (&first.shape, &whole.shape);
            let violation =
                "ELEMENTWISE, but `evaluate` gives a result of another shape than the operands'";
            let values = format!(": {found:?} for operands of shape {shape:?}");
            self.violations.push((violation.to_owned(), values));
            return;
        }
        let fits = |operand: &Tensor| operand.count() == 1 || operand.shape == whole.shape;
        let count = whole.count();
        if count < 2 || !operands.iter().all(fits) {
            return;
        }
        for at in [count / 2, count - 1] {
            self.check_element(&whole, at);
        }
    }

    fn check_element(&mut self, whole: &Tensor, at: usize) {
        let operands = self.operands.clone();
        let elements = operands
            .iter()
            .map(|&operand| match Tensor::read(self.f, operand) {
                Some(tensor) if tensor.count() > 1 => self.constant(&tensor.element(at)?),
                _ => Some(operand),
            });
        let Some(elements) = elements.collect::<Option<Vec<ValueId>>>() else {
            return;
        };
        let Some(results) = self.evaluate(&elements, true) else {
            return;
        };
        let (Some(expected), Some(found)) = (whole.element(at), Tensor::read(self.f, results[0]))
        else {
            return;
        };
        if found.count() != 1 || found.differs(&expected) {
            let violation = "ELEMENTWISE, but `evaluate` gives another result for a single element of the operands";
            let (whole, found) = (whole.text(), found.text());
            let values = format!(": {whole}, then {found} for element {at}");
            self.violations.push((violation.to_owned(), values));
        }
    }

    /// Reports a difference between the results of `evaluate` and other results.
    fn compare(&mut self, violation: &str, other: Option<Results>, exactly: bool) {
        let (Some(results), Some(other)) = (&self.results, other) else {
            return;
        };
        for (&result, &other) in results.iter().zip(&other) {
            let tensors = (Tensor::read(self.f, result), Tensor::read(self.f, other));
            let (Some(result), Some(other)) = tensors else {
                continue;
            };
            let same = match exactly {
                true => result == other,
                false => !result.differs(&other),
            };
            if !same {
                let values = format!(": {}, then {}", result.text(), other.text());
                self.violations.push((violation.to_owned(), values));
                return;
            }
        }
    }

    /// Evaluates a copy of the op with other operands. `infer` has to accept new ones.
    fn evaluate(&mut self, operands: &[ValueId], are_new: bool) -> Option<Results> {
        let copy = self.copy(operands).ok()?;
        let mut evaluated = Ok(None);
        if are_new {
            evaluated = self.cx.infer(self.f, copy).map(|()| None);
        }
        if evaluated.is_ok() {
            evaluated = self.cx.evaluate(self.f, copy, MAX_BYTES);
        }
        _ = self.f.erase_op(copy);
        evaluated.unwrap_or_else(|error| {
            if !error.message.contains(IS_INVALID) {
                self.violations.push((error.message, String::new()));
            }
            None
        })
    }

    /// Copies the op, without the types of its results.
    fn copy(&mut self, operands: &[ValueId]) -> Result<OpId, EditError> {
        let results = self
            .f
            .clone_ops(&[self.op], Position::before(self.op), &[])?;
        let copy = results
            .first()
            .and_then(|&result| self.f.defining_op(result));
        let copy = copy.ok_or_else(|| EditError::failed("the op has no results"))?;
        for (at, (&new, old)) in operands.iter().zip(&self.operands).enumerate() {
            if new != *old {
                self.f.set_operand(copy, at, new)?;
            }
        }
        for result in results {
            self.reset_type(result);
        }
        Ok(copy)
    }

    fn reset_type(&mut self, value: ValueId) {
        let unknown = self.f.add_type(&TypeSpec::unknown());
        _ = unknown.and_then(|unknown| self.f.set_type(value, unknown));
    }

    fn constant(&mut self, tensor: &Tensor) -> Option<ValueId> {
        let ty = TypeSpec::shaped(tensor.dtype, &tensor.shape);
        let ty = self.f.add_type(&ty).ok()?;
        self.f
            .add_constant(&ConstantSpec::new(ty, &tensor.bytes))
            .ok()
    }

    fn per_result<T>(&self, get: impl Fn(&Function, ValueId) -> T) -> Vec<T> {
        let results = self.f.results(self.op).iter();
        results.map(|&result| get(self.f, result)).collect()
    }
}

/// Whether no value has both types.
fn contradict(one: &Type<'_>, other: &Type<'_>, with_shapes: bool) -> bool {
    let kinds = [one.kind(), other.kind()];
    if kinds.contains(&TypeKind::UNKNOWN) {
        return false;
    }
    let dtypes = [one.dtype(), other.dtype()];
    if kinds[0] != kinds[1] || (dtypes[0] != dtypes[1] && dtypes.iter().all(Option::is_some)) {
        return true;
    }
    let (Some(one), Some(other)) = (one.dims(), other.dims()) else {
        return false;
    };
    let mut pairs = one.clone().zip(other.clone());
    let differ = |(one, other): (Dim, Dim)| {
        let sizes = (one.as_const(), other.as_const());
        matches!(sizes, (Some(one), Some(other)) if one != other)
    };
    with_shapes && (one.count() != other.count() || pairs.any(differ))
}
