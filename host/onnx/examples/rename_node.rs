//! Renames one node of a model: `rename_node IN.onnx OUT.onnx OLD NEW`.
//!
//! A minimal edit, which shows that all other bytes of the file are preserved.

use std::env::args;
use std::error::Error;
use std::fs::File;
use std::path::Path;

use passdock_ir::Module;
use passdock_onnx::{EncodeOptions, MAIN, read, write};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [input, output, old, new] = &arguments[..] else {
        return Err("usage: rename_node IN.onnx OUT.onnx OLD NEW".into());
    };
    let mut module = read(Path::new(input))?;
    rename(&mut module, old, new)?;
    let bytes = write(&module, EncodeOptions::default())?;
    bytes.write_to(&mut File::create(output)?)?;
    Ok(())
}

/// Renames the op of the main graph that is called `old`.
fn rename(module: &mut Module, old: &str, new: &str) -> Result<(), Box<dyn Error>> {
    let missing = || format!("the main graph has no node called `{old}`");
    let symbols = module.symbols().clone();
    let old_symbol = symbols.find(old).ok_or_else(missing)?;
    let main = symbols.find(MAIN).ok_or_else(missing)?;
    let function = module.function_mut(main).ok_or_else(missing)?;
    let named = |&op: &_| {
        function
            .loc(function.op(op).loc)
            .is_some_and(|loc| loc.name == old_symbol)
    };
    let op = function
        .ops_in(function.body())
        .find(named)
        .ok_or_else(missing)?;
    let loc = function.add_name_loc(new);
    function.set_loc(op, loc)?;
    Ok(())
}
