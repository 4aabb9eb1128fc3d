//! The ops of a module, as the page draws them.

use passdock_abi::{OpId, ValueId};
use passdock_core::terminal::shortened;
use passdock_ir::text::{Pieces, type_text};
use passdock_ir::{Function, Module};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::queries::{is_present, node_names};

/// The most characters of an op's text.
const MAX_TEXT: usize = 600;
/// The most names of an op that came from several.
const MAX_NAMES: usize = 8;

/// A function, drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawnFunction {
    /// The function's name.
    pub name: String,
    /// Its values: arguments, constants, results.
    pub values: Vec<DrawnValue>,
    /// Its ops in program order, each before those in its regions.
    pub ops: Vec<DrawnOp>,
}

/// A value that an op takes or gives, drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawnValue {
    /// The value as the text has it.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: String,
    /// What defines it: an op's index, -1 for an argument, -2 for a constant.
    pub from: i64,
}

/// An op, drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DrawnOp {
    /// The op's kind.
    pub kind: String,
    /// The names of the nodes that it comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The op's line.
    pub text: String,
    /// The indices of the values that it takes.
    pub operands: Vec<u32>,
    /// The indices of the values that it gives.
    pub results: Vec<u32>,
    /// The index of the op that it is inside of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<u32>,
    /// What passes did with it.
    #[serde(flatten)]
    pub fate: OpFate,
}

/// What passes did with an op: they are numbers of [`super::PassTrail`]s.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpFate {
    /// The pass that made it; `None`: it was in the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<u32>,
    /// The passes that changed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<u32>,
    /// The pass that removed it: of ops of the first module alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u32>,
}

/// Draws the functions of a module. `fate` says what became of each op.
pub(crate) fn draw(
    module: &Module,
    mut fate: impl FnMut(&Function, OpId) -> OpFate,
) -> Vec<DrawnFunction> {
    let each = module.functions();
    each.map(|function| draw_function(function, &mut fate))
        .collect()
}

fn draw_function(f: &Function, fate: &mut impl FnMut(&Function, OpId) -> OpFate) -> DrawnFunction {
    let pieces = Pieces::new(f);
    let ids: Vec<OpId> = f.walk(f.body()).collect();
    let places = ids.iter().enumerate().map(|(at, id)| (*id, at as u32));
    let places: FxHashMap<OpId, u32> = places.collect();
    let mut values = Values {
        f,
        pieces: &pieces,
        places: &places,
        known: FxHashMap::default(),
        drawn: Vec::new(),
    };
    // A function's arguments come first, also those that nobody takes.
    f.args(f.body()).for_each(|arg| _ = values.place(arg));
    let mut ops = Vec::new();
    for &id in &ids {
        let op = f.op(id);
        let operands = f.operands(id).iter().map(|slot| slot.value);
        let operands = operands.filter(|value| value.is_some());
        let operands = operands.map(|value| values.place(value)).collect();
        let results = f.results(id).filter(|&value| is_present(f, value));
        let results = results.map(|value| values.place(value)).collect();
        let names = node_names(f, op.loc).take(MAX_NAMES);
        let around = f.region(op.parent).parent;
        ops.push(DrawnOp {
            kind: f.text(op.name).to_owned(),
            names: names.map(str::to_owned).collect(),
            text: shortened(pieces.op(id), MAX_TEXT),
            operands,
            results,
            inside: around.option().and_then(|op| places.get(&op).copied()),
            fate: fate(f, id),
        });
    }
    DrawnFunction {
        name: f.text(f.name()).to_owned(),
        values: values.drawn,
        ops,
    }
}

/// The values of a function that were met.
struct Values<'f> {
    f: &'f Function,
    pieces: &'f Pieces<'f>,
    places: &'f FxHashMap<OpId, u32>,
    known: FxHashMap<ValueId, u32>,
    drawn: Vec<DrawnValue>,
}

impl Values<'_> {
    fn place(&mut self, value: ValueId) -> u32 {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let defined = self.f.defining_op(value);
        let defined = defined.and_then(|op| self.places.get(&op));
        let from = match defined {
            Some(op) => i64::from(*op),
            None if self.f.as_constant(value).is_some() => -2,
            None => -1,
        };
        let place = self.drawn.len() as u32;
        self.drawn.push(DrawnValue {
            name: shortened(self.pieces.value(value), MAX_TEXT),
            ty: type_text(self.f, self.f.value(value).ty),
            from,
        });
        self.known.insert(value, place);
        place
    }
}
