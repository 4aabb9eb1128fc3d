//! The callbacks of the op definitions. All operators share one type rule, one evaluation and one decomposition, which
//! look up the operator by the op's name and version.

use std::borrow::Cow;

use passdock_plugin_api as api;
use passdock_plugin_api::{DType, OpCall, OpError, OpResult};

use crate::attributes;
use crate::decompose::render;
use crate::eval::{Attrs, Call, EvalAttr, NotFolded, Tensor, name_of};
use crate::infer::{
    Infer, Inferred, Moves, ResultFacts, Stop, Ty, as_consts, carry, compute_known, integer_tensor,
};
use crate::layout::{self, LayoutRequest};
use crate::operands;
use crate::ops::{self, Operator};

/// The type rule of all operators.
pub(crate) fn infer(host: &OpCall) -> OpResult {
    let Ok((operator, call)) = row(host) else {
        return Ok(());
    };
    let (facts, result) = facts(host, operator, &call);
    for (index, facts) in facts.into_iter().enumerate() {
        if let Some(ty) = facts.ty {
            host.set_result_type(index, &ty.spec())?;
        }
        if let Some(values) = facts.values {
            // A host may reject values of larger tensors. That isn't an error.
            let _ = host.set_result_dims(index, &values);
        }
    }
    // Facts inferred before the error are still valid.
    match result {
        Err(Stop::InvalidOp(reason)) => Err(OpError::new(reason)),
        _ => Ok(()),
    }
}

/// The evaluation of all operators that have one.
pub(crate) fn evaluate(host: &OpCall) -> OpResult {
    let (operator, call) = row(host)?;
    let facts = match facts(host, operator, &call) {
        (facts, Ok(())) => facts,
        _ => Vec::new(),
    };
    let Some(inputs) = operands(host)? else {
        // Its elements may follow from types alone.
        return from_values(host, &facts);
    };
    let (inputs, outputs) = (&inputs[..], host.result_count());
    let call = Call {
        inputs,
        outputs,
        ..call
    };
    fold(host, operator, &call, &facts)
}

/// The decomposition of all operators that have one.
pub(crate) fn decompose(host: &OpCall) -> OpResult {
    let (operator, call) = checked_row(host)?;
    let Some(body) = operator.body else {
        return Err(OpError::new("definition has no body"));
    };
    let text = render(operator, body, &Infer::new(host, &call))?;
    Ok(host.set_body(&text)?)
}

/// The layout rule of all operators that have one.
pub(crate) fn layout(host: &OpCall) -> OpResult {
    let (operator, call) = checked_row(host)?;
    let Some(rule) = layout::rule(operator) else {
        return Err(OpError::new("definition has no layout rule"));
    };
    let op = Infer::new(host, &call);
    let requested = (0..host.operand_count()).map(|index| host.requested_layout(index));
    let requested = requested.map(|text| text.map(str::to_owned)).collect();
    let laid = rule(&LayoutRequest::new(&op, requested))?;
    for (index, layout) in laid.operands.iter().enumerate() {
        if let Some(layout) = layout {
            host.set_operand_layout(index, &layout.to_string())?;
        }
    }
    for (index, layout) in laid.results.iter().enumerate() {
        if let Some(layout) = layout {
            host.set_result_layout(index, &layout.to_string())?;
        }
    }
    Ok(host.set_body(&laid.text()?)?)
}

impl From<Stop> for OpError {
    fn from(stop: Stop) -> OpError {
        match stop {
            Stop::Unknown => OpError::new("a required type, shape or attribute is unknown"),
            Stop::InvalidOp(reason) => OpError::new(reason),
        }
    }
}

/// Finds the row of an op. Returns it with a call of the op's name, version and attributes, without operands.
fn row(host: &OpCall) -> Result<(&'static Operator, Call<'_>), OpError> {
    let name = host.name(host.op());
    let domain = match name.rsplit_once('.') {
        Some(("onnx", _)) => "",
        Some((domain, _)) => domain,
        None => return Err(OpError::new("operator name has no domain")),
    };
    let Some(version) = host.opset(domain) else {
        return Err(OpError::new(format!("no opset for domain `{domain}`")));
    };
    let Some(operator) = ops::find(name, version) else {
        return Err(OpError::new(format!("no definition in opset {version}")));
    };
    let call = Call {
        name: operator.name,
        version,
        inputs: &[],
        attrs: host,
        attr_defs: operator.attrs.unwrap_or_default(),
        outputs: 0,
        max_bytes: u64::MAX,
    };
    Ok((operator, call))
}

/// Like [`row`], and rejects ops with unknown attributes or a wrong number of operands.
fn checked_row(host: &OpCall) -> Result<(&'static Operator, Call<'_>), OpError> {
    let (operator, call) = row(host)?;
    operator.check(&call)?;
    operator.check_operands(host.operand_count())?;
    Ok((operator, call))
}

/// Runs the operator's rule. Returns the facts of the results, and why the rule stopped early.
fn facts(host: &OpCall, operator: &Operator, call: &Call) -> (Vec<ResultFacts>, Inferred) {
    let Some(rule) = operator.rule else {
        return (Vec::new(), Err(Stop::Unknown));
    };
    let op = Infer::new(host, call);
    let ruled = match operator.evaluate {
        None => rule(&op),
        Some(evaluate) => {
            let known = operator.check(call).map_err(Stop::from);
            known.and_then(|()| rule(&op)).map(|()| {
                match operator.moves {
                    Moves::Nothing => compute_known(&op, evaluate),
                    moved => carry(&op, moved, evaluate),
                };
            })
        }
    };
    let result = attributes::check(operator, &op);
    let result = result.and_then(|()| operands::check(&op)).and(ruled);
    (op.finish(), result)
}

/// Returns the operands as tensors if all are constant.
fn operands(host: &OpCall) -> Result<Option<Vec<Option<Tensor<'_>>>>, OpError> {
    let mut tensors = Vec::with_capacity(host.operand_count());
    for index in 0..host.operand_count() {
        if host.operand(index).is_none() {
            tensors.push(None);
            continue;
        }
        let Some(bytes) = host.operand_data(index)? else {
            return Ok(None);
        };
        let ty = host.operand_type(index);
        let (Some(dtype), Some(shape)) = (ty.dtype(), ty.shape()) else {
            return Ok(None);
        };
        tensors.push(Some(tensor(dtype, &shape, bytes)?));
    }
    Ok(Some(tensors))
}

fn tensor<'a>(dtype: DType, shape: &[i64], bytes: &'a [u8]) -> Result<Tensor<'a>, NotFolded> {
    let dims: Result<Vec<usize>, _> = shape.iter().map(|&dim| usize::try_from(dim)).collect();
    let dims = dims.map_err(|_| NotFolded::new("constant has a negative dim"))?;
    Tensor::from_bytes(dtype, dims, bytes)
}

/// Evaluates the op into the host's buffers. If the type rule infers a result's size, its buffer is allocated first, so
/// that a size above the host's limit fails before the evaluation.
fn fold(host: &OpCall, operator: &Operator, call: &Call, facts: &[ResultFacts]) -> OpResult {
    operator.check(call)?;
    operator.check_operands(call.inputs.len())?;
    let Some(evaluate) = operator.evaluate else {
        return Err(OpError::new("definition has no evaluation"));
    };
    let room = |index, dtype, shape: &[i64], length| {
        host.allocate_result(index, &api::TypeSpec::shaped(dtype, shape), length)
    };
    let mut buffers = Vec::new();
    for index in 0..host.result_count() {
        buffers.push(match facts.get(index).and_then(expected) {
            Some((dtype, shape, length)) => {
                Some((room(index, dtype, &shape, length)?, dtype, shape))
            }
            None => None,
        });
    }
    let results = evaluate.all_results(call)?;
    for (index, (given, result)) in buffers.into_iter().zip(&results).enumerate() {
        let shape: Vec<i64> = result.shape().iter().map(|&dim| dim as i64).collect();
        let room = match given {
            Some((room, dtype, dims)) if dtype == result.dtype() && dims == shape => room,
            Some((_, dtype, dims)) => {
                return Err(OpError::new(format!(
                    "type rule inferred {}{dims:?}, but evaluation returned {}{shape:?}",
                    name_of(dtype),
                    name_of(result.dtype())
                )));
            }
            None => room(index, result.dtype(), &shape, result.bytes().len())?,
        };
        room.copy_from_slice(result.bytes());
    }
    Ok(())
}

/// Returns the dtype, shape and size in bytes of a result with a static shape.
fn expected(facts: &ResultFacts) -> Option<(DType, Vec<i64>, usize)> {
    let Some(Ty::Tensor(dtype, Some(dims))) = &facts.ty else {
        return None;
    };
    let shape = as_consts(dims)?;
    let count = shape.iter().try_fold(1u64, |count, &dim| {
        count.checked_mul(u64::try_from(dim).ok()?)
    })?;
    let len = usize::try_from(dtype.byte_len(count)?).ok()?;
    Some((*dtype, shape, len))
}

/// Writes results whose elements the type rule infers, such as `Shape` of a static shape, or elements picked from a
/// partly known shape.
fn from_values(host: &OpCall, facts: &[ResultFacts]) -> OpResult {
    for index in 0..host.result_count() {
        let elements = |facts: &ResultFacts| {
            let (dtype, shape, length) = expected(facts)?;
            let values = as_consts(facts.values.as_deref()?)?;
            let elements = integer_tensor(dtype, vec![values.len()], values)?;
            (elements.bytes().len() == length).then_some((shape, elements))
        };
        let Some((shape, elements)) = facts.get(index).and_then(elements) else {
            return Err(OpError::new("operands are not constant"));
        };
        let spec = api::TypeSpec::shaped(elements.dtype(), &shape);
        let room = host.allocate_result(index, &spec, elements.bytes().len())?;
        room.copy_from_slice(elements.bytes());
    }
    Ok(())
}

impl From<NotFolded> for OpError {
    fn from(reason: NotFolded) -> OpError {
        OpError::new(reason.reason())
    }
}

/// The attributes of the current op.
impl Attrs for OpCall {
    fn get(&self, name: &str) -> Option<EvalAttr<'_>> {
        Some(match self.attr(self.op(), name)? {
            api::Attr::Int(value) => EvalAttr::Int(value),
            api::Attr::Float(value) => EvalAttr::Float(value),
            api::Attr::String(value) => EvalAttr::String(value),
            api::Attr::Ints(values) => EvalAttr::Ints(Cow::Borrowed(values)),
            api::Attr::Floats(values) => EvalAttr::Floats(Cow::Borrowed(values)),
            api::Attr::Strings(values) => EvalAttr::Strings(values.collect()),
            api::Attr::Tensor(id) => constant(self, id).map_or(EvalAttr::Other, EvalAttr::Tensor),
            _ => EvalAttr::Other,
        })
    }

    fn names(&self) -> Vec<&str> {
        let attrs = self.attrs(self.op());
        attrs.map(|(name, _)| self.text(name)).collect()
    }
}

fn constant(host: &OpCall, id: api::ConstId) -> Option<Tensor<'_>> {
    let ty = host.ty(host.constant_record(id)?.ty);
    tensor(ty.dtype()?, &ty.shape()?, host.constant_bytes(id).ok()?).ok()
}
