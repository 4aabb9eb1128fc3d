//! The text form: printing and parsing, and verifying what was parsed.

#![allow(missing_docs, reason = "a benchmark has no callers")]

use passdock_benches::{measure, module, report, sized};
use passdock_ir::{text, verify};

fn ops() -> usize {
    sized(100_000)
}

fn main() {
    let module = module(1, ops());
    let printed = text::print(&module);
    report(
        "print, per op",
        measure(ops(), || text::print(&module)),
        "<= 1 µs",
    );
    report(
        "parse, per op",
        measure(ops(), || text::parse(&printed).expect("a print")),
        "<= 2 µs",
    );
    let function = module.functions().next().expect("a function");
    report(
        "verify, per op",
        measure(ops(), || verify::verify(function)),
        "(for scale)",
    );
}
