//! Regions: in one another, side by side, and what goes into them.

use std::fmt::Write;

use super::straight::{list, main_of, summed};

/// No regions are nested deeper; with ten ops in each, that is 100,000.
pub(super) const LEVELS: usize = 9_990;

/// Regions in regions, with ten ops in each that use what is around all of them.
pub(super) fn nested_by(n: usize, condition: &str, ops: fn(usize) -> String) -> String {
    let levels = (n / 10).clamp(1, LEVELS);
    let mut text = String::from(
        "module {\nfn @main(%c: bool[], %x: f32[4]) -> (%y: f32[4]) opset(\"\" = 17) {\n%t = const bool[] true\n",
    );
    for level in 0..levels {
        text += &ops(level);
        put!(text, "%r{level} = onnx.If({condition}) : f32[4]");
        put!(
            text,
            "region else_branch {{ %e{level} = onnx.Neg(%x) : f32[4] yield %e{level} }}"
        );
        put!(text, "region then_branch {{");
    }
    text += "%inner = onnx.Relu(%x) : f32[4]\nyield %inner\n";
    for level in (0..levels).rev() {
        let word = if level == 0 { "return" } else { "yield" };
        put!(text, "}} {word} %r{level}");
    }
    text + "}\n}\n"
}

pub(super) fn ops_of_level(level: usize) -> String {
    let each = |at: usize| format!("%v{level}_{at} = onnx.Relu(%x) : f32[4]\n");
    let all = list(7, |at| format!("%v{level}_{at}"));
    (0..7).map(each).collect::<String>() + &format!("%s{level} = onnx.Sum({all}) : f32[4]\n")
}

pub(super) fn sizes_of_level(level: usize) -> String {
    let each = |at: usize| format!("%v{level}_{at} = onnx.NonZero(%x)\n");
    (0..8).map(each).collect()
}

pub(super) fn nested(n: usize) -> String {
    nested_by(n, "%c", ops_of_level)
}

pub(super) fn nested_decided(n: usize) -> String {
    nested_by(n, "%t", ops_of_level)
}

pub(super) fn nested_sizes(n: usize) -> String {
    nested_by(n, "%c", sizes_of_level)
}

pub(super) fn nested_loops(n: usize) -> String {
    let levels = (n / 10).clamp(1, LEVELS);
    let mut text = String::from(
        "module {\nfn @main(%n: i64[], %c: bool[], %x: f32[4]) -> (%y: f32[4]) opset(\"\" = 17) {\n",
    );
    let mut carried = "%x".to_owned();
    for level in 0..levels {
        put!(
            text,
            "%r{level} = onnx.Loop(%n, %c, {carried}) {{body = region}}"
        );
        put!(
            text,
            "region body(%i{level}: i64[], %c{level}: bool[], %w{level}) {{"
        );
        for at in 0..8 {
            put!(text, "%v{level}_{at} = onnx.Add(%w{level}, %x)");
        }
        carried = format!("%v{level}_7");
    }
    put!(text, "%inner = onnx.Relu({carried})\nyield %c, %inner");
    for level in (0..levels).rev() {
        if level == 0 {
            put!(text, "}} return %r0");
        } else {
            put!(text, "}} yield %c, %r{level}");
        }
    }
    text + "}\n}\n"
}

/// So many Ifs, each with such ops in its branch; what the branch gives out is `%b` and a number.
pub(super) fn ifs(n: usize, before: &str, branch: impl Fn(usize) -> String) -> String {
    let text = summed(n, before, |at| {
        format!(
            "%v{at} = onnx.If(%c) : f32[4] region then_branch {{\n{}yield %b{at}\n}} \
             region else_branch {{ yield %x }}\n",
            branch(at)
        )
    });
    text.replace("(%x: f32[4])", "(%x: f32[4], %c: bool[])")
}

pub(super) fn side_by_side(n: usize) -> String {
    ifs(n / 3, "%r = onnx.Relu(%x) : f32[4]\n", |at| {
        format!("%a{at} = onnx.Neg(%x) : f32[4]\n%b{at} = onnx.Add(%a{at}, %r) : f32[4]\n")
    })
}

pub(super) fn equal_in_regions(n: usize) -> String {
    ifs(n / 4, "%r = onnx.Relu(%x) : f32[4]\n", |at| {
        format!(
            "%c{at} = const f32[] 1.0\n%a{at} = onnx.Relu(%x) : f32[4]\n%b{at} = onnx.Add(%a{at}, %c{at}) : f32[4]\n"
        )
    })
}

pub(super) fn regions(n: usize) -> String {
    let n = n / 2;
    let all = list(n, |at| format!("a{at} = region"));
    let mut lines = format!("%r = acme.Switch(%x) {{{all}}} : f32[4]\n");
    for at in 0..n {
        put!(
            lines,
            "region a{at}(%p{at}: f32[4]) {{ %v{at} = onnx.Relu(%p{at}) : f32[4] yield %v{at} }}"
        );
    }
    main_of(&lines, "%r").replace("= 17)", "= 17, \"acme\" = 1)")
}

pub(super) fn captured(n: usize) -> String {
    captured_in(n / 3, 1)
}

pub(super) fn captured_deep(n: usize) -> String {
    captured_in(n / 12, 10)
}

pub(super) fn captured_in(n: usize, levels: usize) -> String {
    let mut before = String::new();
    (0..n).for_each(|at| put!(before, "%o{at} = onnx.Add(%x, %x) : f32[4]"));
    ifs(1, &before, |_| {
        let mut lines = String::new();
        for level in 1..levels {
            put!(
                lines,
                "%n{level} = onnx.If(%c) : f32[4] region else_branch {{ yield %x }} region then_branch {{"
            );
        }
        (0..n).for_each(|at| put!(lines, "%i{at} = onnx.Neg(%o{at}) : f32[4]"));
        put!(
            lines,
            "%b0 = onnx.Sum({}) : f32[4]",
            list(n, |at| format!("%i{at}"))
        );
        let lines = (1..levels).rev().fold(lines, |lines, level| {
            let inner = if level == levels - 1 {
                "%b0".to_owned()
            } else {
                format!("%n{}", level + 1)
            };
            lines + &format!("yield {inner} }}\n")
        });
        if levels > 1 {
            lines.replace("%b0", "%bi") + "%b0 = onnx.Neg(%n1) : f32[4]\n"
        } else {
            lines
        }
    })
}

pub(super) fn carried(n: usize) -> String {
    let n = n / 2;
    let all = list(n, |at| format!("%v{at}"));
    let mut lines = String::new();
    (0..n).for_each(|at| put!(lines, "%i{at} = onnx.Relu(%x) : f32[4]"));
    put!(
        lines,
        "{all} = onnx.Loop(%n, %c, {}) {{body = region}}",
        list(n, |at| format!("%i{at}"))
    );
    put!(
        lines,
        "region body(%at: i64[], %go: bool[], {}) {{",
        list(n, |at| format!("%w{at}"))
    );
    (0..n).for_each(|at| put!(lines, "%u{at} = onnx.Neg(%w{at})"));
    put!(lines, "yield %go, {} }}", list(n, |at| format!("%u{at}")));
    put!(lines, "%sum = onnx.Sum({all}) : f32[4]");
    main_of(&lines, "%sum").replace("(%x: f32[4])", "(%x: f32[4], %n: i64[], %c: bool[])")
}
