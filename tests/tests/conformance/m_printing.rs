//! M. How passes and contexts print.

use crate::rule;
use crate::system::{cx, pass, seq, tap};

/// KEEP. A printed pass has its name.
#[test]
fn r156_printed_pass_has_its_name() {
    rule!(|s| {
        let leaf = s.pass(pass("Leaf"))?;
        s.note(format!("named: {}", s.shown(&leaf).contains("Leaf")));
        Ok(())
    })
    .plugins()
    .keep("r156");
}

/// KEEP. A printed Sequential lists its passes. (The front end defines the format of other passes.)
#[test]
fn r157_printed_sequential_lists_its_passes() {
    rule!(|s| {
        let both = seq([pass("First"), pass("Last")])
            .name("cleanup")
            .opt_level(1);
        // TVM prints a space after each name.
        s.note(s.shown(&s.pass(both)?).replace(" ]", "]"));
        Ok(())
    })
    .plugins()
    .keep("r157");
}

/// KEEP. A printed info has the name, the level and the required passes.
#[test]
fn r158_printed_info() {
    rule!(|s| {
        s.note(s.shown_info(&s.pass(pass("Level2").opt_level(2))?));
        let two = pass("NeedsTwo").required(["Leaf", "First"]);
        s.note(s.shown_info(&s.pass(two)?));
        Ok(())
    })
    .plugins()
    .keep("r158");
}

/// KEEP. A printed context has a line for each part.
#[test]
fn r159_printed_context() {
    rule!(|s| {
        let full = cx().level(3).requires(["Leaf"]).disables(["First", "Last"]);
        let full = s.context(full.watch(tap("one")).watch(tap("two")))?;
        s.note(s.shown_context(&full));
        Ok(())
    })
    .keep("r159");
}
