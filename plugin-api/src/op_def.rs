//! Op definitions: what a plugin says of an operator, and how it answers about one op.

use std::cell::RefCell;
use std::fmt;
use std::ops::{BitOr, Deref};

use passdock_abi as abi;
use passdock_abi::{Dim, ExprKind, OpEntry, OpId, Status, TypeId};

use crate::attr_def::AttrDef;
use crate::error::EditError;
use crate::function::Function;
use crate::raw::RawOpCall;
use crate::types::{Type, TypeSpec};

/// What a definition says of every op of its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OpTraits(pub u64);

macro_rules! traits {
    ($($(#[$doc:meta])* $name:ident $question:ident;)*) => {
        impl OpTraits {
            /// None.
            pub const NONE: OpTraits = OpTraits(0);
            $($(#[$doc])* pub const $name: OpTraits = OpTraits(OpEntry::$name);)*

            $($(#[$doc])* pub const fn $question(self) -> bool {
                self.0 & OpEntry::$name != 0
            })*

            /// These and those; in a `const` (elsewhere `|` does).
            pub const fn with(self, more: OpTraits) -> OpTraits {
                OpTraits(self.0 | more.0)
            }
        }
    };
}

traits! {
    /// Somebody defines the op.
    DEFINED is_defined;
    /// No effect but its results; may be erased, merged, moved.
    PURE is_pure;
    /// Two runs give different results.
    RANDOM is_random;
    /// Keeps state between runs.
    STATEFUL is_stateful;
    /// Operands may change places.
    COMMUTATIVE is_commutative;
    /// Element by element, with broadcasting.
    ELEMENTWISE is_elementwise;
    /// Applying it twice is applying it once.
    IDEMPOTENT is_idempotent;
    /// Its first result is its first operand.
    IDENTITY is_identity;
    /// Makes much out of little: folding it grows the model.
    GROWS grows;
    /// Reads what operand 0 points at.
    READS reads;
    /// Writes what an operand points at.
    WRITES writes;
    /// Makes memory.
    ALLOCATES allocates;
    /// Has an evaluation.
    FOLDS folds;
    /// Its results depend on its operands' types only.
    SHAPE_ONLY is_shape_only;
    /// Has a body of other ops.
    DECOMPOSES decomposes;
    /// A function of the module has the operator's name: whether an op means it or the operator is
    /// its runtime's to say. It has no other traits.
    AMBIGUOUS is_ambiguous;
}

impl BitOr for OpTraits {
    type Output = OpTraits;

    fn bitor(self, more: OpTraits) -> OpTraits {
        self.with(more)
    }
}

/// Why a definition has no answer: the types aren't known yet, the case isn't handled, the op is
/// wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A sentence.
    pub reason: String,
}

impl Refusal {
    /// With a reason.
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

/// What a definition's function answers.
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
pub struct OpDef {
    /// The canonical name, domain included.
    pub name: &'static str,
    /// The first version of its domain with this meaning.
    pub since: u32,
    /// Fewest operands.
    pub min_operands: u32,
    /// Most operands; `u32::MAX`: any number.
    pub max_operands: u32,
    /// What is always true of it.
    pub traits: OpTraits,
    /// Infers the types of its results.
    pub infer: Option<OpFn>,
    /// Evaluates it when all operands are constant.
    pub evaluate: Option<OpFn>,
    /// All attributes it may have; `None`: not said.
    pub attrs: Option<&'static [AttrDef]>,
    /// Writes its body of other ops.
    pub decompose: Option<OpFn>,
}

impl OpDef {
    /// An op with any number of operands, of which nothing is known.
    pub const fn new(name: &'static str, since: u32) -> OpDef {
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
        }
    }

    /// How many operands it may have.
    pub const fn operands(mut self, min: u32, max: u32) -> OpDef {
        self.min_operands = min;
        self.max_operands = max;
        self
    }

    /// What is always true of it.
    pub const fn traits(mut self, traits: OpTraits) -> OpDef {
        self.traits = traits;
        self
    }

    /// All attributes it may have: `attrs![axis: int = -1]`.
    pub const fn attrs(mut self, attrs: &'static [AttrDef]) -> OpDef {
        self.attrs = Some(attrs);
        self
    }

    /// How the types of its results are inferred.
    pub const fn infer(mut self, infer: OpFn) -> OpDef {
        self.infer = Some(infer);
        self
    }

    /// How it is evaluated.
    pub const fn evaluate(mut self, evaluate: OpFn) -> OpDef {
        self.evaluate = Some(evaluate);
        self
    }

    /// How it is made of other ops: with [`OpCall::set_body`].
    pub const fn decompose(mut self, decompose: OpFn) -> OpDef {
        self.decompose = Some(decompose);
        self
    }

    /// Its traits, those that follow from the rest included.
    pub const fn all_traits(&self) -> OpTraits {
        let mut traits = self.traits.with(OpTraits::DEFINED);
        if self.evaluate.is_some() {
            traits = traits.with(OpTraits::FOLDS);
        }
        if self.decompose.is_some() {
            traits = traits.with(OpTraits::DECOMPOSES);
        }
        traits
    }
}

/// One op, asked about: reads the function it stands in (it is a `&Function` too), and answers.
pub struct OpCall {
    raw: RawOpCall,
    function: Function,
    op: OpId,
    /// Results that have room already: a second one would alias the first.
    allocated: RefCell<Vec<u32>>,
}

impl Deref for OpCall {
    type Target = Function;

    fn deref(&self) -> &Function {
        &self.function
    }
}

impl OpCall {
    pub(crate) fn new(raw: RawOpCall, function: Function, op: OpId) -> OpCall {
        OpCall {
            raw,
            function,
            op,
            allocated: RefCell::new(Vec::new()),
        }
    }

    /// The op.
    pub fn op(&self) -> OpId {
        self.op
    }

    /// An operand; `None` if there is no such one, or it is left out.
    pub fn operand(&self, index: usize) -> Option<abi::ValueId> {
        self.function.operand(self.op, index)
    }

    /// How many operands it has.
    pub fn operand_count(&self) -> usize {
        self.function.operand_count(self.op)
    }

    /// How many results it has.
    pub fn result_count(&self) -> usize {
        self.function.result_count(self.op)
    }

    /// The type of an operand; an unknown type if it is left out.
    pub fn operand_type(&self, index: usize) -> Type<'_> {
        let value = self.operand(index).unwrap_or(abi::ValueId::NONE);
        self.function.type_of(value)
    }

    /// The elements of an operand that is constant; `None` if it isn't.
    pub fn operand_data(&self, index: usize) -> Result<Option<&[u8]>, EditError> {
        match self.operand(index) {
            Some(value) => self.function.constant_data(value),
            None => Ok(None),
        }
    }

    /// What is known of the elements of an operand that is a shape, as dims; `None` if nothing is.
    pub fn operand_dims(&self, index: usize) -> Result<Option<Vec<Dim>>, EditError> {
        self.raw.operand_dims(self.op, index as u32)
    }

    /// A result has this type.
    pub fn set_result_type(&self, index: usize, ty: &TypeSpec) -> Result<(), EditError> {
        self.raw.set_result_type(self.op, index as u32, &ty.parts())
    }

    /// A result has the type of a value of the function.
    pub fn set_result_like(&self, index: usize, value: abi::ValueId) -> Result<(), EditError> {
        self.set_result_type(index, &TypeSpec::from(self.function.type_of(value)))
    }

    /// A result, a small tensor of integers or booleans, holds these, row by row.
    pub fn set_result_dims(&self, index: usize, dims: &[Dim]) -> Result<(), EditError> {
        self.raw.set_result_dims(self.op, index as u32, dims)
    }

    /// A dim expression, in canonical form.
    pub fn add_expr(&self, kind: ExprKind, left: Dim, right: Dim) -> Result<Dim, EditError> {
        self.raw.add_expr(self.op, kind, left, right)
    }

    /// The id of a type, to be used in another.
    pub fn add_type(&self, ty: &TypeSpec) -> Result<TypeId, EditError> {
        self.raw.add_type(self.op, &ty.parts())
    }

    /// Room for `len` bytes of a result's elements, all zero, to be filled before returning. Can
    /// be asked for once per result; refused if the host has set a smaller limit.
    #[allow(clippy::mut_from_ref)] // Fresh memory at each call: the second for a result is refused.
    pub fn allocate_result(
        &self,
        index: usize,
        ty: &TypeSpec,
        len: usize,
    ) -> Result<&mut [u8], EditError> {
        let index = index as u32;
        if self.allocated.borrow().contains(&index) {
            let message = format!("result {} was allocated before", index);
            return Err(EditError::new(Status::INVALID, message, Some(self.op)));
        }
        let room = self.raw.allocate_result(self.op, index, &ty.parts(), len)?;
        self.allocated.borrow_mut().push(index);
        Ok(room)
    }

    /// In a decomposition: the op's body, as the IR text of one function, written for this very op.
    /// Its parameter `i` is the op's operand slot `i` (that of an operand that is left out may not
    /// be used), its first results are the op's, and it has the opsets of the op's function.
    ///
    /// ```
    /// use passdock_plugin_api::prelude::*;
    ///
    /// const SILU: OpDef = OpDef::new("acme.Silu", 1).operands(1, 1).decompose(|call| {
    ///     call.set_body("fn @silu(%x) { %s = onnx.Sigmoid(%x) %y = onnx.Mul(%x, %s) return %y }")?;
    ///     Ok(())
    /// });
    /// # assert!(SILU.all_traits().decomposes());
    /// ```
    pub fn set_body(&self, text: &str) -> Result<(), EditError> {
        self.raw.set_body(self.op, text)
    }
}
