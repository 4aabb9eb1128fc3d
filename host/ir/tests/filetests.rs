//! The files in `tests/filetests/text`: each parses, verifies, and its print is stable.

mod support;

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
