//! The files in `tests/filetests/text`: each parses, and its print is stable.

use std::path::PathBuf;

use passdock_ir::text;

fn files(folder: &str) -> Vec<PathBuf> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/filetests/");
    let mut files: Vec<PathBuf> = std::fs::read_dir(format!("{root}{folder}"))
        .expect("the folder is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "ir"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no files in {folder}");
    files
}

#[test]
fn what_was_printed_prints_the_same_after_parsing() {
    for path in files("text") {
        let source = std::fs::read_to_string(&path).expect("readable");
        let module = text::parse(&source).unwrap_or_else(|error| panic!("{path:?}:{error}"));
        let printed = text::print(&module);
        let again =
            text::parse(&printed).unwrap_or_else(|error| panic!("{path:?}:{error}\n{printed}"));
        assert_eq!(printed, text::print(&again), "{path:?}");
    }
}
