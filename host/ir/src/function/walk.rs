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

/// The position of a walk.
#[derive(Clone, Copy)]
enum Position {
    /// Before a region.
    Region(RegionId),
    /// Before an op, or before the end of a region.
    Op(OpId),
    /// Between the regions of the op on top of the stack.
    Regions,
    /// After the outermost region.
    End,
}

/// Iterator over the events of a region and its nested regions, in program order.
pub(crate) struct Events<'f> {
    function: &'f Function,
    position: Position,
    /// The ops around the position, each with the number of its regions that were entered.
    stack: Vec<(OpId, usize)>,
    /// The maximum number of further ops: the walk terminates even if the links are corrupt.
    remaining: usize,
}

impl<'f> Events<'f> {
    pub(crate) fn new(function: &'f Function, region: RegionId) -> Events<'f> {
        Events {
            function,
            position: Position::Region(region),
            stack: Vec::new(),
            remaining: function.op_ids(),
        }
    }

    fn enter(&mut self, region: RegionId) -> Event {
        self.position = Position::Op(self.function.region(region).first);
        Event::Enter(region)
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        Some(match self.position {
            Position::Op(next) => match next.option().filter(|_| self.remaining > 0) {
                Some(op) => {
                    self.remaining -= 1;
                    let record = self.function.op(op);
                    self.position = Position::Op(record.next);
                    if record.regions.len > 0 {
                        self.stack.push((op, 0));
                        self.position = Position::Regions;
                    }
                    Event::Op(op)
                }
                None => {
                    self.position = match self.stack.is_empty() {
                        true => Position::End,
                        false => Position::Regions,
                    };
                    Event::Leave
                }
            },
            Position::Regions => {
                let (op, entered) = self.stack.last_mut()?;
                let (op, record) = (*op, self.function.op(*op));
                match self.function.ids_in(record.regions).get(*entered) {
                    Some(&region) => {
                        *entered += 1;
                        self.enter(RegionId(region))
                    }
                    None => {
                        self.stack.pop();
                        self.position = Position::Op(record.next);
                        Event::After(op)
                    }
                }
            }
            Position::Region(region) => self.enter(region),
            Position::End => return None,
        })
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
