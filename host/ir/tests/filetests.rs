//! The files in `tests/filetests`. Those in `text` parse, verify, and print as they are. Those in
//! `syntax` and `verify` hold cases that are refused, with what is said in a comment: under the text
//! that is wrong if the parser says it, at the end of the case if the verifier does.
//! `UPDATE_EXPECT=1` rewrites these comments.

mod support;

use expect_test::expect_file;
use passdock_ir::{text, verify};

#[test]
fn what_was_printed_prints_the_same_after_parsing() {
    for path in support::files("text") {
        let source = std::fs::read_to_string(&path).expect("readable");
        let module = text::parse(&source).unwrap_or_else(|error| panic!("{path:?}:{error}"));
        verify::verify_module(&module).unwrap_or_else(|error| panic!("{path:?}: {error:#?}"));
        let printed = text::print(&module);
        let again =
            text::parse(&printed).unwrap_or_else(|error| panic!("{path:?}:{error}\n{printed}"));
        assert_eq!(printed, text::print(&again), "{path:?}");
        // Comments apart, the files are as the printer writes them.
        let code = source.lines().filter(|line| !line.starts_with(';'));
        let code: String = code.flat_map(|line| [line, "\n"]).collect();
        assert_eq!(printed, code, "{path:?}");
    }
}

/// What stands between two cases.
const NEXT: &str = "; ---\n";

/// `verify` has a file for each invariant that text can break, `syntax` has what isn't IR.
#[test]
fn what_is_refused_says_why() {
    for path in ["syntax", "verify"].into_iter().flat_map(support::files) {
        let source = std::fs::read_to_string(&path).expect("readable");
        let mut out = String::new();
        for case in source.split_inclusive(NEXT) {
            let (case, end) = match case.strip_suffix(NEXT) {
                Some(case) => (case, NEXT),
                None => (case, ""),
            };
            let above = out.lines().count();
            // The reason may name a line below it.
            let said = with_reason(case, above).and_then(|said| with_reason(&said, above));
            out += &said.unwrap_or_else(|| panic!("{path:?}: this is read:\n{case}"));
            out += end;
        }
        expect_file![path].assert_eq(&out);
    }
}

/// A case with the reason why it is refused; `None` if it isn't. Lines are counted from the top of
/// the file.
fn with_reason(case: &str, above: usize) -> Option<String> {
    let code = case
        .lines()
        .map(|line| if is_reason(line) { "" } else { line });
    let code: Vec<&str> = code.collect();
    let source = "\n".repeat(above) + code.join("\n").trim_end();
    let (at, reason) = match text::parse(&source) {
        Err(error) => {
            let shown = source.get(error.span.clone()).expect("the span is text");
            let width = shown.lines().next().unwrap_or("").chars().count().max(1);
            let before = (error.column as usize).checked_sub(2);
            let before = " ".repeat(before.expect("it is indented"));
            let said = error.to_string();
            let (_, said) = said.split_once(": ").expect("it begins with the place");
            let under = format!(";{before}{} {said}\n", "^".repeat(width));
            (error.line as usize - above, under)
        }
        Ok(module) => {
            let violations = verify::verify_module(&module).err()?;
            let said = violations.iter().map(|said| format!("; error: {said}\n"));
            (code.len(), said.collect())
        }
    };
    let mut out = String::new();
    for (line, number) in case.lines().zip(1..) {
        if !is_reason(line) {
            out += &format!("{line}\n");
        }
        if number == at {
            out += &reason;
        }
    }
    Some(out)
}

/// A comment that says why a case is refused.
fn is_reason(line: &str) -> bool {
    let is_under = |text: &str| text.trim_start().starts_with('^');
    line.starts_with("; error: ") || line.strip_prefix(';').is_some_and(is_under)
}
