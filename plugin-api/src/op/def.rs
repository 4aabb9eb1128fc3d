//! [`OpDef`]: the definition of an operator.

use std::fmt;

use super::attr_def::AttrDef;
use super::call::OpCall;
use crate::data::{EditError, OpTraits};

/// The reason why a definition has no result: the types are unknown, the case isn't supported, the op is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpError {
    /// The reason.
    pub reason: String,
}

impl OpError {
    /// Creates an error with a reason.
    pub fn new(reason: impl Into<String>) -> OpError {
        OpError {
            reason: reason.into(),
        }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl From<String> for OpError {
    fn from(reason: String) -> OpError {
        OpError { reason }
    }
}

impl From<&str> for OpError {
    fn from(reason: &str) -> OpError {
        OpError::new(reason)
    }
}

impl From<EditError> for OpError {
    fn from(error: EditError) -> OpError {
        OpError {
            reason: error.message,
        }
    }
}

/// The result of a definition's function.
pub type OpResult = Result<(), OpError>;

/// A function of a definition. It reads the op and sets results through the call.
pub type OpFn = fn(&OpCall) -> OpResult;

/// The definition of an operator, which applies from one version of its domain on.
///
/// # Examples
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
///     call.set_result_like(0, call.operand(0).ok_or("missing operand")?)?;
///     Ok(())
/// }
/// # assert!(RELU.all_traits().is_pure() && !RELU.all_traits().folds());
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct OpDef {
    /// The canonical name, domain included.
    pub name: &'static str,
    /// The first version of its domain that the definition applies to.
    pub since: i64,
    /// The minimum number of operands.
    pub min_operands: u32,
    /// The maximum number of operands; `u32::MAX`: no limit.
    pub max_operands: u32,
    /// The minimum number of results.
    pub min_results: u32,
    /// The maximum number of results; `u32::MAX`: no limit.
    pub max_results: u32,
    /// The traits of the operator.
    pub traits: OpTraits,
    /// Infers the types of the results.
    pub infer: Option<OpFn>,
    /// Evaluates the op on constant operands.
    pub evaluate: Option<OpFn>,
    /// The attributes of the operator; `None`: unknown.
    pub attrs: Option<&'static [AttrDef]>,
    /// Sets a body of other ops.
    pub decompose: Option<OpFn>,
    /// Describes the op in requested layouts.
    pub layout: Option<OpFn>,
    /// Describes the op in the layouts that the vendor prefers.
    pub alter_layout: Option<OpFn>,
    /// Decides whether a target supports an op.
    pub supports: Option<OpFn>,
    /// The targets that `supports` applies to.
    pub targets: &'static [&'static str],
    /// Whether it is an extension of the operator, which may be defined by another plugin.
    pub extends: bool,
}

impl OpDef {
    /// Creates a definition with any number of operands, no traits and no functions.
    pub const fn new(name: &'static str, since: i64) -> OpDef {
        OpDef {
            name,
            since,
            min_operands: 0,
            max_operands: u32::MAX,
            min_results: 0,
            max_results: u32::MAX,
            traits: OpTraits::NONE,
            infer: None,
            evaluate: None,
            attrs: None,
            decompose: None,
            layout: None,
            alter_layout: None,
            supports: None,
            targets: &[],
            extends: false,
        }
    }

    /// Creates an extension of an operator, which this or another plugin defines. An extension may have a body for back
    /// ends, layouts, and supported targets, but no types, evaluation, traits and attributes.
    ///
    /// The host calls the extension that was registered last first, and the definition last.
    ///
    /// # Examples
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

    /// Sets the minimum and maximum number of operands.
    pub const fn operands(mut self, min: u32, max: u32) -> OpDef {
        self.min_operands = min;
        self.max_operands = max;
        self
    }

    /// Sets the minimum and maximum number of results.
    pub const fn results(mut self, min: u32, max: u32) -> OpDef {
        self.min_results = min;
        self.max_results = max;
        self
    }

    /// Sets the traits of the operator.
    pub const fn traits(mut self, traits: OpTraits) -> OpDef {
        self.traits = traits;
        self
    }

    /// Sets the list of attributes: `attrs![axis: int = -1]`.
    pub const fn attrs(mut self, attrs: &'static [AttrDef]) -> OpDef {
        self.attrs = Some(attrs);
        self
    }

    /// Sets the type inference. Its results may depend only on the op's attributes, the versions of domains, and the
    /// types and known elements of the operands: as long as these are the same, the host may reuse the results.
    pub const fn infer(mut self, infer: OpFn) -> OpDef {
        self.infer = Some(infer);
        self
    }

    /// Sets the evaluation.
    pub const fn evaluate(mut self, evaluate: OpFn) -> OpDef {
        self.evaluate = Some(evaluate);
        self
    }

    /// Sets the decomposition, which calls [`OpCall::set_body`].
    pub const fn decompose(mut self, decompose: OpFn) -> OpDef {
        self.decompose = Some(decompose);
        self
    }

    /// Sets the function that describes the op in requested layouts, with [`OpCall::requested_layout`],
    /// [`OpCall::set_operand_layout`], [`OpCall::set_result_layout`] and [`OpCall::set_body`].
    pub const fn layout(mut self, layout: OpFn) -> OpDef {
        self.layout = Some(layout);
        self
    }

    /// Sets the function that describes the op in the layouts that the vendor prefers, with the methods of
    /// [`OpDef::layout`].
    pub const fn alter_layout(mut self, alter_layout: OpFn) -> OpDef {
        self.alter_layout = Some(alter_layout);
        self
    }

    /// Sets the function that decides whether a target supports an op, and the targets that it applies to. It returns
    /// `Ok`, or the reason why the target doesn't. [`OpCall::target`] is the target in question. The function only
    /// reads: it can't add types and dim expressions.
    pub const fn supports(mut self, targets: &'static [&'static str], supports: OpFn) -> OpDef {
        self.targets = targets;
        self.supports = Some(supports);
        self
    }

    /// Returns the functions of the definition, in the order of the indices in the plugin's table.
    pub(crate) fn functions(&self) -> [Option<OpFn>; 6] {
        [
            self.infer,
            self.evaluate,
            self.decompose,
            self.layout,
            self.alter_layout,
            self.supports,
        ]
    }

    /// Returns the traits, including those that follow from the functions. An extension has none.
    pub const fn all_traits(&self) -> OpTraits {
        if self.extends {
            return OpTraits::NONE;
        }
        let mut traits = self.traits.with(OpTraits::DEFINED);
        let functions = [
            (self.evaluate, OpTraits::FOLDS),
            (self.decompose, OpTraits::DECOMPOSES),
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
