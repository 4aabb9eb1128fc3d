//! Calls of `FunctionApi` and `OpApi`.

mod bodies;
mod describe;

use passdock_abi as abi;
use passdock_abi::{
    Bytes, CloneDesc, CloneOpsDesc, ConstId, Dim, FunctionRef, LocId, OpId, Position, RegionId,
    Status, SymbolId, TypeId, ValueId,
};
use passdock_core::boundary::host;

use super::script::{Odd, Step};
use super::session::{Held, Ids, MAX_OPS, Pass, State, answered, records_of, unwritten};
use super::text;
pub(super) use describe::{dim, type_desc};

/// What stands in the place for an answer before there is one.
const WAS: u32 = 0xDEAD_BEEF;

/// Calls a function of the tables on a function at hand.
pub(super) fn call(pass: &Pass, step: &Step, held: Held) {
    let ids = match held.state {
        State::Ended => Ids::unknown(),
        _ => Ids::of(held.function),
    };
    let call = Call {
        pass,
        step,
        held,
        f: pass.handle(step, held),
        ids,
        symbols: pass_symbols(pass),
    };
    // SAFETY: the handles are those that the host gave out, of this pass; what arguments point to is
    // there during the call, or null, or misaligned, or said to be longer than the host takes.
    let status = unsafe {
        match step.what() % 64 {
            what @ 0..=39 => call.edit(what),
            what => call.ask(what),
        }
    };
    answered(held, call.f, status);
}

/// The symbols of the module that a pass works on.
pub(super) fn pass_symbols(pass: &Pass) -> *const abi::Symbols {
    // SAFETY: the module's view is there while the pass runs.
    unsafe { (*pass.module.view).symbols }
}

/// Ends each region that lacks its end, with nothing.
pub(super) fn end_regions(function: FunctionRef) {
    // SAFETY: the view and its columns are there until the next edit; the handle hasn't ended.
    unsafe {
        let open: Vec<RegionId> = {
            let view = &*function.view;
            let ops = records_of::<abi::Op>(view.ops);
            let ends = |op: OpId| {
                ops.get(op.index())
                    .is_some_and(|op| matches!(op.name, abi::symbol::RETURN | abi::symbol::YIELD))
            };
            let regions = records_of::<abi::Region>(view.regions);
            let open = (0..)
                .zip(regions)
                .filter(|(_, region)| region.flags & abi::Region::DEAD == 0 && !ends(region.last));
            open.map(|(id, _)| RegionId(id)).collect()
        };
        let table = &*host().get().functions;
        for region in open {
            let nothing = abi::ResultsDesc {
                port_stride: size_of::<abi::PortDesc>() as u32,
                ..abi::ResultsDesc::EMPTY
            };
            table.set_results.expect("is there")(function.handle, region, &nothing);
        }
    }
}

/// Erases the scratch constants that are left.
pub(super) fn erase_scratch(function: FunctionRef) {
    // SAFETY: the view and its columns are there until the next edit; the handle hasn't ended.
    unsafe {
        let values = records_of::<abi::Value>((*function.view).values);
        let left = values.iter().filter(|value| {
            value.flags & abi::Value::SCRATCH != 0 && value.flags & abi::Value::DEAD == 0
        });
        let left: Vec<ConstId> = left.map(|value| ConstId(value.def)).collect();
        let table = &*host().get().functions;
        for constant in left {
            let status = table.erase_constant.expect("is there")(function.handle, constant);
            assert!(status.is_ok(), "scratch that stays: {status:?}");
        }
    }
}

/// A call that is about to be made.
struct Call<'c> {
    pass: &'c Pass,
    step: &'c Step,
    held: Held,
    f: *mut abi::Function,
    ids: Ids,
    symbols: *const abi::Symbols,
}

impl Call<'_> {
    fn is_large(&self) -> bool {
        self.ids.ops.0.len() as u32 > MAX_OPS || self.ids.ops.1 > 8 * MAX_OPS
    }

    fn place(&self) -> Position {
        match self.step.below(3) {
            0 => Position::end_of(self.ids.region(self.step)),
            1 => Position::before(self.ids.op(self.step)),
            _ => Position {
                region: self.ids.region(self.step),
                before: self.ids.op(self.step),
            },
        }
    }

    /// Calls `call` with the place for an answer.
    fn out<T: PartialEq + std::fmt::Debug + Clone>(
        &self,
        was: T,
        call: impl FnOnce(*mut T) -> Status,
    ) -> Status {
        // Room for one that is written a byte further on.
        let mut room = [was.clone(), was.clone()];
        let status = call(self.step.out(room.as_mut_ptr()));
        unwritten(status, &room[0], &was);
        assert_eq!(room[1], was, "written behind the answer");
        status
    }

    /// Edits.
    ///
    /// # Safety
    /// The handles live.
    unsafe fn edit(&self, what: u8) -> Status {
        let (step, ids, f) = (self.step, &self.ids, self.f);
        // SAFETY: the host's tables live for good; the caller's promise for the calls.
        unsafe {
            let t = &*host().get().functions;
            match what {
                0..=3 => {
                    if self.is_large() {
                        return Status::OK;
                    }
                    let parts = self.op_parts(false);
                    let desc = parts.desc(step);
                    let at = self.place();
                    let at = step.desc(&at);
                    self.out(OpId(WAS), |out| {
                        t.create_op.expect("is there")(f, step.desc(&desc), at, out)
                    })
                }
                4 | 5 => {
                    let parts = self.op_parts(true);
                    let desc = parts.desc(step);
                    let old = ids.op(step);
                    self.out(OpId(WAS), |out| {
                        t.replace_op.expect("is there")(f, old, step.desc(&desc), out)
                    })
                }
                6 => {
                    let values = ids.list_of(step, Ids::value);
                    let (at, count) = step.list(&values);
                    t.replace_op_with.expect("is there")(f, ids.op(step), at, count)
                }
                7 | 8 => t.erase_op.expect("is there")(f, ids.op(step)),
                9 => {
                    let at = self.place();
                    t.move_op.expect("is there")(f, ids.op(step), step.desc(&at))
                }
                10 | 11 => {
                    let index = step.pick(&[0, 1, 2, 3, 4, 1 << 24, u32::MAX]);
                    t.set_operand.expect("is there")(f, ids.op(step), index, ids.value(step))
                }
                12 => t.replace_uses.expect("is there")(f, ids.value(step), ids.value(step)),
                13..=15 => {
                    let attr = self.attr();
                    let desc = attr.desc(step);
                    t.set_attr.expect("is there")(f, ids.op(step), step.desc(&desc))
                }
                16 => {
                    let name = text::symbol(step, self.symbols);
                    t.remove_attr.expect("is there")(f, ids.op(step), name)
                }
                17 => t.set_value_type.expect("is there")(f, ids.value(step), ids.ty(step)),
                18 => t.set_value_name.expect("is there")(f, ids.value(step), text::text(step)),
                19 => {
                    let parts = type_desc(step, ids, self.symbols);
                    let desc = parts.desc(step);
                    self.out(TypeId(WAS), |out| {
                        t.add_type.expect("is there")(f, step.desc(&desc), out)
                    })
                }
                20 => {
                    let kind = abi::ExprKind(u32::from(step.byte() % 9));
                    let (lhs, rhs) = (dim(step, ids, self.symbols), dim(step, ids, self.symbols));
                    self.out(Dim::constant(-7), |out| {
                        t.add_expr.expect("is there")(f, kind, lhs, rhs, out)
                    })
                }
                21 | 22 => self.add_constant(t),
                23 => t.erase_constant.expect("is there")(f, ids.constant(step)),
                24 | 25 => self.clone_region(t),
                26 => {
                    let port = self.port();
                    self.out(ValueId(WAS), |out| {
                        t.add_arg.expect("is there")(f, ids.region(step), step.desc(&port), out)
                    })
                }
                27 | 28 => self.set_results(t),
                29 => {
                    let version = step.pick(&[1, 0, -1, 17, 2, i64::MAX, i64::MIN, 18]);
                    t.set_opset.expect("is there")(f, text::text(step), version)
                }
                30 => {
                    let locs = ids.list_of(step, Ids::loc);
                    let (at, count) = step.list(&locs);
                    self.out(LocId(WAS), |out| {
                        t.fuse_locs.expect("is there")(f, at, count, out)
                    })
                }
                31 => {
                    let args = ids.list_of(step, Ids::value);
                    let (at, count) = step.list(&args);
                    t.inline_region.expect("is there")(f, ids.region(step), at, count)
                }
                32 => t.set_loc.expect("is there")(f, ids.op(step), ids.loc(step)),
                33 => self.out(LocId(WAS), |out| {
                    t.name_loc.expect("is there")(f, text::text(step), out)
                }),
                34 => {
                    let names = ids.list_of(step, |_, step| text::symbol(step, self.symbols));
                    let dims: Vec<Dim> =
                        names.iter().map(|_| dim(step, ids, self.symbols)).collect();
                    let (names, count) = step.list(&names);
                    t.replace_symbols.expect("is there")(f, names, dims.as_ptr(), count)
                }
                35 => {
                    let args = ids.list_of(step, Ids::value);
                    let (at, count) = step.list(&args);
                    t.remove_args.expect("is there")(f, at, count)
                }
                36 => {
                    let args = ids.list_of(step, Ids::value);
                    let (at, count) = step.list(&args);
                    t.freeze_args.expect("is there")(f, at, count)
                }
                37 | 38 => self.clone_ops(t),
                _ => {
                    let source = self.pass.functions[step.below(self.pass.functions.len())];
                    let ty = ids.ty(step);
                    self.out(TypeId(WAS), |out| {
                        t.type_from.expect("is there")(f, source.function.handle, ty, out)
                    })
                }
            }
        }
    }

    unsafe fn add_constant(&self, t: &abi::FunctionApi) -> Status {
        let (step, ids) = (self.step, &self.ids);
        let data: Vec<u8> = (0..step.pick(&[8, 4, 0, 16, 24, 1, 3, 32]))
            .map(|_| step.byte())
            .collect();
        let (ptr, len) = step.list(&data);
        let desc = abi::ConstantDesc {
            struct_size: step.size(size_of::<abi::ConstantDesc>()),
            flags: u32::from(step.byte() % 3),
            ty: ids.ty(step),
            region: ids.region(step),
            name: text::text(step),
            data: Bytes { ptr, len },
        };
        // SAFETY: the caller's promise.
        self.out(ValueId(WAS), |out| unsafe {
            t.add_constant.expect("is there")(self.f, step.desc(&desc), out)
        })
    }

    unsafe fn set_results(&self, t: &abi::FunctionApi) -> Status {
        let (step, ids) = (self.step, &self.ids);
        let values = ids.list_of(step, Ids::value);
        let ports: Vec<abi::PortDesc> = values.iter().map(|_| self.port()).collect();
        let region = ids.region(step);
        let (at, count) = step.list(&values);
        let desc = abi::ResultsDesc {
            struct_size: step.size(size_of::<abi::ResultsDesc>()),
            port_stride: step.stride(size_of::<abi::PortDesc>()),
            values: at,
            ports: ports.as_ptr(),
            count,
            ..abi::ResultsDesc::EMPTY
        };
        // SAFETY: the caller's promise.
        unsafe { t.set_results.expect("is there")(self.f, region, step.desc(&desc)) }
    }

    /// The function to copy from: null for the one that is edited.
    fn source(&self) -> (FunctionRef, Ids) {
        let own = FunctionRef {
            handle: std::ptr::null_mut(),
            view: std::ptr::null(),
        };
        match self.step.below(3) {
            0 => {
                let all = &self.pass.functions;
                let other = all[self.step.below(all.len())];
                match other.state {
                    State::Ended => (other.function, Ids::unknown()),
                    _ => (other.function, Ids::of(other.function)),
                }
            }
            _ => match self.held.state {
                State::Ended => (own, Ids::unknown()),
                _ => (own, Ids::of(self.held.function)),
            },
        }
    }

    fn captures(&self, source: &Ids) -> Vec<[ValueId; 2]> {
        let step = self.step;
        self.ids
            .list_of(step, |ids, step| [source.value(step), ids.value(step)])
    }

    unsafe fn clone_region(&self, t: &abi::FunctionApi) -> Status {
        if self.is_large() {
            return Status::OK;
        }
        let step = self.step;
        let (source, from) = self.source();
        let region = from.region(step);
        let args = self.ids.list_of(step, Ids::value);
        let captures = self.captures(&from);
        let (args_at, arg_count) = step.list(&args);
        let mut results = [ValueId(WAS); 8];
        let desc = CloneDesc {
            struct_size: step.size(size_of::<CloneDesc>()),
            region,
            source,
            at: self.place(),
            args: args_at,
            arg_count,
            captures: captures.as_ptr(),
            capture_count: captures.len(),
            results: step.out(results.as_mut_ptr()),
            result_count: step.below(5),
            ..CloneDesc::EMPTY
        };
        // SAFETY: the caller's promise.
        let status = unsafe { t.clone_region.expect("is there")(self.f, step.desc(&desc)) };
        unwritten(status, &results, &[ValueId(WAS); 8]);
        status
    }

    unsafe fn clone_ops(&self, t: &abi::FunctionApi) -> Status {
        if self.is_large() {
            return Status::OK;
        }
        let step = self.step;
        let (source, from) = self.source();
        let ops = from.list_of(step, Ids::op);
        let captures = self.captures(&from);
        let (ops_at, op_count) = step.list(&ops);
        let mut results = [ValueId(WAS); 8];
        let desc = CloneOpsDesc {
            struct_size: step.size(size_of::<CloneOpsDesc>()),
            source,
            ops: ops_at,
            op_count,
            at: self.place(),
            captures: captures.as_ptr(),
            capture_count: captures.len(),
            results: step.out(results.as_mut_ptr()),
            result_count: step.below(5),
            ..CloneOpsDesc::EMPTY
        };
        // SAFETY: the caller's promise.
        let status = unsafe { t.clone_ops.expect("is there")(self.f, step.desc(&desc)) };
        unwritten(status, &results, &[ValueId(WAS); 8]);
        status
    }

    /// Questions, and what definitions do.
    ///
    /// # Safety
    /// The handles live.
    unsafe fn ask(&self, what: u8) -> Status {
        let (step, ids, f, cx) = (self.step, &self.ids, self.f, self.pass.cx);
        // SAFETY: the host's tables live for good; the caller's promise for the calls.
        unsafe {
            let t = &*host().get().functions;
            let o = &*host().get().ops;
            let op = ids.op(step);
            match what {
                52 | 53 => self.constants(t),
                54 => {
                    let name = text::symbol(step, self.symbols);
                    let named = t.names_function.expect("is there")(f, name);
                    assert!(named <= 1);
                    let traits = o.traits.expect("is there")(f, name);
                    std::hint::black_box(traits);
                    Status::NOT_FOUND
                }
                55 => o.infer.expect("is there")(cx, f, op),
                56 | 57 => {
                    let mut values = [ValueId(WAS); 4];
                    let (out, count) = (step.out(values.as_mut_ptr()), step.below(4));
                    let most = step.pick(&[1 << 16, 8, 0, u64::MAX]);
                    let desc = abi::EvaluateDesc {
                        struct_size: step.size(size_of::<abi::EvaluateDesc>()),
                        flags: u32::from(step.one_in(16)),
                        max_bytes: most,
                    };
                    let desc = step.desc(&desc);
                    let operands = ids.list_of(step, Ids::value);
                    let (at, given) = step.list(&operands);
                    let status = match what {
                        56 => o.evaluate.expect("is there")(cx, f, op, desc, out, count),
                        _ => {
                            let with = o.evaluate_with.expect("is there");
                            with(cx, f, op, at, given, desc, out, count)
                        }
                    };
                    unwritten(status, &values, &[ValueId(WAS); 4]);
                    status
                }
                58 => {
                    if self.is_large() {
                        return Status::NOT_FOUND;
                    }
                    self.bodies(o)
                }
                59 => {
                    let (mut dims, mut count) = (std::ptr::null(), usize::MAX);
                    let known = o.known_dims.expect("is there");
                    let status = known(f, ids.value(step), step.out(&mut dims), &mut count);
                    if status.is_ok() {
                        std::hint::black_box(std::slice::from_raw_parts(dims, count).to_vec());
                    }
                    status
                }
                60 => o.check_op.expect("is there")(cx, f, op),
                _ => {
                    let operands = ids.list_of(step, Ids::value);
                    let (at, given) = step.list(&operands);
                    o.infer_with.expect("is there")(cx, f, op, at, given)
                }
            }
        }
    }

    unsafe fn constants(&self, t: &abi::FunctionApi) -> Status {
        let (step, f) = (self.step, self.f);
        let (a, b): (ConstId, ConstId) = (self.ids.constant(step), self.ids.constant(step));
        // SAFETY: the caller's promise; a constant's bytes are there until the next edit.
        unsafe {
            match step.below(3) {
                0 => {
                    let mut bytes = Bytes::EMPTY;
                    let status = t.constant_data.expect("is there")(f, a, step.out(&mut bytes));
                    if status.is_ok() && bytes.len > 0 {
                        let read = std::slice::from_raw_parts(bytes.ptr, bytes.len);
                        std::hint::black_box((read.first(), read.last()));
                    }
                    status
                }
                1 => {
                    let mut hash = 0;
                    t.constant_hash.expect("is there")(f, a, step.out(&mut hash))
                }
                _ => {
                    let mut same = 7;
                    let equal = t.constants_equal.expect("is there");
                    let status = equal(f, a, b, step.out(&mut same));
                    assert!(!status.is_ok() || same <= 1);
                    assert!(a != b || !status.is_ok() || same == 1);
                    status
                }
            }
        }
    }
}

/// The handle of a function that the host has to refuse, since it is none.
pub(super) fn on_nothing(step: &Step, name: SymbolId) {
    if step.odd() == Odd::NullHandle {
        // SAFETY: the handle is null, which the host has to notice.
        unsafe {
            let t = &*host().get().functions;
            assert_eq!(
                t.names_function.expect("is there")(std::ptr::null(), name),
                0
            );
            let said = t.last_error.expect("is there")(std::ptr::null());
            assert_eq!(said.len, 0);
        }
    }
}
