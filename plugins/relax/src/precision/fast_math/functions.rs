//! The functions that compute approximations: existing or new ones.

use std::collections::HashMap;

use passdock_plugin_api::prelude::*;

use super::{DOMAIN, Kind};
use crate::shared::read::{add_tensor, add_terminator};
use crate::shared::retype::retype;

/// The key of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FastFunction {
    pub(super) kind: Kind,
    /// The axis of a softmax; -1 for other kinds.
    pub(super) axis: i64,
    /// The opset of the caller.
    pub(super) opset: i64,
}

impl FastFunction {
    /// Returns the function's name, without a number that makes it unique.
    fn name(self) -> String {
        let name = self.kind.name;
        match self.axis {
            -1 => format!("{DOMAIN}.{name}"),
            axis if axis < 0 => format!("{DOMAIN}.{name}_axis_minus{}", axis.unsigned_abs()),
            axis => format!("{DOMAIN}.{name}_axis{axis}"),
        }
    }
}

/// The functions that were created or found so far.
#[derive(Default)]
pub(super) struct Functions {
    created: HashMap<FastFunction, SymbolId>,
}

impl Functions {
    /// Returns the name of the function, and creates it if the module has none.
    pub(super) fn get(
        &mut self,
        m: &mut Module<'_>,
        cx: &PassContext,
        requested: FastFunction,
    ) -> Result<SymbolId, PassError> {
        if let Some(&created) = self.created.get(&requested) {
            return Ok(created);
        }
        let inner = match requested.kind {
            Kind::SIGMOID | Kind::SOFTMAX => {
                let exp = FastFunction {
                    kind: Kind::EXP,
                    axis: -1,
                    ..requested
                };
                self.get(m, cx, exp)?
            }
            _ => SymbolId::NONE,
        };
        let base = requested.name();
        let mut name = base.clone();
        let mut number = 0;
        let created = loop {
            match m.function(&*name) {
                None => break make(m, cx, requested, &name, inner)?,
                // An earlier run created it, or a back end replaced its body.
                Some(entry) if is_like(&m.snapshot(entry.name)?, requested) => {
                    forget_types(m.edit(entry.name)?)?;
                    break entry.name;
                }
                Some(_) => {
                    number += 1;
                    name = format!("{base}_{number}");
                }
            }
        };
        self.created.insert(requested, created);
        Ok(created)
    }
}

/// Whether a function of the same name has a compatible signature.
fn is_like(f: &Function, requested: FastFunction) -> bool {
    let results = f.terminator(f.body()).map(|end| f.operand_count(end));
    let is_open = f.ports(f.body()).all(|port| f.ty(port.ty).rank().is_none());
    f.params().len() == 1 && results == Some(1) && is_open && f.opset("") == Some(requested.opset)
}

/// Removes the types that were inferred for existing calls, as a new call may have other sizes.
fn forget_types(f: &mut Function) -> Result<(), EditError> {
    let mut values = f.params().to_vec();
    for op in f.iter() {
        values.extend(f.results(op));
        values.extend(f.regions(op).iter().flat_map(|region| f.args(*region)));
    }
    for value in values {
        retype(f, value, TypeId::NONE)?;
    }
    Ok(())
}

fn make(
    m: &mut Module<'_>,
    cx: &PassContext,
    requested: FastFunction,
    name: &str,
    exp: SymbolId,
) -> Result<SymbolId, PassError> {
    let f = m.create(name, FunctionKind::GRAPH, None)?;
    f.set_opset("", requested.opset)?;
    let body = f.body();
    let x = f.add_arg(body, "x", TypeId::NONE)?;
    let value = match requested.kind {
        Kind::EXP => written(f, cx, include_str!("exp.txt"), x)?,
        Kind::TANH => written(f, cx, include_str!("tanh.txt"), x)?,
        Kind::ERF => written(f, cx, include_str!("erf.txt"), x)?,
        Kind::SIGMOID => sigmoid(f, exp, x)?,
        _ => softmax(f, requested, exp, x)?,
    };
    if exp.is_some() {
        f.set_opset(DOMAIN, 1)?;
    }
    f.set_named_results(body, &[("y", TypeId::NONE, value)])?;
    Ok(f.intern(name)?)
}

/// Inserts IR text as the body of a function, and returns its result.
fn written(
    f: &mut Function,
    cx: &PassContext,
    text: &str,
    x: ValueId,
) -> Result<ValueId, PassError> {
    let end = add_terminator(f, &[x])?;
    let values = cx.insert_text(f, end, text, &[x], 1)?;
    Ok(values[0])
}

fn sigmoid(f: &mut Function, exp: SymbolId, x: ValueId) -> Result<ValueId, EditError> {
    let one = add_tensor(f, DType::F32, &[], &1.0_f32.to_le_bytes())?;
    let mut b = FunctionBuilder::new(f);
    let minus = b.value("onnx.Neg", [x])?;
    let e = b.value(exp, [minus])?;
    let sum = b.value("onnx.Add", [e, one])?;
    b.value("onnx.Div", [one, sum])
}

fn softmax(
    f: &mut Function,
    requested: FastFunction,
    exp: SymbolId,
    x: ValueId,
) -> Result<ValueId, EditError> {
    let axes = f.add_ints(&[requested.axis])?;
    let mut b = FunctionBuilder::new(f);
    let max = OpBuilder::new("onnx.ReduceMax").operand(x);
    let max = match requested.opset {
        18.. => max.operand(axes),
        _ => max.attr("axes", vec![requested.axis]),
    };
    let max = b.op(max.untyped_results(1))?;
    let max = b.function().result(max, 0);
    let less = b.value("onnx.Sub", [x, max])?;
    let e = b.value(exp, [less])?;
    let sum = b.value("onnx.ReduceSum", [e, axes])?;
    b.value("onnx.Div", [e, sum])
}
