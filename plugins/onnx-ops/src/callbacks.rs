//! How the definitions answer the host: one type rule, one evaluation and one decomposition for all
//! operators, which find the operator by the op's name and version.

use std::borrow::Cow;

use passdock_plugin_api as api;
use passdock_plugin_api::{DType, OpCall, OpResult, Refusal};

use crate::attributes;
use crate::decompose::render;
use crate::eval::{Attrs, Call, EvalAttr, NotFolded, Tensor};
use crate::infer::{Answer, Infer, Moves, ResultFacts, Stop, Ty, as_consts, carry, compute_known};
use crate::layout::{self, LayoutRequest};
use crate::operands;
use crate::ops::{self, Operator};

/// The type rule of every operator.
pub(crate) fn infer(host: &OpCall) -> OpResult {
    let Some((operator, version)) = find(host) else {
        return Ok(());
    };
    let attrs = HostAttrs(host);
    let (said, answer) = said(host, operator, &question(operator, version, &attrs));
    for (index, said) in said.into_iter().enumerate() {
        if let Some(ty) = said.ty {
            host.set_result_type(index, &ty.spec())?;
        }
        if let Some(values) = said.values {
            // A host may keep the elements of fewer tensors than are known here; that is no mistake.
            let _ = host.set_result_dims(index, &values);
        }
    }
    // What was said before is so all the same.
    match answer {
        Err(Stop::Wrong(reason)) => Err(Refusal::new(reason)),
        _ => Ok(()),
    }
}

/// The evaluation of every operator that has one.
pub(crate) fn evaluate(host: &OpCall) -> OpResult {
    let Some((operator, version)) = find(host) else {
        return Err(Refusal::new("its version isn't known"));
    };
    let attrs = HostAttrs(host);
    let question = question(operator, version, &attrs);
    let said = match said(host, operator, &question) {
        (said, Ok(())) => said,
        _ => Vec::new(),
    };
    match operands(host)? {
        Some(inputs) => {
            let outputs = host.result_count();
            fold(
                host,
                operator,
                &Call {
                    inputs: &inputs,
                    outputs,
                    ..question
                },
                &said,
            )
        }
        // Its elements may follow from types alone.
        None => from_values(host, &said),
    }
}

/// The body of every operator that has one.
pub(crate) fn decompose(host: &OpCall) -> OpResult {
    let Some((operator, version)) = find(host) else {
        return Err(Refusal::new("its version isn't known"));
    };
    let Some(body) = operator.body() else {
        return Err(Refusal::new("it isn't made of others"));
    };
    let attrs = HostAttrs(host);
    let question = question(operator, version, &attrs);
    operator.check(&question)?;
    operator.check_operands(host.operand_count())?;
    match render(operator, body, &Infer::new(host, &question)) {
        Ok(text) => Ok(host.set_body(&text)?),
        Err(stop) => Err(refusal(stop)),
    }
}

/// Every operator that can be had in other layouts, in those that are asked for.
pub(crate) fn layout(host: &OpCall) -> OpResult {
    let Some((operator, version)) = find(host) else {
        return Err(Refusal::new("its version isn't known"));
    };
    let Some(rule) = layout::rule(operator) else {
        return Err(Refusal::new("nothing is known of its axes"));
    };
    let attrs = HostAttrs(host);
    let question = question(operator, version, &attrs);
    operator.check(&question)?;
    operator.check_operands(host.operand_count())?;
    let op = Infer::new(host, &question);
    let wanted = (0..host.operand_count()).map(|index| host.wanted_layout(index));
    let wanted = wanted.map(|text| text.map(str::to_owned)).collect();
    let laid = rule(&LayoutRequest::new(&op, wanted)).map_err(refusal)?;
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
    Ok(host.set_body(&laid.text().map_err(refusal)?)?)
}

fn refusal(stop: Stop) -> Refusal {
    match stop {
        Stop::Unknown => Refusal::new("too little is known of it"),
        Stop::Wrong(reason) => Refusal::new(reason),
    }
}

/// The row of an op, and the version of its domain.
fn find(host: &OpCall) -> Option<(&'static Operator, i64)> {
    let name = host.name(host.op());
    let domain = match name.rsplit_once('.')?.0 {
        "onnx" => "",
        other => other,
    };
    let version = host.opset(domain)?;
    Some((ops::find(name, version)?, version))
}

/// A call without operands: name, version and attributes.
fn question<'a>(operator: &'static Operator, version: i64, attrs: &'a HostAttrs<'a>) -> Call<'a> {
    Call {
        name: operator.name,
        version,
        inputs: &[],
        attrs,
        attr_defs: operator.attrs.unwrap_or_default(),
        outputs: 0,
        max_bytes: u64::MAX,
    }
}

/// The results as the operator's rule says them, and why it stopped if it did.
fn said(host: &OpCall, operator: &Operator, question: &Call) -> (Vec<ResultFacts>, Answer) {
    let Some(rule) = operator.rule() else {
        return (Vec::new(), Err(Stop::Unknown));
    };
    let op = Infer::new(host, question);
    let ruled = match operator.evaluate {
        None => rule(&op),
        Some(evaluate) => {
            let known = operator.check(question).map_err(Stop::from);
            known.and_then(|()| rule(&op)).map(|()| {
                match operator.moved() {
                    Moves::Nothing => compute_known(&op, evaluate),
                    moved => carry(&op, moved, evaluate),
                };
            })
        }
    };
    let answer = attributes::check(operator, &op);
    let answer = answer.and_then(|()| operands::check(&op)).and(ruled);
    (op.finish(), answer)
}

/// The operands' elements, if all are constant.
fn operands(host: &OpCall) -> Result<Option<Vec<Option<Tensor<'_>>>>, Refusal> {
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
        let Some(shape) = ty.shape() else {
            return Ok(None);
        };
        tensors.push(Some(tensor(ty.dtype(), &shape, bytes)?));
    }
    Ok(Some(tensors))
}

fn tensor<'a>(dtype: DType, shape: &[i64], bytes: &'a [u8]) -> Result<Tensor<'a>, NotFolded> {
    let dims: Result<Vec<usize>, _> = shape.iter().map(|&dim| usize::try_from(dim)).collect();
    let dims = dims.map_err(|_| NotFolded::new("a constant's shape isn't one"))?;
    Tensor::from_bytes(dtype, dims, bytes)
}

/// Evaluates and hands over. Where the rule knows the results' sizes, room is asked for first, so
/// that nothing is computed that the host wouldn't take.
fn fold(host: &OpCall, operator: &Operator, call: &Call, said: &[ResultFacts]) -> OpResult {
    operator.check(call)?;
    operator.check_operands(call.inputs.len())?;
    let Some(evaluate) = operator.evaluate else {
        return Err(Refusal::new("it is never folded"));
    };
    let mut rooms = Vec::new();
    for index in 0..host.result_count() {
        rooms.push(match said.get(index).and_then(expected) {
            Some((dtype, shape, len)) => {
                Some(host.allocate_result(index, &api::TypeSpec::shaped(dtype, &shape), len)?)
            }
            None => None,
        });
    }
    let results = evaluate(call)?;
    if results.len() < rooms.len() {
        return Err(Refusal::new("not all of its results are computed"));
    }
    for (index, (room, result)) in rooms.into_iter().zip(&results).enumerate() {
        let shape: Vec<i64> = result.shape().iter().map(|&dim| dim as i64).collect();
        let room = match (room, said.get(index).and_then(expected)) {
            (Some(room), Some((dtype, dims, _))) if dtype == result.dtype() && dims == shape => {
                room
            }
            (Some(_), _) => return Err(Refusal::new("its type rule and its evaluation disagree")),
            (None, _) => host.allocate_result(
                index,
                &api::TypeSpec::shaped(result.dtype(), &shape),
                result.bytes().len(),
            )?,
        };
        room.copy_from_slice(result.bytes());
    }
    Ok(())
}

/// The element type, shape and bytes of a result whose size is known.
fn expected(said: &ResultFacts) -> Option<(DType, Vec<i64>, usize)> {
    let Some(Ty::Tensor(dtype, Some(dims))) = &said.ty else {
        return None;
    };
    let shape = as_consts(dims)?;
    let count = shape.iter().try_fold(1u64, |count, &dim| {
        count.checked_mul(u64::try_from(dim).ok()?)
    })?;
    let len = usize::try_from(dtype.byte_len(count)?).ok()?;
    Some((*dtype, shape, len))
}

/// Hands over results whose elements the rule knows: `Shape` of a tensor of known dims, and what is
/// picked out of one that is known in part.
fn from_values(host: &OpCall, said: &[ResultFacts]) -> OpResult {
    let unknown = || Refusal::new("its operands aren't constant");
    for index in 0..host.result_count() {
        let said = said.get(index).ok_or_else(unknown)?;
        let (dtype, shape, len) = expected(said).ok_or_else(unknown)?;
        let values = said
            .values
            .as_deref()
            .and_then(as_consts)
            .ok_or_else(unknown)?;
        let bytes: Vec<u8> = match dtype {
            DType::I64 => values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect(),
            DType::I32 => values
                .iter()
                .filter_map(|&value| i32::try_from(value).ok())
                .flat_map(i32::to_le_bytes)
                .collect(),
            DType::BOOL => values.iter().map(|&value| u8::from(value != 0)).collect(),
            _ => return Err(unknown()),
        };
        if bytes.len() != len {
            return Err(unknown());
        }
        host.allocate_result(index, &api::TypeSpec::shaped(dtype, &shape), len)?
            .copy_from_slice(&bytes);
    }
    Ok(())
}

impl From<NotFolded> for Refusal {
    fn from(reason: NotFolded) -> Refusal {
        Refusal::new(reason.reason())
    }
}

/// The attributes of the op that is asked about.
struct HostAttrs<'a>(&'a OpCall);

impl Attrs for HostAttrs<'_> {
    fn get(&self, name: &str) -> Option<EvalAttr<'_>> {
        let host = self.0;
        Some(match host.attr(host.op(), name)? {
            api::Attr::Int(value) => EvalAttr::Int(value),
            api::Attr::Float(value) => EvalAttr::Float(value),
            api::Attr::String(value) => EvalAttr::String(value),
            api::Attr::Ints(values) => EvalAttr::Ints(Cow::Borrowed(values)),
            api::Attr::Floats(values) => EvalAttr::Floats(Cow::Borrowed(values)),
            api::Attr::Strings(values) => EvalAttr::Strings(values.collect()),
            api::Attr::Tensor(id) => self.tensor(id).map_or(EvalAttr::Other, EvalAttr::Tensor),
            _ => EvalAttr::Other,
        })
    }

    fn names(&self) -> Vec<&str> {
        self.0
            .attrs(self.0.op())
            .map(|(name, _)| self.0.text(name))
            .collect()
    }
}

impl HostAttrs<'_> {
    fn tensor(&self, id: api::ConstId) -> Option<Tensor<'_>> {
        let ty = self.0.ty(self.0.constant_record(id)?.ty);
        tensor(ty.dtype(), &ty.shape()?, self.0.constant_bytes(id).ok()?).ok()
    }
}
