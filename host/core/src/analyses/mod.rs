//! Analyses: results that are computed from a function on demand, and cached until the function changes.
//!
//! [`get`] (or `PassContext::analysis`) returns the cached result, or computes it. Results belong to a version of the
//! function. Later passes and copies of the module share them, and the first edit invalidates them. Passes request
//! those of [`list`] through the plugin ABI. A program that embeds the host defines its own by implementing
//! [`FunctionAnalysis`].
//!
//! ```
//! # mod passdock {
//! #     pub use passdock_core::*;
//! #     pub mod ir {
//! #         use passdock_ir::{Module, text};
//! #         pub fn parse_text(_name: &str, text: &str) -> Result<Module, text::ParseError> {
//! #             text::parse(text)
//! #         }
//! #     }
//! # }
//! use passdock::PassContext;
//! use passdock::analyses::LivenessAnalysis;
//!
//! let module = passdock::ir::parse_text(
//!     "demo.ir",
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
//! let liveness = cx.analysis::<LivenessAnalysis>(&module, main);
//! let relu = main.region(main.body()).first;
//! let last = liveness.last_use(main.operand(relu, 0));
//! assert_eq!(last, Some(relu));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** a result depends only on the function and its [`Operators`], so nothing else invalidates it.
//! **Invariant:** all analyses take time linear in the size of the function, whatever the depth of its regions.

mod definitions;
mod effects;
mod liveness;
mod names;
mod operators;
mod order;

use std::sync::Arc;

pub(crate) use definitions::{
    all_definitions, definition, definition_traits, is_complete, remember_complete,
};
pub use effects::EffectAnalysis;
pub use liveness::LivenessAnalysis;
pub use names::NameAnalysis;
pub use operators::Operators;
pub(crate) use operators::SharedNames;
pub use order::OrderAnalysis;
use passdock_abi as abi;
use passdock_ir::{CacheKey, Function};

/// An analysis of a function.
pub trait FunctionAnalysis: Send + Sync + 'static {
    /// The unique name of the analysis, which is its cache key.
    const NAME: &'static str;

    /// Computes the result. It may [`get`] other analyses.
    fn compute(function: &Function, operators: &Operators<'_>) -> Self;
}

/// The owner in the cache keys of the host's analyses. Owners of plugins' analyses are addresses, and that of analyses
/// shared by plugins is 0.
const HOST: usize = 1;

/// Returns the result of an analysis of a function. It is computed and cached unless it is in the cache.
///
/// # Panics
/// If two types of analyses have the same name.
pub fn get<'f, A: FunctionAnalysis>(function: &'f Function, operators: &Operators<'_>) -> &'f A {
    let key = CacheKey::new(HOST, operators.stamp(), A::NAME.as_bytes());
    let cached = match function.cached(&key) {
        Some(cached) => cached,
        None => {
            let computed = Arc::new(A::compute(function, operators));
            function.cache(key, computed)
        }
    };
    cached
        .downcast_ref()
        .unwrap_or_else(|| panic!("two analyses are named `{}`", A::NAME))
}

/// An analysis that the host provides for passes.
#[derive(Clone, Copy, Debug)]
pub struct HostAnalysis {
    /// The name that passes use to request it.
    pub name: &'static str,
    /// The entity that each record is about: an op, a value, a name.
    pub entity: &'static str,
    /// The name of the record type in the C header.
    pub record: &'static str,
    /// A description of one sentence.
    pub summary: &'static str,
    /// Returns the records, and their size.
    column: fn(&Function, &Operators<'_>) -> (abi::Column, usize),
}

/// Returns the analyses that the host provides for passes.
pub fn list() -> &'static [HostAnalysis] {
    macro_rules! analysis {
        ($name:ident, $analysis:ident, $entity:literal, $record:literal, $summary:literal) => {
            HostAnalysis {
                name: abi::$name,
                entity: $entity,
                record: $record,
                summary: $summary,
                column: |function, operators| {
                    sized_column(&get::<$analysis>(function, operators).0)
                },
            }
        };
    }
    const ALL: &[HostAnalysis] = &[
        analysis!(
            ANALYSIS_EFFECTS,
            EffectAnalysis,
            "op",
            "passdock_op_effects",
            "The traits of an op's definition, and the effects of the op and of the ops nested in it."
        ),
        analysis!(
            ANALYSIS_LIVENESS,
            LivenessAnalysis,
            "value",
            "passdock_liveness",
            "The last op that uses a value."
        ),
        analysis!(
            ANALYSIS_NAMES,
            NameAnalysis,
            "name",
            "passdock_name_use",
            "The ops of the function and the functions that it calls, by name, with their counts."
        ),
        analysis!(
            ANALYSIS_ORDER,
            OrderAnalysis,
            "op",
            "passdock_op_order",
            "An op's position in the whole function, and the positions of the ops nested in it."
        ),
    ];
    ALL
}

fn sized_column<T>(records: &[T]) -> (abi::Column, usize) {
    (passdock_ir::column(records), size_of::<T>())
}

/// Returns the result of a host analysis in the form that passes read, with the size of its records, or `None` if there
/// is no analysis of that name.
/// It is valid as long as the function is borrowed.
pub(crate) fn column(
    function: &Function,
    operators: &Operators<'_>,
    name: &[u8],
) -> Option<(abi::Column, usize)> {
    let has_name = |analysis: &&HostAnalysis| analysis.name.as_bytes() == name;
    let analysis = list().iter().find(has_name)?;
    Some((analysis.column)(function, operators))
}
