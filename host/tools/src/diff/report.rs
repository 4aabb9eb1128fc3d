//! The report of a comparison, as plain data, and its counts.

use passdock_ir::Function;
use serde::Serialize;

pub use super::content::NumericDiff;

/// The differences of two modules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Diff {
    /// The module's metadata: for a model from ONNX, its header.
    pub metadata: Vec<Setting>,
    /// The functions that differ: those of the second module in its order, then removed ones.
    pub functions: Vec<FunctionDiff>,
}

/// The kind of a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Only the second module has it.
    Added,
    /// Only the first module has it.
    Removed,
    /// Both modules have it, with differences.
    #[default]
    Changed,
}

/// A named value in both modules, as text; `None` where it is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The setting's name: `onnx.ir_version`, `opset ""`, `attribute SkipOptimization`.
    pub name: String,
    /// The value in the first module.
    pub before: Option<String>,
    /// The value in the second module.
    pub after: Option<String>,
}

/// The differences of two functions of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FunctionDiff {
    /// The function's canonical name.
    pub name: String,
    /// The kind of difference. For a function that only one module has, only the numbers of ops are set.
    pub change: Change,
    /// The number of ops in the first module, without terminators.
    pub ops_before: usize,
    /// The number of ops in the second.
    pub ops_after: usize,
    /// Differences of kind, opset versions and attributes.
    pub settings: Vec<Setting>,
    /// Differences of parameters and results.
    pub interface: Vec<PortDiff>,
    /// Differences of ops, in program order.
    pub ops: Vec<OpDiff>,
    /// Differences of constants, in program order.
    pub constants: Vec<ConstantDiff>,
    /// Inner values with a new type.
    pub retyped: Vec<Renaming>,
    /// Inner values with a new name.
    pub renamed: Vec<Renaming>,
    /// Ops that come from another ONNX node than before, according to the nodes' names.
    pub relocated: Vec<Relocation>,
    /// Ops at another position relative to the others.
    pub moved: Vec<String>,
    /// Whether the order of ops has a meaning in this function, so that `moved` is a difference.
    pub ordered: bool,
}

/// A difference of a parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortDiff {
    /// `input` or `output`.
    pub port: &'static str,
    /// The port's index; the new one, if it was moved.
    pub index: usize,
    /// The port's name, from the second module unless the port was removed.
    pub name: String,
    /// The difference.
    #[serde(flatten)]
    pub change: PortChange,
}

/// The kinds of differences of a parameter or a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "change")]
pub enum PortChange {
    /// The port was added.
    Added {
        /// The port's type.
        #[serde(rename = "type")]
        ty: String,
    },
    /// The port was removed.
    Removed {
        /// The port's type.
        #[serde(rename = "type")]
        ty: String,
    },
    /// The port was renamed.
    Renamed {
        /// The name before.
        before: Option<String>,
        /// The name now.
        after: Option<String>,
    },
    /// The port is at another position relative to the others.
    Moved {
        /// The 0-based index before.
        before: usize,
        /// The 0-based index after.
        after: usize,
    },
    /// The port has another type.
    Type {
        /// The type before.
        before: String,
        /// The type now.
        after: String,
    },
    /// The parameter has another default.
    Default {
        /// The default before.
        before: Option<String>,
        /// The default now.
        after: Option<String>,
    },
    /// The result is another value.
    Value {
        /// The value before.
        before: String,
        /// The value now.
        after: String,
    },
}

/// An op that was added, removed or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OpDiff {
    /// The kind of difference.
    pub change: Change,
    /// The op's canonical name, from the second module unless the op was removed.
    pub kind: String,
    /// The op's line in IR text, shortened.
    pub op: String,
    /// The ONNX node that the op comes from.
    pub location: Option<String>,
    /// The region that contains the op; `None`: the function's body.
    pub region: Option<String>,
    /// The added constant that replaces the op's result, if the op was folded.
    pub folded: Option<String>,
    /// The number of ops in the regions of an added or removed op. They aren't listed themselves.
    pub nested: usize,
    /// Operands of other ops, and results, that became or stopped being a result of this op.
    pub rewired: Vec<Rewired>,
    /// The changes of the op.
    pub changes: Vec<OpChange>,
}

/// An operand that changed because a node was added or removed. It isn't a change of its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rewired {
    /// The user: the beginning of [`OpDiff::op`], or a result of the function.
    pub user: String,
    /// The index of the operand.
    pub operand: usize,
    /// The value before; `None` if the operand was omitted.
    pub before: Option<String>,
    /// The value after.
    pub after: Option<String>,
}

/// One change of an op.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "property")]
pub enum OpChange {
    /// The op is another operator.
    Kind {
        /// The name before.
        before: String,
        /// The name now.
        after: String,
    },
    /// An attribute was added, removed or changed.
    Attribute {
        /// The attribute's name.
        name: String,
        /// The value before; `None` if the attribute was absent.
        before: Option<String>,
        /// The value now.
        after: Option<String>,
    },
    /// An operand changed.
    Operand {
        /// The index of the operand.
        index: usize,
        /// The value before; `None` if the operand was omitted.
        before: Option<String>,
        /// The value now.
        after: Option<String>,
    },
    /// A result is omitted in one of the two ops.
    Result {
        /// The result's index.
        index: usize,
        /// The value before; `None` if the result was omitted.
        before: Option<String>,
        /// The value now.
        after: Option<String>,
    },
    /// Only one of the two ops has the region.
    Region {
        /// The region's name.
        name: String,
        /// Whether it was added or removed.
        change: Change,
        /// The number of its ops.
        ops: usize,
    },
    /// Only one of the two regions has the argument.
    Argument {
        /// The region's name.
        region: String,
        /// The argument's index.
        index: usize,
        /// Whether it was added or removed.
        change: Change,
    },
}

/// A constant that was added or removed, or whose content or type changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConstantDiff {
    /// The kind of difference.
    pub change: Change,
    /// The constant's name, from the second module unless the constant was removed.
    pub name: String,
    /// The region that contains the constant; `None`: the function's body.
    pub region: Option<String>,
    /// The type and data before, shortened.
    pub before: Option<String>,
    /// The type and data after, shortened.
    pub after: Option<String>,
    /// The numerical difference, if the type is the same.
    pub numeric_diff: Option<NumericDiff>,
    /// The removed op whose result it replaces.
    pub replaces: Option<String>,
    /// Whether all ops that use the constant were added or removed with it.
    pub with_users: bool,
    /// Operands that became or stopped being this constant.
    pub rewired: Vec<Rewired>,
}

/// A value with a new name or a new type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renaming {
    /// The value's name in the second module.
    pub value: String,
    /// The name or type before; `None` if there was none.
    pub before: Option<String>,
    /// The name or type after.
    pub after: Option<String>,
}

/// An op whose ONNX node was renamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relocation {
    /// The op.
    pub op: String,
    /// The nodes' names before.
    pub before: Option<String>,
    /// The nodes' names after.
    pub after: Option<String>,
}

/// The numbers of differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Metadata of the module; kinds, opset versions and attributes of functions.
    pub settings: usize,
    /// Functions that only the second module has.
    pub functions_added: usize,
    /// Functions that only the first module has.
    pub functions_removed: usize,
    /// Differences of parameters and results.
    pub interface: usize,
    /// Ops that only the second module has, without those in regions of listed ops.
    pub ops_added: usize,
    /// Ops that only the first module has, without those in regions of listed ops.
    pub ops_removed: usize,
    /// Ops that changed.
    pub ops_changed: usize,
    /// Constants that only the second module has.
    pub constants_added: usize,
    /// Constants that only the first module has.
    pub constants_removed: usize,
    /// Constants whose content or type changed.
    pub constants_changed: usize,
    /// Values with a new type.
    pub retyped: usize,
    /// Values with a new name.
    pub renamed: usize,
    /// Ops whose ONNX node was renamed.
    pub relocated: usize,
    /// Ops that moved in functions where the order of ops has a meaning.
    pub moved: usize,
}

impl Diff {
    /// Whether the modules have the same meaning. A different order of ops in a graph function counts as the same.
    pub fn is_same(&self) -> bool {
        self.summary() == Summary::default()
    }

    /// Counts the differences.
    pub fn summary(&self) -> Summary {
        let mut sum = Summary {
            settings: self.metadata.len(),
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
    /// Creates the report of a function, without differences.
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
        sum.retyped += self.retyped.len();
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
