//! `FunctionApi`: reading and editing one function.
//!
//! SAFETY for all `unsafe` below: all pointers in a description are valid during the call, by the plugin ABI.

use passdock_abi as abi;
use passdock_abi::{
    Bytes, ConstId, Dim, ExprKind, LocId, OpId, RegionId, Status, SymbolId, TypeId, ValueId,
};
use passdock_ir::{ConstantData, Edit, EditFailure, Function, MAX_OPSETS, Payload, name};

use super::describe;
use crate::boundary::session::{
    ContextSession, FunctionSession, FunctionState, input, with_current,
};

impl FunctionState {
    pub(in crate::boundary) fn constant_data(&mut self, id: ConstId) -> Edit<Bytes> {
        let bytes = Bytes::new(self.live_data(id)?.bytes().map_err(io)?);
        Ok(match self.loan() {
            None => bytes,
            // SAFETY: the bytes are those of the constant.
            Some(loan) => unsafe { loan.columns.bytes(bytes) },
        })
    }

    pub(in crate::boundary) fn constant_hash(&mut self, id: ConstId) -> Edit<u64> {
        self.live_data(id)?.hash().map_err(io)
    }

    pub(in crate::boundary) fn constants_equal(&mut self, a: ConstId, b: ConstId) -> Edit<u32> {
        let same = self.live_data(a)?.same(self.live_data(b)?);
        same.map(u32::from).map_err(io)
    }

    /// Returns the data of a constant, or an error if the function has no such constant.
    fn live_data(&self, id: ConstId) -> Edit<&ConstantData> {
        let function = self.read()?;
        function.live_constant(id)?;
        Ok(function.constant_data(id))
    }

    pub(in crate::boundary) unsafe fn create_op(
        &mut self,
        desc: &abi::OpDesc,
        at: &abi::Position,
    ) -> Edit<OpId> {
        self.check_operator(desc.name)?;
        let function = self.edit()?;
        // SAFETY: see above.
        unsafe { describe::with_op(desc, |new| function.create_op(new, describe::position(at))) }
    }

    pub(in crate::boundary) unsafe fn replace_op(
        &mut self,
        old: OpId,
        desc: &abi::OpDesc,
    ) -> Edit<OpId> {
        // A call may be replaced with another call of the same function.
        if self.read()?.live_op(old)?.name != desc.name {
            self.check_operator(desc.name)?;
        }
        let function = self.edit()?;
        // SAFETY: see above.
        unsafe { describe::with_op(desc, |new| function.replace_op(old, new)) }
    }

    /// Rejects an operator that the module has a function of, because the op would call the function.
    fn check_operator(&mut self, operator: SymbolId) -> Edit {
        if self.names_function(operator)? {
            let text = self.read()?.symbols().text(operator);
            let is_operator = |context: &ContextSession<'_>| context.op_defs().knows(text, None);
            if with_current(is_operator).unwrap_or(false) {
                return Err(EditFailure::rejected(format!(
                    "the model has a function @{text}, which an op of the operator `{text}` would call"
                )));
            }
        }
        Ok(())
    }

    /// Whether the module, in its current state, has a function of this name.
    fn names_function(&mut self, name: SymbolId) -> Edit<bool> {
        if let Some(module) = self.own_module() {
            return Ok(module.function(name).is_some());
        }
        let symbols = self.read()?.symbols();
        let is_function = with_current(|context| context.names_function(symbols, name));
        Ok(is_function.unwrap_or(false))
    }

    pub(in crate::boundary) fn move_op(&mut self, op: OpId, at: &abi::Position) -> Edit {
        self.edit()?.move_op(op, describe::position(at))
    }

    pub(in crate::boundary) fn set_operand(
        &mut self,
        op: OpId,
        index: u32,
        value: ValueId,
    ) -> Edit {
        self.edit()?.set_operand(op, index as usize, value)
    }

    pub(in crate::boundary) unsafe fn set_attr(&mut self, op: OpId, desc: &abi::AttrDesc) -> Edit {
        let function = self.edit()?;
        // SAFETY: see above.
        unsafe { describe::with_attr(desc, |new| function.set_attr(op, new)) }
    }

    pub(in crate::boundary) unsafe fn add_type(&mut self, desc: &abi::TypeDesc) -> Edit<TypeId> {
        // SAFETY: see above.
        unsafe { describe::add_type(self.edit()?, desc) }
    }

    pub(in crate::boundary) fn add_expr(
        &mut self,
        kind: ExprKind,
        lhs: Dim,
        rhs: Dim,
    ) -> Edit<Dim> {
        checked_expr(self.edit()?, kind, lhs, rhs)
    }

    pub(in crate::boundary) unsafe fn add_constant(
        &mut self,
        desc: &abi::ConstantDesc,
    ) -> Edit<ValueId> {
        // SAFETY: see above.
        let (name, bytes) = unsafe {
            (
                input::text(desc.name, "name of a constant")?,
                input::list(desc.data.ptr, desc.data.len, "bytes of a constant")?,
            )
        };
        let function = self.edit()?;
        let data = match desc.flags & abi::ConstantDesc::SPLAT {
            0 => ConstantData::inline(bytes),
            _ => splat(function, desc.ty, bytes)?,
        };
        function.add_constant(desc.ty, data, desc.region, name)
    }

    pub(in crate::boundary) unsafe fn add_arg(
        &mut self,
        region: RegionId,
        port: &abi::PortDesc,
    ) -> Edit<ValueId> {
        // SAFETY: see above.
        let port = unsafe { describe::new_port(port)? };
        self.edit()?.add_arg(region, &port)
    }

    pub(in crate::boundary) unsafe fn set_results(
        &mut self,
        region: RegionId,
        desc: &abi::ResultsDesc,
    ) -> Edit {
        // SAFETY: see above.
        let (values, ports) = unsafe {
            (
                input::list(desc.values, desc.count, "results")?,
                describe::new_ports(desc.ports, desc.count, desc.port_stride)?,
            )
        };
        self.edit()?.set_results(region, values, &ports)
    }

    pub(in crate::boundary) fn set_opset(&mut self, text: &str, version: i64) -> Edit {
        if version < 0 {
            let message = format!("negative version {version} of domain `{text}`");
            return Err(EditFailure::invalid(message));
        }
        let function = self.edit()?;
        let text = name::domain(text);
        let domain = function.symbols().intern(text);
        match function.opset(domain) {
            // Op names start with `onnx.`, so `onnx` is easily mistaken for the domain.
            None if text == "onnx" => Err(EditFailure::invalid(
                "invalid domain `onnx`: `set_opset` expects \"\" for the domain of ONNX",
            )),
            _ if version == 0 => function.remove_opset(domain),
            Some(current) if current == version => Ok(()),
            Some(current) if current > version => Err(EditFailure::rejected(format!(
                "cannot lower the function's version of domain `{}` from {current} to {version}: its \
                 ops may need the later version",
                if text.is_empty() { "onnx" } else { text }
            ))),
            None if function.opsets().len() >= MAX_OPSETS => Err(EditFailure::rejected(format!(
                "cannot add domain `{text}`: the function has the maximum of {MAX_OPSETS} domains"
            ))),
            _ => {
                function.set_opset(domain, version);
                Ok(())
            }
        }
    }

    pub(in crate::boundary) fn fuse_locs(&mut self, locs: &[LocId]) -> Edit<LocId> {
        let function = self.read()?;
        locs.iter().try_for_each(|&loc| function.check_loc(loc))?;
        Ok(self.edit()?.fuse_locs(locs))
    }

    pub(in crate::boundary) fn set_loc(&mut self, op: OpId, loc: LocId) -> Edit {
        self.read()?.check_loc(loc)?;
        self.edit()?.set_loc(op, loc)
    }

    pub(in crate::boundary) fn name_loc(&mut self, name: &str) -> Edit<LocId> {
        Ok(self.edit()?.add_name_loc(name))
    }

    pub(in crate::boundary) fn replace_symbols(
        &mut self,
        symbols: &[SymbolId],
        dims: &[Dim],
    ) -> Edit {
        let function = self.edit()?;
        describe::check_dims(function, dims)?;
        let pairs: Vec<_> = symbols.iter().copied().zip(dims.iter().copied()).collect();
        function.replace_symbols(&pairs)?;
        // The inferred dims refer to the old symbols.
        self.forget_known_dims();
        Ok(())
    }
}

impl FunctionSession {
    pub(in crate::boundary) fn names_function(&self, name: SymbolId) -> u32 {
        let names_function = self.with(|state| state.names_function(name));
        u32::from(names_function.unwrap_or(false))
    }
}

fn io(message: String) -> EditFailure {
    EditFailure {
        status: Status::IO,
        message,
    }
}

/// Interns a dim expression after checking its parts.
pub(in crate::boundary) fn checked_expr(
    f: &mut Function,
    kind: ExprKind,
    lhs: Dim,
    rhs: Dim,
) -> Edit<Dim> {
    if !(ExprKind::ADD.0..=ExprKind::BROADCAST.0).contains(&kind.0) {
        return Err(input::unknown("dim expression", kind.0));
    }
    describe::check_dims(f, &[lhs, rhs])?;
    f.add_expr(kind, lhs, rhs)
}

fn splat(f: &Function, ty: TypeId, element: &[u8]) -> Edit<std::sync::Arc<ConstantData>> {
    let count = f.static_shape(ty).and_then(|shape| {
        let dims = shape.iter().map(|&dim| u64::try_from(dim).ok());
        dims.reduce(|a, b| a?.checked_mul(b?)).unwrap_or(Some(1))
    });
    let Some(count) = count else {
        let message = "expected a shape of constant dims for a constant";
        return Err(EditFailure::invalid(message));
    };
    Ok(ConstantData::new(Payload::Splat {
        dtype: f.live_type(ty)?.dtype,
        element: element.into(),
        count,
    }))
}
