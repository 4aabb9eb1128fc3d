//! Type rules, asked through the host: IR text in, IR text with types out. One file a family.

#[path = "../support/mod.rs"]
mod support;

mod attention;
mod basics;
mod convolution;
mod learning;
mod matrix;
mod movement;
mod normalize;
mod ranges;
mod reduce;
mod resize;
mod sequence;
mod signal;
mod vision;

use expect_test::Expect;

/// The ops of `@main(SIGNATURE)` of a version after inference.
#[track_caller]
fn check(version: i64, params: &str, body: &str, expected: Expect) {
    expected.assert_eq(&support::infer(version, params, body));
}

/// Why the last op of `BODY` is wrong: its name and the reason.
#[track_caller]
fn wrong(version: i64, params: &str, body: &str, expected: Expect) {
    let text = support::infer(version, params, &format!("\n    {body}\n"));
    let said = text.lines().next().unwrap_or_default();
    let reason = said.split_once(" (").map_or(said, |(_, reason)| reason);
    expected.assert_eq(&reason.replacen(") is wrong", "", 1));
}
