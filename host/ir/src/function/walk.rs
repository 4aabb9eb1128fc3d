//! Walks over nested regions, with an explicit stack.

use passdock_abi::{OpId, RegionId};

use crate::function::Function;

/// A step of the walk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The start of a region.
    Enter(RegionId),
    /// An op; its regions follow.
    Op(OpId),
    /// The end of a region.
    Leave,
    /// The end of the last region of an op with regions.
    After(OpId),
}

enum Step {
    Ops(RegionId, OpId),
    Regions(OpId, u32),
}

/// Iterator over the events of a region and its nested regions, in program order.
pub(crate) struct Events<'f> {
    function: &'f Function,
    entry: Option<RegionId>,
    stack: Vec<Step>,
    /// The maximum number of further ops: the walk terminates even if the links are corrupt.
    left: usize,
}

impl<'f> Events<'f> {
    pub(crate) fn new(function: &'f Function, region: RegionId) -> Events<'f> {
        Events {
            function,
            entry: Some(region),
            stack: Vec::new(),
            left: function.op_ids(),
        }
    }

    fn enter(&mut self, region: RegionId) -> Event {
        let first = self.function.region(region).first;
        self.stack.push(Step::Ops(region, first));
        Event::Enter(region)
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if let Some(entry) = self.entry.take() {
            return Some(self.enter(entry));
        }
        match *self.stack.last()? {
            Step::Ops(region, next) => {
                let Some(op) = next.option().filter(|_| self.left > 0) else {
                    self.stack.pop();
                    return Some(Event::Leave);
                };
                self.left -= 1;
                let record = self.function.op(op);
                if let Some(top) = self.stack.last_mut() {
                    *top = Step::Ops(region, record.next);
                }
                if record.regions.len > 0 {
                    self.stack.push(Step::Regions(op, 0));
                }
                Some(Event::Op(op))
            }
            Step::Regions(op, at) => {
                let regions = self.function.ids_in(self.function.op(op).regions);
                let Some(&region) = regions.get(at as usize) else {
                    self.stack.pop();
                    return Some(Event::After(op));
                };
                if let Some(top) = self.stack.last_mut() {
                    *top = Step::Regions(op, at + 1);
                }
                Some(self.enter(RegionId(region)))
            }
        }
    }
}

impl Function {
    /// Iterates over all ops of a region and its nested regions, in pre-order.
    pub fn walk(&self, region: RegionId) -> impl Iterator<Item = OpId> + '_ {
        Events::new(self, region).filter_map(|event| match event {
            Event::Op(op) => Some(op),
            _ => None,
        })
    }
}
