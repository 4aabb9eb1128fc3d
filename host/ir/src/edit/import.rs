//! Edits for importers and parsers: names, marks and locations as a file has them.

use passdock_abi::{
    Constant, LocId, Op, OpId, Opset, Port, Region, RegionId, SymbolId, Value, ValueId,
};

use crate::error::Edit;
use crate::function::Function;

/// The largest number of domains that a function or file may import: they are searched one by one.
pub const MAX_OPSETS: usize = 1024;

impl Function {
    /// Says that an op's file knows more of it than the IR does.
    pub fn import_annotated(&mut self, op: OpId) {
        self.ops[op.index()].flags |= Op::ANNOTATED;
    }

    /// Gives a value its name in the file, which a value of another region may have too.
    pub fn import_name(&mut self, value: ValueId, name: SymbolId) {
        self.names = None;
        self.values[value.index()].name = name;
    }

    /// Marks a result as left out in the file.
    pub fn import_absent(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::ABSENT;
    }

    /// Marks a value's type as declared in the file beside its definition.
    pub fn import_declared(&mut self, value: ValueId) {
        self.values[value.index()].flags |= Value::DECLARED;
    }

    /// Sets the version of a domain.
    pub fn set_opset(&mut self, domain: SymbolId, version: i64) {
        match self.opsets.iter_mut().find(|opset| opset.domain == domain) {
            Some(opset) => opset.version = version,
            None => self.opsets.push(Opset {
                domain,
                reserved: 0,
                version,
            }),
        }
        self.touch_function();
    }

    /// Sets an op's location.
    ///
    /// # Errors
    /// If the op is gone.
    pub fn set_loc(&mut self, op: OpId, loc: LocId) -> Edit {
        self.live_op(op)?;
        self.ops[op.index()].loc = loc;
        self.touch_op(op);
        Ok(())
    }

    /// Sets a region's location: a graph's name.
    ///
    /// # Errors
    /// If the region is gone.
    pub fn set_region_loc(&mut self, region: RegionId, loc: LocId) -> Edit {
        self.live_region(region)?;
        self.regions[region.index()].loc = loc;
        self.touch_region(region);
        Ok(())
    }

    /// Marks everything as it is in the file: nothing is touched.
    pub fn seal(&mut self) {
        self.ops.iter_mut().for_each(|op| op.flags &= !Op::TOUCHED);
        self.values
            .iter_mut()
            .for_each(|value| value.flags &= !Value::TOUCHED);
        self.regions
            .iter_mut()
            .for_each(|region| region.flags &= !Region::TOUCHED);
        self.ports
            .iter_mut()
            .for_each(|port| port.flags &= !Port::TOUCHED);
        self.constants
            .iter_mut()
            .for_each(|constant| constant.flags &= !Constant::TOUCHED);
        self.touched = false;
    }
}
