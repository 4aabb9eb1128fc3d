//! The report: plain data, and its counts.

use passdock_ir::Function;
use serde::Serialize;

pub use super::content::Numbers;

/// The differences of two modules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// Key-value pairs of the module: a model's header.
    pub model: Vec<Setting>,
    /// The functions that differ: those of the second module in its order, then those it doesn't
    /// have.
    pub functions: Vec<FunctionDiff>,
}

/// Whether something is only in the second module, only in the first, or in both and not the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Something that is only in the second.
    Added,
    /// Something that is only in the first.
    Removed,
    /// Something that is in both, and not the same.
    #[default]
    Changed,
}

/// Something with a name and a value, as text; `None` where it isn't.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The setting's name: `onnx.ir_version`, `opset ""`, `attribute SkipOptimization`.
    pub name: String,
    /// The first module's.
    pub old: Option<String>,
    /// The second one's.
    pub new: Option<String>,
}

/// The differences of two functions of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FunctionDiff {
    /// The function's canonical name.
    pub name: String,
    /// The kind of difference; a function that is only in one module has only its number of ops.
    pub change: Change,
    /// The number of ops in the first module, without terminators.
    pub ops_before: usize,
    /// The number of ops in the second.
    pub ops_after: usize,
    /// Kind, opset versions, attributes.
    pub settings: Vec<Setting>,
    /// Parameters and results.
    pub interface: Vec<PortDiff>,
    /// Ops, in program order.
    pub ops: Vec<OpDiff>,
    /// Constants, in program order.
    pub constants: Vec<ConstantDiff>,
    /// Values inside with another type.
    pub types: Vec<Renaming>,
    /// Values inside with another name.
    pub renamed: Vec<Renaming>,
    /// Ops that come from another ONNX node than before, by the nodes' names.
    pub relocated: Vec<Relocation>,
    /// Ops at another position among the others.
    pub moved: Vec<String>,
    /// Whether the order of ops has a meaning here, so that `moved` is a difference.
    pub ordered: bool,
}

/// A difference at a parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortDiff {
    /// `input` or `output`.
    pub port: &'static str,
    /// The port's position; the new one, if it was moved.
    pub index: usize,
    /// The port's name, in the second module if it is there.
    pub name: String,
    /// The difference.
    #[serde(flatten)]
    pub what: PortChange,
}

/// The kinds of differences at a parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "what")]
pub enum PortChange {
    /// The port is new.
    Added {
        /// The port's type.
        ty: String,
    },
    /// The port is gone.
    Removed {
        /// The port's type.
        ty: String,
    },
    /// The port has another name.
    Renamed {
        /// The name before.
        old: Option<String>,
        /// The name now.
        new: Option<String>,
    },
    /// The port is at another position among the others.
    Moved {
        /// The position before, from 0.
        old: usize,
        /// The position now.
        new: usize,
    },
    /// The port has another type.
    Type {
        /// The type before.
        old: String,
        /// The type now.
        new: String,
    },
    /// The parameter has another default.
    Default {
        /// The default before.
        old: Option<String>,
        /// The default now.
        new: Option<String>,
    },
    /// The result is another value.
    Value {
        /// The value before.
        old: String,
        /// The value now.
        new: String,
    },
}

/// An op that was added, removed or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OpDiff {
    /// The kind of difference.
    pub change: Change,
    /// The op's canonical name, in the second module if it is there.
    pub kind: String,
    /// The op's line as IR text has it, cut where it gets long.
    pub op: String,
    /// The ONNX node it comes from.
    pub location: Option<String>,
    /// The region that it is in; `None`: the function's body.
    pub inside: Option<String>,
    /// The added constant that replaces its result: it was folded.
    pub folded: Option<String>,
    /// The number of ops that came or went with it, in its regions; those aren't listed themselves.
    pub nested: usize,
    /// Operands of other ops, and results, that became one of its results, or no longer are one.
    pub rewired: Vec<Rewired>,
    /// The changes of the op.
    pub changes: Vec<OpChange>,
}

/// An operand that came or went with an op or a constant. It isn't a change of its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rewired {
    /// The user: an op as [`OpDiff::op`] begins, or a result.
    pub user: String,
    /// The slot.
    pub operand: usize,
    /// The value before; `None`: it was left out.
    pub old: Option<String>,
    /// The value now.
    pub new: Option<String>,
}

/// One thing that changed in an op.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "what")]
pub enum OpChange {
    /// Another operator.
    Kind {
        /// The name before.
        old: String,
        /// The name now.
        new: String,
    },
    /// An attribute.
    Attribute {
        /// The attribute's name.
        name: String,
        /// The value before; `None`: there was none.
        old: Option<String>,
        /// The value now.
        new: Option<String>,
    },
    /// An operand.
    Operand {
        /// The slot.
        index: usize,
        /// The value before; `None`: it was left out.
        old: Option<String>,
        /// The value now.
        new: Option<String>,
    },
    /// A result that is left out in one of the two.
    Result {
        /// The result's index.
        index: usize,
        /// The value before; `None`: it was left out.
        old: Option<String>,
        /// The value now.
        new: Option<String>,
    },
    /// A region that is in one of the two only.
    Region {
        /// The region's name.
        name: String,
        /// Whether it was added or removed.
        change: Change,
        /// The number of its ops.
        ops: usize,
    },
    /// An argument of a region that is in one of the two only.
    Argument {
        /// The region's name.
        region: String,
        /// The argument's index.
        index: usize,
        /// Whether it was added or removed.
        change: Change,
    },
}

/// A constant that was added, removed, or has other content or another type.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConstantDiff {
    /// The kind of difference.
    pub change: Change,
    /// The constant's name, in the second module if it is there.
    pub name: String,
    /// The region that it is in; `None`: the function's body.
    pub inside: Option<String>,
    /// Type and data before, short.
    pub old: Option<String>,
    /// Type and data now.
    pub new: Option<String>,
    /// The difference of the numbers, if the type is the same.
    pub numbers: Option<Numbers>,
    /// The removed op whose result it replaces.
    pub replaces: Option<String>,
    /// Whether all ops that use it came or went with it.
    pub with_users: bool,
    /// Operands that became it, or no longer are it.
    pub rewired: Vec<Rewired>,
}

/// A value with another name or another type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renaming {
    /// The value's name in the second module.
    pub value: String,
    /// Before; `None`: it had no name.
    pub old: Option<String>,
    /// Now.
    pub new: Option<String>,
}

/// An op whose ONNX node has another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relocation {
    /// The op.
    pub op: String,
    /// The node's name before, or the names.
    pub old: Option<String>,
    /// The names now.
    pub new: Option<String>,
}

/// The counts of the differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Key-value pairs of the model; kinds, opset versions and attributes of functions.
    pub settings: usize,
    /// Functions that are only in the second module.
    pub functions_added: usize,
    /// Functions that are only in the first.
    pub functions_removed: usize,
    /// Differences of parameters and results.
    pub interface: usize,
    /// Ops that are only in the second; those in regions of listed ops aren't counted.
    pub ops_added: usize,
    /// Ops that are only in the first.
    pub ops_removed: usize,
    /// Ops that changed.
    pub ops_changed: usize,
    /// Constants that are only in the second.
    pub constants_added: usize,
    /// Constants that are only in the first.
    pub constants_removed: usize,
    /// Constants with another content or type.
    pub constants_changed: usize,
    /// Values with another type.
    pub types: usize,
    /// Values that have another name.
    pub renamed: usize,
    /// Ops whose ONNX node has another name.
    pub relocated: usize,
    /// Ops at another position where order has a meaning.
    pub moved: usize,
}

impl Diff {
    /// Whether nothing differs that has a meaning: the order of ops in a graph has none.
    pub fn is_same(&self) -> bool {
        self.summary() == Summary::default()
    }

    /// Counts the differences.
    pub fn summary(&self) -> Summary {
        let mut sum = Summary {
            settings: self.model.len(),
            ..Summary::default()
        };
        for function in &self.functions {
            match function.change {
                Change::Added => sum.functions_added += 1,
                Change::Removed => sum.functions_removed += 1,
                Change::Changed => function.add_to(&mut sum),
            }
        }
        sum
    }
}

impl FunctionDiff {
    /// Creates the report of a function without differences.
    pub(super) fn new(f: &Function) -> FunctionDiff {
        FunctionDiff {
            name: f.text(f.name()).to_owned(),
            ..FunctionDiff::default()
        }
    }

    /// Counts the differences of one function.
    pub fn summary(&self) -> Summary {
        let mut sum = Summary::default();
        self.add_to(&mut sum);
        sum
    }

    fn add_to(&self, sum: &mut Summary) {
        sum.settings += self.settings.len();
        sum.interface += self.interface.len();
        sum.types += self.types.len();
        sum.renamed += self.renamed.len();
        sum.relocated += self.relocated.len();
        sum.moved += if self.ordered { self.moved.len() } else { 0 };
        let ops = |change| self.ops.iter().filter(|op| op.change == change).count();
        sum.ops_added += ops(Change::Added);
        sum.ops_removed += ops(Change::Removed);
        sum.ops_changed += ops(Change::Changed);
        let constants = |change| self.constants.iter().filter(|c| c.change == change).count();
        sum.constants_added += constants(Change::Added);
        sum.constants_removed += constants(Change::Removed);
        sum.constants_changed += constants(Change::Changed);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.summary() == Summary::default() && self.moved.is_empty()
    }
}
