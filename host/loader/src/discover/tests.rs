//! Discovery in directories with libraries that aren't plugins.

use std::process::Command;

use super::{SearchDir, discover};
use crate::file::EXTENSION;

/// Next to a program, a library that isn't a plugin is skipped, and a damaged one is a warning. In a plugin directory
/// both are warnings.
#[test]
fn libraries_next_to_a_program_are_skipped() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let source = dir.path().join("runtime.c");
    std::fs::write(&source, "int runtime(void) { return 1; }").expect("a file");
    let runtime = dir.path().join("runtime").with_extension(EXTENSION);
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC"]).arg(source).arg("-o");
    if !cc
        .arg(&runtime)
        .status()
        .is_ok_and(|status| status.success())
    {
        return skip("could not run cc");
    }
    let broken = dir.path().join("broken").with_extension(EXTENSION);
    std::fs::write(broken, "").expect("a file");
    for (mixed, unreadable) in [(true, &["broken"][..]), (false, &["broken", "runtime"])] {
        let dirs = [SearchDir {
            path: dir.path().to_path_buf(),
            required: false,
            mixed,
        }];
        let found = discover(&dirs).expect("the directory");
        let names = |errors: &[crate::PluginError]| {
            let stems = errors.iter().map(|error| {
                let stem = error.origin.path().and_then(|path| path.file_stem());
                stem.unwrap_or_default().to_string_lossy().into_owned()
            });
            stems.collect::<Vec<_>>()
        };
        assert_eq!(names(&found.unreadable), unreadable, "mixed: {mixed}");
        // Errors about missing passes may list the skipped library.
        let passed_over = if mixed { &["runtime"][..] } else { &[] };
        assert_eq!(names(&found.passed_over), passed_over, "mixed: {mixed}");
    }
}

#[allow(clippy::print_stderr, reason = "a skipped test prints a message")]
fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}
