//! Analyses: what is worked out about a function when somebody asks, and found again as long as the
//! function is what it was.
//!
//! [`get`] (or `PassContext::analysis`) is all: it looks among what is kept beside the function,
//! and computes what isn't there. Results live as long as that version of the function, from pass to
//! pass and in every copy of the module; the first edit ends them. Passes ask for those of [`list`]
//! through the contract; an embedder may have analyses of its own by implementing [`Analysis`].
//!
//! ```
//! # extern crate passdock_core as passdock;
//! use passdock::PassContext;
//! use passdock::analyses::Liveness;
//!
//! let module = passdock_ir::text::parse(
//!     "module {
//!        fn @main(%x: f32[2]) -> (%y: f32[2]) {
//!          %0 = onnx.Relu(%x) : f32[2]
//!          %1 = onnx.Neg(%0) : f32[2]
//!          return %1
//!        }
//!      }",
//! )?;
//! let main = module.function_named("main").ok_or("no main")?;
//! let cx = PassContext::builder().build()?;
//! let liveness = cx.analysis::<Liveness>(main);
//! let relu = main.region(main.body()).first;
//! let last = liveness.last_use(main.operand(relu, 0));
//! assert_eq!(last, Some(relu));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** a result depends on the function and the op definitions, and on nothing else: so
//! nothing else has to be watched.
//! **Invariant:** all of them take time linear in the function, however deep its regions nest.

mod definitions;
mod effects;
mod liveness;
mod names;
mod order;

use std::sync::Arc;

pub(crate) use definitions::{definition, definition_traits};
pub use effects::Effects;
pub use liveness::Liveness;
pub use names::Names;
pub use order::Order;
use passdock_abi as abi;
use passdock_ir::{Function, KeptKey};
use passdock_loader::OpDefs;

/// What can be worked out about a function.
pub trait Analysis: Send + Sync + 'static {
    /// What it is kept under; no two have the same.
    const NAME: &'static str;

    /// Works it out. It may [`get`] others.
    fn compute(function: &Function, ops: &OpDefs) -> Self;
}

/// The host's own keys; plugins' are addresses.
const HOST: usize = 0;

/// An analysis of a function: what is kept of it, or what is computed now, and kept.
///
/// # Panics
/// If two types of analyses have the same name.
pub fn get<'f, A: Analysis>(function: &'f Function, ops: &OpDefs) -> &'f A {
    let key = KeptKey::new(HOST, ops.id(), A::NAME.as_bytes());
    let kept = match function.kept(&key) {
        Some(kept) => kept,
        None => {
            let computed = Arc::new(A::compute(function, ops));
            function.keep(key, computed)
        }
    };
    kept.downcast_ref()
        .unwrap_or_else(|| panic!("two analyses are called `{}`", A::NAME))
}

/// An analysis that the host offers to passes.
#[derive(Clone, Copy, Debug)]
pub struct HostAnalysis {
    /// What passes ask for.
    pub name: &'static str,
    /// What there is a record for.
    pub per: &'static str,
    /// The record in the contract's header.
    pub record: &'static str,
    /// One sentence.
    pub summary: &'static str,
    column: fn(&Function, &OpDefs) -> abi::Column,
}

/// The analyses that the host offers to passes.
pub fn list() -> &'static [HostAnalysis] {
    macro_rules! analysis {
        ($name:ident, $analysis:ident, $per:literal, $record:literal, $summary:literal) => {
            HostAnalysis {
                name: abi::analysis::name::$name,
                per: $per,
                record: $record,
                summary: $summary,
                column: |function, ops| get::<$analysis>(function, ops).column(),
            }
        };
    }
    const ALL: &[HostAnalysis] = &[
        analysis!(
            EFFECTS,
            Effects,
            "op",
            "passdock_op_effects",
            "What an op's definition says of it, and what effects it has with all that is nested in it."
        ),
        analysis!(
            LIVENESS,
            Liveness,
            "value",
            "passdock_liveness",
            "The last op that uses a value."
        ),
        analysis!(
            NAMES,
            Names,
            "name",
            "passdock_name_use",
            "Which ops the function has and which functions it calls, by name, and how many of each."
        ),
        analysis!(
            ORDER,
            Order,
            "op",
            "passdock_op_order",
            "An op's position in the whole function, and which ops are nested in it."
        ),
    ];
    ALL
}

/// One of the host's analyses as passes see it; `None` if there is none of that name. It is good
/// as long as the borrow of the function.
pub(crate) fn column(function: &Function, ops: &OpDefs, name: &[u8]) -> Option<abi::Column> {
    let is_meant = |analysis: &&HostAnalysis| analysis.name.as_bytes() == name;
    let analysis = list().iter().find(is_meant)?;
    Some((analysis.column)(function, ops))
}

/// Records as passes see them.
fn records<T>(records: &[T]) -> abi::Column {
    abi::Column {
        base: records.as_ptr().cast(),
        len: records.len() as u32,
        stride: size_of::<T>() as u32,
    }
}
