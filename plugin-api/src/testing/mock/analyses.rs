//! The mock host's analyses: as the contract wants them, worked out the plain way.

use std::ffi::c_void;

use passdock_abi as abi;
use passdock_abi::analysis::name;
use passdock_abi::{Column, DropAnalysis, NameUse, OpEntry, OpId, RegionId, Status, Str, ValueId};

use super::arena::MockFunction;
use super::kept::Given;
use crate::raw::text;

pub(super) unsafe extern "C" fn get_extension(id: Str) -> *const c_void {
    static TABLE: abi::AnalysisApi = abi::AnalysisApi {
        struct_size: std::mem::size_of::<abi::AnalysisApi>() as u32,
        reserved: 0,
        column: Some(column),
        get: Some(get),
        put: Some(put),
        preserve: Some(preserve),
    };
    // SAFETY: the contract: the text is there during the call.
    if unsafe { text(id) } != abi::analysis::EXTENSION {
        return std::ptr::null();
    }
    let table: *const abi::AnalysisApi = &TABLE;
    table.cast()
}

// The functions of the table. SAFETY (all): the SDK keeps the contract.

unsafe extern "C" fn column(handle: *const abi::Function, name: Str, out: *mut Column) -> Status {
    // SAFETY: as above.
    unsafe {
        let function = &*handle.cast::<MockFunction>();
        *out = match text(name) {
            name::LIVENESS => function.keep_column(function.liveness()),
            name::ORDER => function.keep_column(function.order()),
            name::EFFECTS => function.keep_column(function.effects()),
            name::NAMES => function.keep_column(function.names()),
            _ => return Status::NOT_FOUND,
        };
    }
    Status::OK
}

unsafe extern "C" fn get(
    handle: *const abi::Function,
    owner: *const c_void,
    key: Str,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let function = &*handle.cast::<MockFunction>();
        let version = function.version();
        let given = function.analyses.given.borrow();
        let key = text(key);
        let kept = given
            .iter()
            .find(|one| one.owner == owner && one.key == key && one.version == version);
        match kept {
            Some(kept) => *out = kept.data,
            None => return Status::NOT_FOUND,
        }
    }
    Status::OK
}

unsafe extern "C" fn put(
    handle: *const abi::Function,
    owner: *const c_void,
    key: Str,
    data: *mut c_void,
    drop: Option<DropAnalysis>,
    out: *mut *mut c_void,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let function = &*handle.cast::<MockFunction>();
        let new = Given {
            owner,
            key: text(key).to_owned(),
            version: function.version(),
            data,
            drop,
        };
        if get(handle, owner, key, out).is_ok() {
            return Status::OK;
        }
        let mut given = function.analyses.given.borrow_mut();
        given.retain(|one| one.owner != owner || one.key != new.key);
        given.push(new);
        *out = data;
    }
    Status::OK
}

unsafe extern "C" fn preserve(
    handle: *mut abi::Function,
    owner: *const c_void,
    key: Str,
) -> Status {
    // SAFETY: as above.
    unsafe {
        let function = &*handle.cast::<MockFunction>();
        let key = text(key);
        let mut given = function.analyses.given.borrow_mut();
        match given
            .iter_mut()
            .find(|one| one.owner == owner && one.key == key)
        {
            Some(kept) => kept.version = function.version(),
            None => return Status::NOT_FOUND,
        }
    }
    Status::OK
}

impl MockFunction {
    fn version(&self) -> u64 {
        // SAFETY: ours, and not being written while a plugin asks.
        unsafe { (*self.view).version }
    }

    /// Keeps records where they lie, until the function changes.
    fn keep_column<T: 'static>(&self, records: Vec<T>) -> Column {
        let column = Column {
            base: records.as_ptr().cast(),
            len: records.len() as u32,
            stride: std::mem::size_of::<T>() as u32,
        };
        let version = self.version();
        let mut columns = self.analyses.columns.borrow_mut();
        columns.retain(|(made_for, _)| *made_for == version);
        columns.push((version, Box::new(records)));
        column
    }

    /// The region that an op stands in, and the op that holds it.
    fn around(&self, op: OpId) -> (RegionId, Option<OpId>) {
        let region = self.ops[op.index()].parent;
        (region, self.regions[region.index()].parent.option())
    }

    /// All ops in program order.
    fn walk(&self) -> Vec<OpId> {
        let mut ops = Vec::new();
        let mut pending = vec![self.regions[0].first];
        while let Some(next) = pending.pop() {
            if let Some(op) = next.option() {
                ops.push(op);
                let record = &self.ops[op.index()];
                pending.push(record.next);
                let regions = record.regions.start..record.regions.start + record.regions.len;
                for at in regions.rev() {
                    let region = self.ids[at as usize] as usize;
                    pending.push(self.regions[region].first);
                }
            }
        }
        ops
    }

    fn liveness(&self) -> Vec<abi::Liveness> {
        let nobody = abi::Liveness {
            last_use: OpId::NONE,
        };
        let mut liveness = vec![nobody; self.values.len()];
        for op in self.walk() {
            for value in self
                .operands(op)
                .into_iter()
                .filter(|value| value.is_some())
            {
                let home = self.home(value);
                let mut user = Some(op);
                while let Some(at) = user {
                    let (region, holder) = self.around(at);
                    if region == home || holder.is_none() {
                        liveness[value.index()].last_use = at;
                        break;
                    }
                    user = holder;
                }
            }
        }
        liveness
    }

    /// The region that a value is of.
    fn home(&self, value: ValueId) -> RegionId {
        let record = &self.values[value.index()];
        match record.flags & abi::Value::KIND {
            abi::Value::RESULT => self.ops[record.def as usize].parent,
            abi::Value::ARG => RegionId(record.def),
            _ => RegionId(0),
        }
    }

    fn order(&self) -> Vec<abi::OpOrder> {
        let gone = abi::OpOrder {
            position: u32::MAX,
            end: u32::MAX,
            depth: 0,
        };
        let mut order = vec![gone; self.ops.len()];
        for (position, op) in self.walk().into_iter().enumerate() {
            let position = position as u32;
            let mut depth = 0;
            let mut holder = self.around(op).1;
            while let Some(at) = holder {
                depth += 1;
                order[at.index()].end = position + 1;
                holder = self.around(at).1;
            }
            order[op.index()] = abi::OpOrder {
                position,
                end: position + 1,
                depth,
            };
        }
        order
    }

    /// The traits of an op: nobody defines one here, so only those of the IR itself are known.
    fn traits(&self, op: OpId) -> u64 {
        match self.ops[op.index()].name {
            abi::symbol::RETURN
            | abi::symbol::YIELD
            | abi::symbol::TUPLE
            | abi::symbol::TUPLE_GET => OpEntry::PURE,
            _ => 0,
        }
    }

    fn effects(&self) -> Vec<abi::OpEffects> {
        let nothing = abi::OpEffects {
            traits: 0,
            effects: 0,
        };
        let mut effects = vec![nothing; self.ops.len()];
        for op in self.walk() {
            let traits = self.traits(op);
            effects[op.index()] = abi::OpEffects {
                traits,
                effects: traits,
            };
            let mut holder = self.around(op).1;
            while let Some(at) = holder {
                effects[at.index()].effects &= traits;
                holder = self.around(at).1;
            }
        }
        effects
    }

    fn names(&self) -> Vec<NameUse> {
        let mut names: Vec<NameUse> = Vec::new();
        for op in self.walk() {
            let name = self.ops[op.index()].name;
            match names.iter_mut().find(|used| used.name == name) {
                Some(used) => used.count += 1,
                None => names.push(NameUse {
                    name,
                    count: 1,
                    first: op,
                    flags: 0,
                    traits: self.traits(op),
                }),
            }
        }
        names
    }
}
