//! A part of a model as a model: what is between some of its values.
//!
//! [`extract`] looks for the ops that the outputs need, back to the inputs ([`find`](mod@find)), and takes everything
//! else out of the main graph ([`cut`](mod@cut)). Weights, names and functions that are called stay as they are.

mod cut;
mod find;

use passdock_core::{ErrorKind, PassError};
use passdock_ir::Module;

/// The values between which a part is, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds {
    /// The values that the part takes; empty: the model's own inputs, as far as the outputs need them.
    pub inputs: Vec<String>,
    /// The values that it gives out; empty: the model's own outputs.
    pub outputs: Vec<String>,
}

/// A part of a model.
#[derive(Debug)]
pub struct ModelPart {
    /// It, as a model.
    pub module: Module,
    /// The ops of the whole main graph.
    pub ops_before: usize,
    /// The ops of the part's.
    pub ops_after: usize,
    /// Inputs that no output needs.
    pub idle: Vec<String>,
    /// Inputs and outputs of unknown shape, which a model's file should declare.
    pub unshaped: Vec<String>,
}

/// The part of a model between some of its values.
///
/// # Errors
/// If there is no such value in the main graph, or if an output depends on values that aren't
/// among the inputs.
pub fn extract(module: &Module, bounds: &Bounds) -> Result<ModelPart, PassError> {
    let Some(f) = module.function_named("main") else {
        return Err(usage("The model has no main graph."));
    };
    let found = find::find(f, bounds)?;
    let mut part = module.clone();
    let refused = |error: passdock_ir::EditFailure| {
        PassError::new(ErrorKind::Write, format!("The part can't be made: {error}"))
    };
    let main = f.name();
    if let Some(f) = part.function_mut(main) {
        cut::cut(f, &found).map_err(refused)?;
    }
    cut::drop_uncalled(&mut part, main);
    Ok(ModelPart {
        ops_before: f.op_count(),
        ops_after: part.function(main).map_or(0, |f| f.op_count()),
        idle: found.idle,
        unshaped: found.unshaped,
        module: part,
    })
}

fn usage(message: impl Into<String>) -> PassError {
    PassError::new(ErrorKind::Usage, message)
}
