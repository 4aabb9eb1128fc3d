//! [`OpDef`]: what a plugin says of an operator.

use std::fmt;

use super::attr_def::AttrDef;
use super::call::OpCall;
use crate::data::{EditError, OpTraits};

/// The reason why a definition has no answer: the types aren't known yet, the case isn't handled,
/// the op is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The reason: a sentence.
    pub reason: String,
}

impl Refusal {
    /// A refusal with a reason.
    pub fn new(reason: impl Into<String>) -> Refusal {
        Refusal {
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl From<String> for Refusal {
    fn from(reason: String) -> Refusal {
        Refusal { reason }
    }
}

impl From<&str> for Refusal {
    fn from(reason: &str) -> Refusal {
        Refusal::new(reason)
    }
}

impl From<EditError> for Refusal {
    fn from(error: EditError) -> Refusal {
        Refusal {
            reason: error.message,
        }
    }
}

/// The answer of a definition's function.
pub type OpResult = Result<(), Refusal>;

/// A part of a definition: looks at the op, answers through the call.
pub type OpFn = fn(&OpCall) -> OpResult;

/// The definition of an operator from one version of its domain on.
///
/// ```
/// use passdock_plugin_api::prelude::*;
///
/// const RELU: OpDef = OpDef::new("onnx.Relu", 6)
///     .operands(1, 1)
///     .traits(OpTraits::PURE.with(OpTraits::ELEMENTWISE).with(OpTraits::IDEMPOTENT))
///     .infer(same_as_operand);
///
/// fn same_as_operand(call: &OpCall) -> OpResult {
///     call.set_result_like(0, call.operand(0).ok_or("Relu has no operand")?)?;
///     Ok(())
/// }
/// # assert!(RELU.all_traits().is_pure() && !RELU.all_traits().folds());
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct OpDef {
    /// The canonical name, domain included.
    pub name: &'static str,
    /// The first version of its domain with this meaning.
    pub since: i64,
    /// The fewest operands.
    pub min_operands: u32,
    /// The most operands; `u32::MAX`: any number.
    pub max_operands: u32,
    /// The traits of every op of it.
    pub traits: OpTraits,
    /// Infers the types of its results.
    pub infer: Option<OpFn>,
    /// Evaluates it when all operands are constant.
    pub evaluate: Option<OpFn>,
    /// The attributes it may have; `None`: not said.
    pub attrs: Option<&'static [AttrDef]>,
    /// Writes its body of other ops.
    pub decompose: Option<OpFn>,
    /// Writes its body for back ends that don't have it.
    pub legalize: Option<OpFn>,
    /// Says what it is in the layouts that it is asked for.
    pub layout: Option<OpFn>,
    /// Says what it is in the layouts that its maker wants.
    pub alter_layout: Option<OpFn>,
    /// Says whether a target takes an op.
    pub supports: Option<OpFn>,
    /// The targets that `supports` speaks for.
    pub targets: &'static [&'static str],
    /// Whether it only adds to the operator's definition, which may be another plugin's.
    pub extends: bool,
}

impl OpDef {
    /// An op with any number of operands, of which nothing is known.
    pub const fn new(name: &'static str, since: i64) -> OpDef {
        OpDef {
            name,
            since,
            min_operands: 0,
            max_operands: u32::MAX,
            traits: OpTraits::NONE,
            infer: None,
            evaluate: None,
            attrs: None,
            decompose: None,
            legalize: None,
            layout: None,
            alter_layout: None,
            supports: None,
            targets: &[],
            extends: false,
        }
    }

    /// What a plugin adds to the definition of an operator, its own or another plugin's: a body for back ends, layouts,
    /// whether a target takes it. Types, evaluation, traits and attributes are the definition's to say. It is asked
    /// before the definition, and before what was registered before it.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// const CONV: OpDef = OpDef::extending("onnx.Conv", 1).supports(&["npu"], |call| {
    ///     let shape = call.operand_type(1).shape().unwrap_or_default();
    ///     match shape.get(2..) {
    ///         Some(kernel) if kernel.iter().all(|&size| size <= 7) => Ok(()),
    ///         _ => Err("its kernel isn't known to be of at most 7".into()),
    ///     }
    /// });
    /// # assert!(CONV.extends);
    /// ```
    pub const fn extending(name: &'static str, since: i64) -> OpDef {
        let mut def = OpDef::new(name, since);
        def.extends = true;
        def
    }

    /// Sets the fewest and the most operands.
    pub const fn operands(mut self, min: u32, max: u32) -> OpDef {
        self.min_operands = min;
        self.max_operands = max;
        self
    }

    /// Sets the traits of every op of it.
    pub const fn traits(mut self, traits: OpTraits) -> OpDef {
        self.traits = traits;
        self
    }

    /// Lists the attributes it may have: `attrs![axis: int = -1]`.
    pub const fn attrs(mut self, attrs: &'static [AttrDef]) -> OpDef {
        self.attrs = Some(attrs);
        self
    }

    /// Sets the type rule, which infers the types of its results. What it says follows from the op's attributes, the
    /// versions of domains, and the types and known elements of its operands, and from nothing else that it can see:
    /// while these are the same, the host doesn't ask again.
    pub const fn infer(mut self, infer: OpFn) -> OpDef {
        self.infer = Some(infer);
        self
    }

    /// Sets the evaluation.
    pub const fn evaluate(mut self, evaluate: OpFn) -> OpDef {
        self.evaluate = Some(evaluate);
        self
    }

    /// Sets the body of other ops, written with [`OpCall::set_body`].
    pub const fn decompose(mut self, decompose: OpFn) -> OpDef {
        self.decompose = Some(decompose);
        self
    }

    /// Sets the body for back ends that don't have the op, written with [`OpCall::set_body`].
    pub const fn legalize(mut self, legalize: OpFn) -> OpDef {
        self.legalize = Some(legalize);
        self
    }

    /// Sets what the op is in the layouts that it is asked for: [`OpCall::wanted_layout`],
    /// [`OpCall::set_operand_layout`], [`OpCall::set_result_layout`], [`OpCall::set_body`].
    pub const fn layout(mut self, layout: OpFn) -> OpDef {
        self.layout = Some(layout);
        self
    }

    /// Sets what the op is in the layouts that its maker wants, said as for [`OpDef::layout`].
    pub const fn alter_layout(mut self, alter_layout: OpFn) -> OpDef {
        self.alter_layout = Some(alter_layout);
        self
    }

    /// Sets the function that says whether a target takes an op, and the targets that it speaks for: `Ok`, or the
    /// reason why not. [`OpCall::target`] is the one that is asked about. It only reads: types and dim expressions
    /// can't be added.
    pub const fn supports(mut self, targets: &'static [&'static str], supports: OpFn) -> OpDef {
        self.targets = targets;
        self.supports = Some(supports);
        self
    }

    /// The functions of the definition, in the order by which the entries of a plugin's table name them.
    pub(crate) fn functions(&self) -> [Option<OpFn>; 7] {
        [
            self.infer,
            self.evaluate,
            self.decompose,
            self.legalize,
            self.layout,
            self.alter_layout,
            self.supports,
        ]
    }

    /// The traits, those that follow from the rest included; none of what extends a definition.
    pub const fn all_traits(&self) -> OpTraits {
        if self.extends {
            return OpTraits::NONE;
        }
        let mut traits = self.traits.with(OpTraits::DEFINED);
        let functions = [
            (self.evaluate, OpTraits::FOLDS),
            (self.decompose, OpTraits::DECOMPOSES),
            (self.legalize, OpTraits::LEGALIZES),
            (self.layout, OpTraits::KNOWS_LAYOUT),
            (self.alter_layout, OpTraits::ALTERS_LAYOUT),
        ];
        let mut at = 0;
        while at < functions.len() {
            if functions[at].0.is_some() {
                traits = traits.with(functions[at].1);
            }
            at += 1;
        }
        traits
    }
}
