//! Ops one after the other, and what they have.

use std::fmt::Write;

/// `@main` of one parameter `%x` with these lines, which returns a value.
pub(super) fn main_of(lines: &str, result: &str) -> String {
    format!(
        "module {{\nfn @main(%x: f32[4]) -> (%y: f32[4]) opset(\"\" = 17) {{\n{lines}return {result}\n}}\n}}\n"
    )
}

/// `count` items, separated by commas.
pub(super) fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(", ")
}

/// `@main` with one line for each number, of which all are summed up.
pub(super) fn summed(count: usize, before: &str, line: impl Fn(usize) -> String) -> String {
    let mut lines = before.to_owned();
    (0..count).for_each(|at| lines += &line(at));
    let all = list(count, |at| format!("%v{at}"));
    put!(lines, "%all = onnx.Sum({all}) : f32[4]");
    main_of(&lines, "%all")
}

/// `@main` with one line for each number, whose values it returns.
pub(super) fn all_returned(count: usize, before: &str, line: impl Fn(usize) -> String) -> String {
    let mut text = String::from("module {\nfn @main(%x: f32[4]) -> (");
    text += &list(count, |at| format!("%y{at}: f32[4]"));
    put!(text, ") opset(\"\" = 17) {{\n{before}");
    (0..count).for_each(|at| text += &line(at));
    text += "return ";
    text += &list(count, |at| format!("%v{at}"));
    text + "\n}\n}\n"
}

/// Lines that each use the value of the one before, `%v0` first.
pub(super) fn chained(count: usize, first: &str, line: impl Fn(usize) -> String) -> String {
    let mut lines = format!("%v0 = {first}\n");
    (1..count).for_each(|at| put!(lines, "%v{at} = {}", line(at - 1)));
    lines
}

pub(super) fn last(count: usize) -> String {
    format!("%v{}", count - 1)
}

pub(super) fn chain(n: usize) -> String {
    let lines = chained(n, "onnx.Relu(%x) : f32[4]", |at| {
        format!("onnx.Add(%v{at}, %x) : f32[4]")
    });
    main_of(&lines, &last(n))
}

pub(super) fn chain_of_second(n: usize) -> String {
    let lines = chained(n, "onnx.Relu(%x) : f32[4]", |at| {
        format!("onnx.Sub(%x, %v{at}) : f32[4]")
    });
    main_of(&lines, &last(n))
}

pub(super) fn untyped_chain(n: usize) -> String {
    let lines = chained(n, "onnx.Relu(%x)", |at| format!("onnx.Add(%v{at}, %x)"));
    main_of(&lines, &last(n))
}

pub(super) fn diamonds(n: usize) -> String {
    let mut lines = String::from("%v0 = onnx.Relu(%x) : f32[4]\n");
    let n = n / 3;
    for at in 1..n {
        let before = at - 1;
        put!(lines, "%a{at} = onnx.Neg(%v{before}) : f32[4]");
        put!(lines, "%b{at} = onnx.Abs(%v{before}) : f32[4]");
        put!(lines, "%v{at} = onnx.Add(%a{at}, %b{at}) : f32[4]");
    }
    main_of(&lines, &last(n))
}

pub(super) fn foldable(n: usize) -> String {
    let mut lines = String::from("%c = const f32[4] [1.0, 2.0, 3.0, 4.0]\n");
    lines += &chained(n, "onnx.Neg(%c) : f32[4]", |at| {
        format!("onnx.Add(%v{at}, %c) : f32[4]")
    });
    put!(lines, "%sum = onnx.Add(%x, {}) : f32[4]", last(n));
    main_of(&lines, "%sum")
}

pub(super) fn copies(n: usize) -> String {
    let mut lines = chained(n, "onnx.Identity(%x) : f32[4]", |at| {
        format!("onnx.Identity(%v{at}) : f32[4]")
    });
    put!(lines, "%sum = onnx.Add(%x, {}) : f32[4]", last(n));
    main_of(&lines, "%sum")
}

pub(super) fn dead_chain(n: usize) -> String {
    let lines = chained(n, "onnx.Relu(%x) : f32[4]", |at| {
        format!("onnx.Add(%v{at}, %x) : f32[4]")
    });
    main_of(&(lines + "%alive = onnx.Neg(%x) : f32[4]\n"), "%alive")
}

pub(super) fn twins(n: usize) -> String {
    let mut lines = String::from("%a0 = onnx.Relu(%x) : f32[4]\n%b0 = onnx.Relu(%x) : f32[4]\n");
    let n = n / 2;
    for at in 1..n {
        let before = at - 1;
        put!(lines, "%a{at} = onnx.Add(%a{before}, %x) : f32[4]");
        put!(lines, "%b{at} = onnx.Add(%x, %b{before}) : f32[4]");
    }
    put!(lines, "%sum = onnx.Sub(%a{0}, %b{0}) : f32[4]", n - 1);
    main_of(&lines, "%sum")
}

pub(super) fn equal_chains(n: usize) -> String {
    summed(n / 10, "", |at| {
        let mut lines = format!("%c{at}_0 = onnx.Neg(%x) : f32[4]\n");
        for link in 1..9 {
            let before = link - 1;
            put!(lines, "%c{at}_{link} = onnx.Abs(%c{at}_{before}) : f32[4]");
        }
        lines + &format!("%v{at} = onnx.Neg(%c{at}_8) : f32[4]\n")
    })
}

pub(super) fn users(n: usize) -> String {
    summed(n, "", |at| format!("%v{at} = onnx.Relu(%x) : f32[4]\n"))
}

pub(super) fn dead_users(n: usize) -> String {
    let mut lines = String::from("%alive = onnx.Neg(%x) : f32[4]\n");
    (0..n).for_each(|at| put!(lines, "%v{at} = onnx.Relu(%alive) : f32[4]"));
    main_of(&lines, "%alive")
}

pub(super) fn uses(n: usize) -> String {
    let all = list(n, |_| "%r".to_owned());
    let lines = format!(
        "%r = onnx.Relu(%x) : f32[4]\n%c = onnx.Concat({all}) {{axis = 0}}\n%sum = onnx.Sum({all}) : f32[4]\n"
    );
    main_of(&lines, "%sum")
}

pub(super) fn returned(n: usize) -> String {
    all_returned(n, "", |at| format!("%v{at} = onnx.Relu(%x) : f32[4]\n"))
}

pub(super) fn returned_copies(n: usize) -> String {
    all_returned(n, "", |at| format!("%v{at} = onnx.Identity(%x) : f32[4]\n"))
}

pub(super) fn returned_local_copies(n: usize) -> String {
    all_returned(n, "%r = onnx.Relu(%x) : f32[4]\n", |at| {
        format!("%v{at} = onnx.Identity(%r) : f32[4]\n")
    })
}

pub(super) fn returned_constant_copies(n: usize) -> String {
    all_returned(n, "%c = const f32[4] [1.0, 2.0, 3.0, 4.0]\n", |at| {
        format!("%v{at} = onnx.Identity(%c) : f32[4]\n")
    })
}

pub(super) fn joined_constant_copies(n: usize) -> String {
    let mut lines = "%c = const f32[4] [1.0, 2.0, 3.0, 4.0]\n".to_owned();
    for at in 0..n {
        put!(lines, "%v{at} = onnx.Identity(%c) : f32[4]");
    }
    let all = list(n, |at| format!("%v{at}"));
    put!(lines, "%sum = onnx.Sum(%x, {all}) : f32[4]");
    main_of(&lines, "%sum")
}

pub(super) fn returned_dropouts(n: usize) -> String {
    all_returned(n, "%r = onnx.Relu(%x) : f32[4]\n", |at| {
        format!("%v{at} = onnx.Dropout(%r) : f32[4]\n")
    })
}

pub(super) fn returned_often(n: usize) -> String {
    let text = all_returned(n, "%r = onnx.Relu(%x) : f32[4]\n", |_| String::new());
    let (lines, _) = text.split_once("return").unwrap_or_default();
    format!("{lines}return {}\n}}\n}}\n", list(n, |_| "%r".to_owned()))
}

pub(super) fn results(n: usize) -> String {
    let (all, types) = (
        list(n, |at| format!("%v{at}")),
        list(n, |_| "f32[4]".to_owned()),
    );
    let lines = format!(
        "%wide = onnx.Concat(%x) {{axis = 0}}\n{all} = onnx.Split(%wide) {{axis = 0}} : {types}\n\
         %sum = onnx.Sum({all}) : f32[4]\n"
    );
    main_of(&lines, "%sum")
}

pub(super) fn constants(n: usize) -> String {
    summed(n, "", |at| {
        format!("%c{at} = const f32[] {at}.0\n%v{at} = onnx.Add(%x, %c{at}) : f32[4]\n")
    })
}

pub(super) fn equal_constants(n: usize) -> String {
    summed(n, "", |at| {
        format!("%c{at} = const f32[] 1.0\n%v{at} = onnx.Add(%x, %c{at}) : f32[4]\n")
    })
}

pub(super) fn shapes(n: usize) -> String {
    let mut text = String::from(
        "module {\nfn @main(%x: f32[a,b]) -> (%y) opset(\"\" = 17) {\n\
         %zero = const i64[1] [0]\n%one = const i64[1] [1]\n%v0 = onnx.Relu(%x)\n",
    );
    let n = n / 5;
    for at in 1..n {
        let before = at - 1;
        put!(text, "%s{at} = onnx.Shape(%v{before})");
        put!(text, "%a{at} = onnx.Gather(%s{at}, %zero)");
        put!(text, "%b{at} = onnx.Gather(%s{at}, %one)");
        put!(text, "%t{at} = onnx.Concat(%b{at}, %a{at}) {{axis = 0}}");
        put!(text, "%v{at} = onnx.Reshape(%v{before}, %t{at})");
    }
    text + &format!("return {}\n}}\n}}\n", last(n))
}

/// Sizes of a dim `a`, where each is made of the one before by an op.
pub(super) fn sizes_by(n: usize, op: &str) -> String {
    let mut text = String::from(
        "module {\nfn @main(%x: f32[a]) -> (%y) opset(\"\" = 17) {\n\
         %one = const i64[1] [1]\n%v0 = onnx.Shape(%x)\n",
    );
    for at in 1..n {
        let before = at - 1;
        put!(
            text,
            "%v{at} = {}",
            op.replace("%v", &format!("%v{before}"))
        );
    }
    put!(text, "%r = onnx.ConstantOfShape({})", last(n));
    text + "return %r\n}\n}\n"
}

pub(super) fn sizes(n: usize) -> String {
    sizes_by(n, "onnx.Add(%v, %one)")
}

pub(super) fn doubled_sizes(n: usize) -> String {
    sizes_by(n, "onnx.Mul(%v, %v)")
}

pub(super) fn sizes_of_data(n: usize) -> String {
    let mut text = String::from(
        "module {\nfn @main(%x: f32[a]) -> (%y) opset(\"\" = 17) {\n%v0 = onnx.NonZero(%x)\n",
    );
    let n = n / 2;
    for at in 1..n {
        put!(text, "%c{at} = onnx.Cast(%v{}) {{to = 1}}", at - 1);
        put!(text, "%v{at} = onnx.NonZero(%c{at})");
    }
    text + &format!("return {}\n}}\n}}\n", last(n))
}

pub(super) fn tuple(n: usize) -> String {
    let n = n / 3;
    let all = list(n, |at| format!("%r{at}"));
    let mut before = String::new();
    (0..n).for_each(|at| put!(before, "%r{at} = onnx.Relu(%x) : f32[4]"));
    put!(before, "%t = tuple({all})");
    summed(n, &before, |at| {
        format!("%v{at} = tuple_get(%t) {{index = {at}}}\n")
    })
}

pub(super) fn tuples(n: usize) -> String {
    let n = n / 2;
    let mut lines = String::from("%v0 = onnx.Relu(%x) : f32[4]\n");
    for at in 1..n {
        put!(lines, "%t{at} = tuple(%v{}, %x)", at - 1);
        put!(lines, "%v{at} = tuple_get(%t{at}) {{index = 0}}");
    }
    main_of(&lines, &last(n))
}

pub(super) fn attrs(n: usize) -> String {
    let all = list(n, |at| format!("a{at} = {at}"));
    let lines = format!("%r = acme.X(%x) {{{all}}} : f32[4]\n%s = acme.X(%r) {{{all}}} : f32[4]\n");
    main_of(&lines, "%s").replace("= 17)", "= 17, \"acme\" = 1)")
}

pub(super) fn function_attrs(n: usize) -> String {
    let all = list(n, |at| format!("a{at} = {at}"));
    main_of("%r = onnx.Relu(%x) : f32[4]\n", "%r")
        .replace("= 17)", &format!("= 17) attributes {{{all}}}"))
}

pub(super) fn metadata(n: usize) -> String {
    let mut text = String::from("module {\n");
    (0..n).for_each(|at| put!(text, "metadata \"k{at}\" = \"v\""));
    main_of("%r = onnx.Relu(%x) : f32[4]\n", "%r").replacen("module {\n", &text, 1)
}

pub(super) fn op_metadata(n: usize) -> String {
    let all = list(n, |at| format!("k{at} = \"v\""));
    let lines = format!(
        "%r = onnx.Relu(%x) : f32[4] meta {{{all}}}\n%s = onnx.Relu(%x) : f32[4] meta {{{all}}}\n\
         %sum = onnx.Add(%r, %s) : f32[4]\n"
    );
    main_of(&lines, "%sum")
}

pub(super) fn locations(n: usize) -> String {
    summed(n, "", |at| {
        format!("%v{at} = onnx.Relu(%x) : f32[4] loc(\"at{at}\")\n")
    })
}

pub(super) fn params(n: usize) -> String {
    let all = list(n, |at| format!("%p{at}: f32[4]"));
    let mut lines = String::new();
    put!(
        lines,
        "%sum = onnx.Sum({}) : f32[4]",
        list(n, |at| format!("%p{at}"))
    );
    main_of(&lines, "%sum").replace("%x: f32[4]", &all)
}

/// Each parameter has a size of its own.
pub(super) fn symbols(n: usize) -> String {
    let mut text = String::from("module {\nfn @main(");
    text += &list(n, |at| format!("%p{at}: i64[s{at}]"));
    text += ") -> (";
    text += &list(n, |at| format!("%y{at}: i64[s{at}]"));
    text += ") opset(\"\" = 17) {\n";
    (0..n).for_each(|at| put!(text, "%v{at} = onnx.Neg(%p{at}) : i64[s{at}]"));
    text + &format!("return {}\n}}\n}}\n", list(n, |at| format!("%v{at}")))
}

pub(super) fn bind_symbols(n: usize) -> String {
    (0..n).map(|at| format!("s{at} = 2\n")).collect()
}

/// Every other parameter.
pub(super) fn bind_params(n: usize) -> String {
    let each = (0..n).step_by(2);
    each.map(|at| format!("p{at} = [1, 2]\n")).collect()
}

/// Every other parameter may be left out.
pub(super) fn defaults(n: usize) -> String {
    let param = |at: usize| match at % 2 {
        0 => format!("%p{at}: f32[4] = const f32[4] [1.0, 2.0, 3.0, {at}.0]"),
        _ => format!("%p{at}: f32[4]"),
    };
    params(n).replace(&list(n, |at| format!("%p{at}: f32[4]")), &list(n, param))
}

pub(super) fn bind_defaults(_: usize) -> String {
    "defaults = true".to_owned()
}

pub(super) fn domains(n: usize) -> String {
    // No function has more.
    let domains = n.min(1000);
    let all = list(domains, |at| format!("\"d{at}\" = 1"));
    let text = summed(n, "", |at| {
        format!("%v{at} = d{}.F(%x) : f32[4]\n", at % domains)
    });
    text.replace("= 17)", &format!("= 17, {all})"))
}

/// Groups of three elementwise ops, an op that is of none between them; all equal, or each with another number.
fn groups_of(n: usize, number: impl Fn(usize) -> usize) -> String {
    let mut lines = String::new();
    for at in 0..n / 4 {
        let before = match at {
            0 => "x".to_owned(),
            _ => format!("d{}", at - 1),
        };
        put!(lines, "%a{at} = onnx.Exp(%{before}) : f32[4]");
        put!(
            lines,
            "%b{at} = onnx.LeakyRelu(%a{at}) {{alpha = {}.0}} : f32[4]",
            number(at)
        );
        put!(lines, "%c{at} = onnx.Neg(%b{at}) : f32[4]");
        put!(lines, "%d{at} = onnx.Hardmax(%c{at}) : f32[4]");
    }
    main_of(&lines, &format!("%d{}", n / 4 - 1))
}

pub(super) fn equal_groups(n: usize) -> String {
    groups_of(n, |_| 1)
}

pub(super) fn other_groups(n: usize) -> String {
    groups_of(n, |at| at)
}

/// A chain, and behind it the sums of its values, the last one first.
pub(super) fn late_users(n: usize) -> String {
    let count = n / 2;
    let mut lines = chained(count, "onnx.Relu(%x) : f32[4]", |at| {
        format!("onnx.Neg(%v{at}) : f32[4]")
    });
    put!(lines, "%s{} = onnx.Exp(%v{}) : f32[4]", count, count - 1);
    for at in (0..count).rev() {
        put!(lines, "%s{at} = onnx.Add(%s{}, %v{at}) : f32[4]", at + 1);
    }
    main_of(&lines, "%s0")
}
