//! [`OpKind`]: the kinds of ops for visitors, mutators and functors.

use passdock_abi::{symbol, OpId};

use crate::ir::Function;

/// The kind of an op, as [`Function::op_kind`] returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpKind {
    /// A call: an op with the name of a function of the module.
    Call,
    /// An `if` or an `onnx.If`.
    If,
    /// A `for`.
    For,
    /// A `while`.
    While,
    /// An `onnx.Loop`.
    Loop,
    /// An `onnx.Scan`.
    Scan,
    /// A `tuple`.
    Tuple,
    /// A `tuple_get`.
    TupleGet,
    /// `return` or `yield`.
    Terminator,
    /// Any other op.
    Other,
}

impl Function {
    /// Returns the kind of an op.
    #[track_caller]
    pub fn op_kind(&self, op: OpId) -> OpKind {
        let name = self.symbol(op);
        match name {
            symbol::IF => OpKind::If,
            symbol::FOR => OpKind::For,
            symbol::WHILE => OpKind::While,
            symbol::TUPLE => OpKind::Tuple,
            symbol::TUPLE_GET => OpKind::TupleGet,
            symbol::RETURN | symbol::YIELD => OpKind::Terminator,
            _ if self.raw_names_function(name) == Some(1) => OpKind::Call,
            // Few ops have regions, so few names are compared.
            _ if self.regions(op).is_empty() => OpKind::Other,
            _ => match self.text(name) {
                "onnx.If" => OpKind::If,
                "onnx.Loop" => OpKind::Loop,
                "onnx.Scan" => OpKind::Scan,
                _ => OpKind::Other,
            },
        }
    }
}
