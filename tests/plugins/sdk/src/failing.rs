//! Passes that fail: the host receives only a status and an error message.

use passdock_plugin_api::prelude::*;

use crate::function::chain;

pub fn fails(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, ..] = chain(f)?;
    f.set_attr(first, "seen", 1)?;
    Err(PassError::new("this Relu is one too many").at(first))
}

pub fn edits_wrongly(f: &mut Function, _cx: &PassContext) -> PassResult {
    for op in f.ops_named("onnx.Relu") {
        f.replace_op_with(op, &[])?;
    }
    Ok(())
}

pub fn panics(f: &mut Function, _cx: &PassContext) -> PassResult {
    let nothing = f.ops_named("acme.Nothing").next();
    nothing.expect("something");
    Ok(())
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("while being dropped");
    }
}

/// A panic whose payload panics on drop is caught, too.
pub fn panics_with_a_bomb(_f: &mut Function, _cx: &PassContext) -> PassResult {
    std::panic::panic_any(Bomb)
}

pub fn reads_stale(f: &mut Function, _cx: &PassContext) -> PassResult {
    let [first, second, _] = chain(f)?;
    f.replace_op_with(second, &[f.result(first, 0)])?;
    f.name(second);
    Ok(())
}
