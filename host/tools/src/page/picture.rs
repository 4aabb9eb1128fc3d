//! The ops of a module in the form that the HTML report draws.

use passdock_abi::{OpId, ValueId};
use passdock_core::terminal::shortened;
use passdock_ir::text::{Pieces, type_text};
use passdock_ir::{Function, Module};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::queries::node_names;

/// The maximum length of an op's text, in characters.
const MAX_TEXT: usize = 600;
/// The maximum number of node names of an op.
const MAX_NAMES: usize = 8;

/// A function in an HTML report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawnFunction {
    /// The function's name.
    pub name: String,
    /// The function's values: arguments, constants and results.
    pub values: Vec<DrawnValue>,
    /// The function's ops in program order; an op precedes those in its regions.
    pub ops: Vec<DrawnOp>,
}

/// An operand or result in an HTML report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnValue {
    /// The value as IR text spells it.
    pub name: String,
    /// The value's type.
    #[serde(rename = "type")]
    pub ty: String,
    /// The index of the defining op; -1 for an argument, -2 for a constant.
    pub from: i64,
}

/// An op in an HTML report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawnOp {
    /// The op's kind.
    pub kind: String,
    /// The names of the ONNX nodes that the op comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The op's line in IR text.
    pub text: String,
    /// The indices of the operands in [`DrawnFunction::values`].
    pub operands: Vec<u32>,
    /// The indices of the results in [`DrawnFunction::values`].
    pub results: Vec<u32>,
    /// The index of the op whose region contains this op.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<u32>,
    /// The passes that created, changed or removed the op.
    #[serde(flatten)]
    pub history: OpHistory,
}

/// The passes that affected an op, as indices of [`super::PassTrail`]s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpHistory {
    /// The pass that created the op; `None` if it was in the first module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<u32>,
    /// The passes that changed the op.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<u32>,
    /// The pass that removed the op; only for ops of the first module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
}

/// Converts the functions of a module. `history` returns the fate of each op.
pub(crate) fn draw(
    module: &Module,
    mut history: impl FnMut(&Function, OpId) -> OpHistory,
) -> Vec<DrawnFunction> {
    let each = module.functions();
    each.map(|function| draw_function(function, &mut history))
        .collect()
}

fn draw_function(
    f: &Function,
    history: &mut impl FnMut(&Function, OpId) -> OpHistory,
) -> DrawnFunction {
    let pieces = Pieces::new(f);
    let ids: Vec<OpId> = f.walk(f.body()).collect();
    let indices = ids.iter().enumerate().map(|(at, id)| (*id, at as u32));
    let indices: FxHashMap<OpId, u32> = indices.collect();
    let mut values = Values {
        f,
        pieces: &pieces,
        indices: &indices,
        known: FxHashMap::default(),
        drawn: Vec::new(),
    };
    // All parameters come first, including unused ones.
    f.args(f.body()).for_each(|arg| _ = values.index(arg));
    let mut ops = Vec::new();
    for &id in &ids {
        let op = f.op(id);
        let operands = f.operands(id).iter().map(|slot| slot.value);
        let operands = operands.filter(|value| value.is_some());
        let operands = operands.map(|value| values.index(value)).collect();
        let results = f.results(id).filter(|&value| f.is_present(value));
        let results = results.map(|value| values.index(value)).collect();
        let names = node_names(f, op.loc).take(MAX_NAMES);
        let around = f.region(op.parent).parent;
        ops.push(DrawnOp {
            kind: f.text(op.name).to_owned(),
            names: names.map(str::to_owned).collect(),
            text: shortened(pieces.op(id), MAX_TEXT),
            operands,
            results,
            inside: around.option().and_then(|op| indices.get(&op).copied()),
            history: history(f, id),
        });
    }
    DrawnFunction {
        name: f.text(f.name()).to_owned(),
        values: values.drawn,
        ops,
    }
}

/// The values of a function that were converted so far.
struct Values<'f> {
    f: &'f Function,
    pieces: &'f Pieces<'f>,
    indices: &'f FxHashMap<OpId, u32>,
    known: FxHashMap<ValueId, u32>,
    drawn: Vec<DrawnValue>,
}

impl Values<'_> {
    fn index(&mut self, value: ValueId) -> u32 {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let defined = self.f.defining_op(value);
        let defined = defined.and_then(|op| self.indices.get(&op));
        let from = match defined {
            Some(op) => i64::from(*op),
            None if self.f.as_constant(value).is_some() => -2,
            None => -1,
        };
        let index = self.drawn.len() as u32;
        self.drawn.push(DrawnValue {
            name: shortened(self.pieces.value(value), MAX_TEXT),
            ty: type_text(self.f, self.f.value(value).ty),
            from,
        });
        self.known.insert(value, index);
        index
    }
}
