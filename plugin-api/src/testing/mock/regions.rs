//! The mock host's function: copying regions, ending them.

use std::collections::HashMap;

use passdock_abi as abi;
use passdock_abi::{LocId, OpDesc, OpId, PortDesc, Position, Range, RegionId, SymbolId, ValueId};

use super::arena::{list, range, Edit, MockFunction};

impl MockFunction {
    /// # Safety
    /// `desc` is as the contract says.
    pub(super) unsafe fn clone_region(&mut self, desc: &abi::CloneDesc) -> Edit<()> {
        // SAFETY: the caller's promise, here and below.
        let args = unsafe { list(desc.args, desc.arg_count) };
        let captures = unsafe { list(desc.captures, desc.capture_count) };
        let mut map: HashMap<ValueId, ValueId> = captures.iter().map(|[a, b]| (*a, *b)).collect();
        map.extend(self.args(desc.region).into_iter().zip(args.iter().copied()));
        let stands = |map: &HashMap<ValueId, ValueId>, value| *map.get(&value).unwrap_or(&value);

        let mut pending = vec![(desc.region, desc.at, false)];
        while let Some((region, at, whole)) = pending.pop() {
            let mut next = self.regions[region.index()].first;
            while let Some(op) = next.option() {
                next = self.ops[op.index()].next;
                if self.is_terminator(op) && !whole {
                    continue;
                }
                let copy = OpId(self.ops.len() as u32);
                let record = self.ops[op.index()];
                self.ops.push(record);
                self.ops[copy.index()].operands = Range::EMPTY;
                self.link_op(copy, at)?;
                let operands = self.operands(op).into_iter();
                let operands: Vec<ValueId> = operands.map(|value| stands(&map, value)).collect();
                self.set_operands(copy, &operands);
                let mut results = Vec::new();
                for (index, result) in self.results(op).into_iter().enumerate() {
                    let ty = self.values[result.index()].ty;
                    let value = self.add_value(ty, abi::Value::RESULT, copy.0, index);
                    map.insert(result, value);
                    results.push(value.0);
                }
                self.ops[copy.index()].results = self.add_ids(results);
                let mut regions = Vec::new();
                for at in record.regions.start..record.regions.start + record.regions.len {
                    let inner = RegionId(self.ids[at as usize]);
                    let made = self.add_region(copy, self.regions[inner.index()].name);
                    for arg in self.args(inner) {
                        let port = PortDesc {
                            name: abi::Str::EMPTY,
                            ty: self.values[arg.index()].ty,
                            reserved: 0,
                        };
                        let value = self.add_arg(made, port);
                        map.insert(arg, value);
                    }
                    pending.push((inner, Position::end_of(made), true));
                    regions.push(made.0);
                }
                self.ops[copy.index()].regions = self.add_ids(regions);
            }
        }
        let last = self.regions[desc.region.index()].last;
        for (index, value) in self.operands(last).into_iter().enumerate() {
            // SAFETY: room for as many as the terminator has operands.
            unsafe { desc.results.add(index).write(stands(&map, value)) };
        }
        Ok(())
    }

    pub(super) fn inline_region(&mut self, region: RegionId, args: &[ValueId]) -> Edit<()> {
        let holder = self.regions[region.index()].parent;
        for (arg, value) in self.args(region).into_iter().zip(args) {
            self.replace_uses(arg, *value);
        }
        let mut next = self.regions[region.index()].first;
        while let Some(op) = next.option() {
            next = self.ops[op.index()].next;
            if !self.is_terminator(op) {
                self.unlink_op(op);
                self.link_op(op, Position::before(holder))?;
            }
        }
        Ok(())
    }

    fn args(&self, region: RegionId) -> Vec<ValueId> {
        let ids = self.regions[region.index()].args;
        let ids = ids.start..ids.start + ids.len;
        ids.map(|id| ValueId(self.ids[id as usize])).collect()
    }

    pub(super) fn set_results(
        &mut self,
        region: RegionId,
        values: &[ValueId],
        ports: &[PortDesc],
    ) -> Edit<()> {
        for value in values {
            self.live_value(*value)?;
        }
        let last = self.regions[region.index()].last;
        let terminator = if last.is_some() && self.is_terminator(last) {
            last
        } else {
            let desc = OpDesc {
                struct_size: std::mem::size_of::<OpDesc>() as u32,
                flags: 0,
                name: if region.0 == 0 {
                    abi::symbol::RETURN
                } else {
                    abi::symbol::YIELD
                },
                loc: LocId::NONE,
                operands: std::ptr::null(),
                operand_count: 0,
                result_types: std::ptr::null(),
                result_count: 0,
                attrs: std::ptr::null(),
                attr_count: 0,
                regions: std::ptr::null(),
                region_count: 0,
            };
            // SAFETY: empty lists.
            unsafe { self.create(&desc, Position::end_of(region))? }
        };
        self.set_operands(terminator, values);
        let start = self.ports.len();
        for port in ports {
            self.ports.push(abi::Port {
                name: SymbolId::NONE,
                ty: port.ty,
                flags: 0,
                reserved: 0,
            });
        }
        self.regions[region.index()].ports = range(start, self.ports.len());
        Ok(())
    }
}
