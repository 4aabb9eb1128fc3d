//! The kinds of ops that visitors and mutators tell apart.

use passdock_abi::{symbol, OpId};

use crate::ir::Function;

/// The kind of an op.
pub(crate) enum Kind {
    Call,
    If,
    For,
    While,
    Loop,
    Scan,
    Tuple,
    TupleGet,
    Terminator,
    Other,
}

impl Kind {
    pub(crate) fn of(f: &Function, op: OpId) -> Kind {
        let name = f.symbol(op);
        match name {
            symbol::CALL => Kind::Call,
            symbol::IF => Kind::If,
            symbol::FOR => Kind::For,
            symbol::WHILE => Kind::While,
            symbol::TUPLE => Kind::Tuple,
            symbol::TUPLE_GET => Kind::TupleGet,
            symbol::RETURN | symbol::YIELD => Kind::Terminator,
            _ if f.raw.names_function(name) => Kind::Call,
            // Few ops have regions, so few names are looked at.
            _ if f.regions(op).is_empty() => Kind::Other,
            _ => match f.text(name) {
                "onnx.If" => Kind::If,
                "onnx.Loop" => Kind::Loop,
                "onnx.Scan" => Kind::Scan,
                _ => Kind::Other,
            },
        }
    }
}
