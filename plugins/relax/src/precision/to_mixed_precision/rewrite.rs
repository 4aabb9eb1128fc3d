//! Applies the decisions: retypes results, inserts `Cast`s after definitions, converts constants.

use std::collections::HashMap;

use passdock_plugin_api::Use;
use passdock_plugin_api::prelude::*;

use super::flow::{Definition, Flow, Flows, Kind};
use super::{CAST, FLOAT, Low};
use crate::shared::read::{after, redeclare};
use crate::shared::retype::retype;

impl Low {
    /// Returns the type of a value with the element type replaced by the low-precision type.
    pub(super) fn type_like(self, f: &Function, value: ValueId) -> TypeSpec {
        like(f, f.type_id(value), self.dtype)
    }
}

/// Returns a tensor type with another element type.
fn like(f: &Function, ty: TypeId, dtype: DType) -> TypeSpec {
    let ty = f.ty(ty);
    let spec = match ty.dims() {
        Some(dims) => TypeSpec::tensor(dtype, dims),
        None => TypeSpec::unranked(dtype),
    };
    spec.named(ty.record().name)
}

pub(super) fn rewrite(f: &mut Function, flows: &Flows) -> PassResult {
    let mut writer = Writer {
        f,
        flows,
        firsts: HashMap::new(),
        replaced: HashMap::new(),
    };
    for flow in &flows.all {
        writer.write(flow)?;
    }
    for flow in &flows.all {
        if matches!(flow.from, Definition::Low(_))
            && writer.f.use_count(flow.value) == 0
            && let Some(cast) = writer.f.defining_op(flow.value)
        {
            writer.f.erase_op(cast)?;
        }
    }
    writer.retype_ports()
}

struct Writer<'a> {
    f: &'a mut Function,
    flows: &'a Flows,
    /// The first op of each region, before which its arguments and constants are cast.
    firsts: HashMap<RegionId, OpId>,
    /// The replacements of the results of removed `Cast`s.
    replaced: HashMap<ValueId, ValueId>,
}

/// The uses of a value that get another operand.
#[derive(Default)]
struct UsesBy {
    low: Vec<Use>,
    rounded: Vec<Use>,
    float: Vec<Use>,
}

impl Writer<'_> {
    /// Casts a value where necessary, and replaces its uses.
    fn write(&mut self, flow: &Flow) -> PassResult {
        let is_low = |&user: &u32| self.flows.members[user as usize].low;
        let is_low = flow.to.iter().any(is_low);
        let defined_low = self.flows.is_defined_low(flow);
        if !is_low && !defined_low && flow.casts.is_empty() {
            return Ok(());
        }
        let uses = self.uses(flow);
        let value = flow.value;
        if defined_low {
            if !uses.float.is_empty() || !uses.rounded.is_empty() {
                let up = self.cast(value, FLOAT)?;
                self.replace_uses_with(&uses.float, up)?;
                self.replace_uses_with(&uses.rounded, up)?;
                // The name belongs to the float32 value, except for parameters.
                let name = self.f.value_name(value).map(str::to_owned);
                let is_new = self.f.defining_op(value).is_some();
                if let Some(name) = name.filter(|_| is_new) {
                    self.f.set_value_name(value, "")?;
                    self.f.set_value_name(up, &name)?;
                }
            }
            let spec = self.flows.low.type_like(self.f, value);
            let ty = self.f.add_type(&spec)?;
            retype(self.f, value, ty)?;
            return Ok(self.drop_casts(flow, value)?);
        }
        match flow.from {
            Definition::Constant => {
                let low = self.flows.constants.convert(self.f, value)?;
                self.use_low(&uses, value, low)?;
                self.replace_constant(value, low)?;
            }
            Definition::Low(origin) => {
                // The origin is rounded already.
                let origin = self.replaced.get(&origin).copied().unwrap_or(origin);
                self.replace_uses_with(&uses.low, origin)?;
                self.drop_casts(flow, origin)?;
            }
            Definition::Member(_) | Definition::Float => {
                // A single existing `Cast` stays.
                let is_used = !uses.low.is_empty() || !uses.rounded.is_empty();
                if is_used || flow.casts.len() > 1 {
                    let low = self.cast(value, self.flows.low.onnx)?;
                    self.use_low(&uses, value, low)?;
                    self.drop_casts(flow, low)?;
                }
            }
        }
        Ok(())
    }

    fn uses(&self, flow: &Flow) -> UsesBy {
        let mut uses = UsesBy::default();
        for used in self.f.iter_uses(flow.value) {
            match self.flows.user(used) {
                Some(user) if user.low && user.role.rounds => uses.rounded.push(used),
                Some(user) if user.low => uses.low.push(used),
                _ if self.flows.is_cast(used.op) => {}
                _ => uses.float.push(used),
            }
        }
        uses
    }

    /// Replaces uses with a low-precision value, or with that value cast back to float32.
    fn use_low(&mut self, uses: &UsesBy, value: ValueId, low: ValueId) -> Result<(), EditError> {
        self.replace_uses_with(&uses.low, low)?;
        if !uses.rounded.is_empty() {
            let up = self.cast_like(low, FLOAT, self.f.type_id(value))?;
            self.replace_uses_with(&uses.rounded, up)?;
        }
        Ok(())
    }

    fn replace_uses_with(&mut self, uses: &[Use], value: ValueId) -> Result<(), EditError> {
        for used in uses {
            self.f.set_operand(used.op, used.index, value)?;
        }
        Ok(())
    }

    /// Replaces the existing `Cast`s to the low-precision type with a value.
    fn drop_casts(&mut self, flow: &Flow, value: ValueId) -> Result<(), EditError> {
        for &cast in &flow.casts {
            self.replaced.insert(self.f.result(cast, 0), value);
            self.f.replace_op_with(cast, &[value])?;
        }
        Ok(())
    }

    /// Casts a float32 value, or a value that will be low-precision, to the other type.
    fn cast(&mut self, value: ValueId, to: i64) -> Result<ValueId, EditError> {
        let ty = match to {
            FLOAT => self.f.type_id(value),
            _ => {
                let spec = self.flows.low.type_like(self.f, value);
                self.f.add_type(&spec)?
            }
        };
        self.cast_like(value, to, ty)
    }

    /// Inserts a cast immediately after the definition of a value.
    fn cast_like(&mut self, value: ValueId, to: i64, ty: TypeId) -> Result<ValueId, EditError> {
        let cast = OpBuilder::new(CAST)
            .operand(value)
            .attr("to", to)
            .result(ty);
        let (cast, at) = match self.f.defining_op(value) {
            Some(producer) => (cast.loc(self.f.loc(producer)), after(self.f, producer)),
            None => (cast, self.at_start(value)),
        };
        let cast = self.f.create_op(cast, at)?;
        Ok(self.f.result(cast, 0))
    }

    /// Returns the start of the region that a value is an argument or a constant of.
    fn at_start(&mut self, value: ValueId) -> Position {
        let f = &*self.f;
        let constant = f.constant(value).and_then(|id| f.constant_record(id));
        let region = match constant {
            Some(record) => record.region.option(),
            None => f.arg_region(value),
        };
        let region = region.unwrap_or_else(|| f.body());
        let known = self.firsts.get(&region).copied();
        let before = match known.filter(|op| f.is_live(*op)) {
            Some(first) => first,
            None => {
                let first = f.first_op(region).unwrap_or(OpId::NONE);
                self.firsts.insert(region, first);
                first
            }
        };
        Position { region, before }
    }

    /// Erases a constant if it is unused; the new one takes its name.
    fn replace_constant(&mut self, old: ValueId, new: ValueId) -> Result<(), EditError> {
        let name = self.f.value_name(old).map(str::to_owned);
        let unused = self.f.constant(old).filter(|_| self.f.use_count(old) == 0);
        if let Some(constant) = unused {
            self.f.erase_constant(constant)?;
            if let Some(name) = name {
                self.f.set_value_name(new, &name)?;
            }
        }
        Ok(())
    }

    /// Changes the declared types of the model's results that are in low precision.
    fn retype_ports(self) -> PassResult {
        let f = self.f;
        let body = f.body();
        let Some(end) = f.terminator(body) else {
            return Ok(());
        };
        let is_low = |index: usize| {
            let port = self.flows.port(index);
            port.is_some_and(|port| port.low && port.kind == Kind::Port(end))
        };
        if !(0..f.operand_count(end)).any(is_low) {
            return Ok(());
        }
        redeclare(f, body, |f, index, ty, value| {
            if !is_low(index) || ty.is_none() {
                return Ok((ty, value));
            }
            let spec = like(f, ty, self.flows.low.dtype);
            Ok((f.add_type(&spec)?, value))
        })?;
        Ok(())
    }
}
