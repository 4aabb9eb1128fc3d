//! `schema`: the JSON Schemas of files.

use crate::support::Bench;

#[test]
fn schemas_are_printed_as_they_are() {
    let ran = Bench::new().passdock("schema pipeline");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, passdock::pipeline::SCHEMA);
    let ran = Bench::new().passdock("schema manifest");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, passdock::plugin::manifest::SCHEMA);
    let ran = Bench::new().passdock("schema answers");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, crate::json::SCHEMA);
    let ran = Bench::new().passdock("schema manifests");
    assert_eq!((ran.status, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.contains("a similar value exists: 'manifest'"),
        "{}",
        ran.stderr
    );
}
