//! The contents of the HTML report, and that it loads no other resources.

use expect_test::{expect, expect_file};
use passdock::model_file::parse_text;
use passdock::pipeline::Report;
use passdock::{
    InstrumentSetup, Module, PassContext, PassError, PassInfo, PassRef, Registry, Sequential,
    create_host_pass,
};
use passdock_tools::page::{Document, Recorded, RunFacts, instrument, render};

fn module(body: &str) -> Module {
    let text =
        format!("module {{ fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {{ {body} }} }}");
    parse_text("m.ir", &text).expect("valid IR")
}

/// Returns a pass whose output is always this module.
fn becomes(name: &str, body: &str) -> PassRef {
    let after = module(body);
    create_host_pass(PassInfo::new(name), move |_, _| Ok(after.clone()))
}

/// Returns the recorded data of passes that run on a module.
fn recorded(before: &str, passes: impl IntoIterator<Item = PassRef>) -> Recorded {
    let registry = Registry::new();
    let options = "file = 'page.html'".parse().expect("TOML");
    let setup = InstrumentSetup::new(&registry);
    let recorder = instrument().make(&options, &setup).expect("an instrument");
    let context = PassContext::builder()
        .registry(&registry)
        .shared_instrument(recorder.clone())
        .build()
        .expect("a context");
    let data = context.scope(|_| {
        Sequential::new(passes).call(module(before))?;
        Ok::<_, PassError>(recorder.report_data().expect("report data"))
    });
    let data = data.expect("a successful run");
    serde_json::from_value(data).expect("recorded data")
}

const BEFORE: &str = r#"
    %a = onnx.Relu(%x) loc("/a/Relu")
    %b = onnx.Neg(%a) loc("/b/Neg")
    %c = onnx.Concat(%b) {axis = 0} loc("/c")
    return %c"#;
const THEN: &str = r#"
    %a = onnx.Relu(%x) loc("/a/Relu")
    %b = onnx.Neg(%a) loc("/b/Neg")
    %c = onnx.Concat(%b) {axis = 1} loc("/c")
    return %c"#;
const AFTER: &str = r#"
    %a = onnx.Relu(%x) loc("/a/Relu")
    %n = onnx.Abs(%a) loc("/n")
    %c = onnx.Concat(%n) {axis = 1} loc("/c")
    return %c"#;

#[test]
fn ops_list_passes_that_created_changed_or_removed_them() {
    let passes = [becomes("axis", THEN), becomes("abs", AFTER)];
    let recorded = recorded(BEFORE, passes);
    let ops = [&recorded.before, &recorded.after].map(|functions| {
        let each = functions[0].ops.iter();
        let lines = each.map(|op| {
            let name = |pass: &u32| recorded.passes[*pass as usize].name.as_str();
            let fates = [
                op.history.made.iter().map(name).collect::<Vec<_>>(),
                op.history.changed.iter().map(name).collect(),
                op.history.removed.iter().map(name).collect(),
            ];
            format!(
                "{} {:?}: made {:?}, changed {:?}, removed {:?}\n",
                op.kind, op.names, fates[0], fates[1], fates[2]
            )
        });
        lines.collect::<String>()
    });
    expect![[r#"
        onnx.Relu ["/a/Relu"]: made [], changed [], removed []
        onnx.Neg ["/b/Neg"]: made [], changed [], removed ["abs"]
        onnx.Concat ["/c"]: made [], changed ["axis"], removed []
        return []: made [], changed [], removed []

        onnx.Relu ["/a/Relu"]: made [], changed [], removed []
        onnx.Abs ["/n"]: made ["abs"], changed [], removed []
        onnx.Concat ["/c"]: made [], changed ["axis"], removed []
        return []: made [], changed [], removed []
    "#]]
    .assert_eq(&ops.join("\n"));
}

#[test]
fn passes_list_their_changes() {
    let passes = [
        becomes("axis", THEN),
        becomes("abs", AFTER),
        becomes("none", AFTER),
    ];
    let recorded = recorded(BEFORE, passes);
    let data = (&recorded.passes[1..3], &recorded.kinds, &recorded.after);
    expect_file!["page.json"].assert_eq(&serde_json::to_string_pretty(&data).expect("JSON"));
}

#[test]
fn page_escapes_strings_and_loads_no_resources() {
    let hostile = "</script><script>alert(1)</script><!--\\u{1b}\\u{202e}\\u{7f}\\r";
    let before = BEFORE.replace("/b/Neg", hostile);
    let recorded = recorded(&before, [becomes("abs", AFTER)]);
    let (report, facts) = (Report::default(), RunFacts::default());
    let page = render(&Document::new(&report, Some(&recorded), &facts)).expect("JSON");
    assert_eq!(page.matches("<script").count(), 2, "the data, the code");
    assert!(page.contains("default-src 'none'"));
    let shown =
        r"\u003c/script>\u003cscript>alert(1)\u003c/script>\u003c!--\\u{1b}\\u{202e}\\u{7f}\\r";
    assert!(page.contains(shown), "{page}");
    for function in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    ] {
        assert!(
            !page.contains(function),
            "the page's script uses {function}"
        );
    }
    let links = page.match_indices("http").filter(|(at, _)| {
        // The namespace of SVG isn't loaded.
        !page[*at..].starts_with("http://www.w3.org/2000/svg") && page[*at..].contains("://")
    });
    let urls: Vec<&str> = links
        .map(|(at, _)| &page[at..(at + 30).min(page.len())])
        .filter(|link| link.starts_with("http://") || link.starts_with("https://"))
        .collect();
    assert_eq!(urls, [""; 0]);
}

#[test]
fn large_data_is_compressed() {
    let ops: Vec<String> = (0..2000)
        .map(|at| format!("%v{at} = onnx.Neg(%x)"))
        .collect();
    let before = format!("{} return %v0", ops.join(" "));
    let recorded = recorded(&before, [becomes("abs", AFTER)]);
    let (report, facts) = (Report::default(), RunFacts::default());
    let document = Document::new(&report, Some(&recorded), &facts);
    let page = render(&document).expect("JSON");
    let json = serde_json::to_string(&document).expect("JSON");
    assert!(page.contains("application/x-deflate-base64"));
    assert!(page.len() < json.len() / 2);
}
