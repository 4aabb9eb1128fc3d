//! The kinds of ops that visitors and mutators tell apart.

use passdock_abi::{symbol, OpId};

use crate::ir::Function;

/// The kind of an op, as [`Visitor`](crate::Visitor)s tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpKind {
    /// A call of a function of the module.
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
    /// Any op that the IR itself doesn't know.
    Other,
}

impl OpKind {
    /// The kind of an op of a function.
    pub fn of(f: &Function, op: OpId) -> OpKind {
        let name = f.symbol(op);
        match name {
            symbol::CALL => OpKind::Call,
            symbol::IF => OpKind::If,
            symbol::FOR => OpKind::For,
            symbol::WHILE => OpKind::While,
            symbol::TUPLE => OpKind::Tuple,
            symbol::TUPLE_GET => OpKind::TupleGet,
            symbol::RETURN | symbol::YIELD => OpKind::Terminator,
            _ if f.raw_names_function(name) == Some(1) => OpKind::Call,
            // Few ops have regions, so few names are looked at.
            _ if f.regions(op).is_empty() => OpKind::Other,
            _ => match f.text(name) {
                "onnx.If" => OpKind::If,
                "onnx.Loop" => OpKind::Loop,
                "onnx.Scan" => OpKind::Scan,
                _ => OpKind::Other,
            },
        }
    }
}
