//! Tests of reading and writing, on models built from fields, and on real ones in the directory `PASSDOCK_MODELS`.

mod build;
mod detached;
mod edits;
mod external;
mod facts;
mod fidelity;
mod function_attributes;
mod malformed;
mod messages;
mod node_names;
mod old_inputs;
mod placement;
mod preserved;
mod real;
mod rejected;
mod scopes;
mod show;
mod unnamed;

use std::path::Path;

use passdock_abi::{OpId, ValueId};
use passdock_ir::{Function, Module};

use crate::{EncodeOptions, ExternalData, MAIN, OnnxError, read_bytes, write};

/// Options to encode everything that the IR models, instead of copying it.
const FRESH: EncodeOptions<'static> = EncodeOptions {
    drop_spans: true,
    external: ExternalData::Keep,
    data_file: None,
    whole_files: false,
    moved: &[],
};

/// Reads a model from memory.
fn read(bytes: &[u8]) -> Result<Module, OnnxError> {
    read_bytes(Path::new("model.onnx"), bytes.to_vec())
}

/// Writes a module.
fn bytes_of(module: &Module) -> Vec<u8> {
    write(module, EncodeOptions::default())
        .unwrap()
        .to_bytes()
        .unwrap()
}

/// Writes a module with [`FRESH`].
fn fresh_bytes_of(module: &Module) -> Vec<u8> {
    write(module, FRESH).unwrap().to_bytes().unwrap()
}

/// Returns the main graph for editing.
fn main_of(module: &mut Module) -> &mut Function {
    let name = module.symbols().intern(MAIN);
    module.function_mut(name).unwrap()
}

/// Returns the op that defines the value of this name.
#[track_caller]
fn op(f: &Function, name: &str) -> OpId {
    f.defining_op(value(f, name)).unwrap()
}

/// Returns the live value of this name.
#[track_caller]
fn value(f: &Function, name: &str) -> ValueId {
    let all = (0..f.value_ids() as u32).map(ValueId);
    let mut live = all.filter(|&value| f.live_value(value).is_ok());
    live.find(|&value| f.text(f.value(value).name) == name)
        .unwrap()
}
