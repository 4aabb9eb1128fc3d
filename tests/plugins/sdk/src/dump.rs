//! Short text of a function, for assertions and messages. It can't be parsed.

use std::fmt::Write;

use passdock_plugin_api::{Attr, Function, OpId, RegionId, ValueId};

/// Prints the function's ops, one per line, with ids as in the host's debug output.
///
/// Constants, names and locations aren't printed.
pub(crate) fn dump(f: &Function) -> String {
    let mut out = String::new();
    // `write!` to a string can't fail.
    let _ = writeln!(out, "@{}{}", f.function_name(), list(f.params()));
    let mut pending = Vec::new();
    pending.extend(f.first_op(f.body()).map(|first| Step::Op(first, 1)));
    // If a list was overwritten, it may have no end.
    let mut left = f.op_count();
    while let Some(step) = pending.pop() {
        match step {
            Step::Op(..) if left == 0 => break,
            Step::Region(region, depth) => {
                let (pad, name) = ("  ".repeat(depth), f.region_name(region));
                let _ = writeln!(out, "{}{}{}:", pad, name, list(f.args(region)));
                pending.extend(f.first_op(region).map(|first| Step::Op(first, depth + 1)));
            }
            Step::Op(op, depth) => {
                left -= 1;
                out.push_str(&"  ".repeat(depth));
                write_op(&mut out, f, op);
                pending.extend(f.next_op(op).map(|next| Step::Op(next, depth)));
                let regions = f.regions(op).iter().rev();
                pending.extend(regions.map(|region| Step::Region(*region, depth + 1)));
            }
        }
    }
    out
}

/// A region or an op that isn't printed yet, and its indentation.
enum Step {
    Region(RegionId, usize),
    Op(OpId, usize),
}

fn write_op(out: &mut String, f: &Function, op: OpId) {
    if f.result_count(op) > 0 {
        let _ = write!(out, "{} = ", plain(f.results(op)));
    }
    let operands: Vec<ValueId> = f.operands(op).collect();
    let _ = write!(out, "{}{}", f.name(op), list(&operands));
    for (name, attr) in f.attrs(op) {
        let _ = match attr {
            Attr::Int(value) => write!(out, " {}={}", f.text(name), value),
            Attr::Float(value) => write!(out, " {}={:?}", f.text(name), value),
            Attr::Ints(values) => write!(out, " {}={:?}", f.text(name), values),
            Attr::Floats(values) => write!(out, " {}={:?}", f.text(name), values),
            Attr::String(value) => {
                write!(
                    out,
                    " {}={:?}",
                    f.text(name),
                    String::from_utf8_lossy(value)
                )
            }
            other => write!(out, " {}={:?}", f.text(name), other),
        };
    }
    out.push('\n');
}

fn plain(values: &[ValueId]) -> String {
    let names: Vec<String> = values.iter().map(ValueId::to_string).collect();
    names.join(", ")
}

fn list(values: &[ValueId]) -> String {
    format!("({})", plain(values))
}
