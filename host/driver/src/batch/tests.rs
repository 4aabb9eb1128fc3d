//! The items of a batch, which of them are up to date, and their order.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use passdock_core::PassError;

use super::*;
use crate::pipeline::{PipelineText, Request};

fn dir() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

fn write(dir: &Path, name: &str, bytes: &str) -> PathBuf {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().expect("a directory")).expect("made");
    fs::write(&path, bytes).expect("written");
    path
}

/// Renders items or an error, without the directory.
fn said(dir: &Path, found: Result<Vec<BatchItem>, PassError>) -> String {
    let text = match found {
        Ok(items) => {
            let lines = items.iter();
            let lines = lines.map(|item| {
                format!(
                    "{} → {}",
                    display_path(&item.model),
                    display_path(&item.output)
                )
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Err(error) => error.to_string(),
    };
    text.replace(&format!("{}/", dir.display()), "")
}

#[test]
fn directories_keep_their_paths() {
    let dir = dir();
    let dir = dir.path();
    for name in [
        "m/b.onnx",
        "m/a/c.onnx",
        "m/.hidden/d.onnx",
        "m/readme.md",
        "m/out/e.onnx",
        "f.ir",
    ] {
        write(dir, name, "");
    }
    let (m, f) = (dir.join("m"), dir.join("f.ir"));
    expect![[r#"
        m/a/c.onnx → m/out/a/c.onnx
        m/b.onnx → m/out/b.onnx
        f.ir → m/out/f.ir"#]]
    .assert_eq(&said(
        dir,
        items(&[m.clone(), f.clone()], &dir.join("m/out")),
    ));
    let other = write(dir, "other/f.ir", "");
    expect![
        "the results of `f.ir` and `other/f.ir` would both be `o/f.ir`; pass the directory that contains both, or \
            run two batches"
    ]
        .assert_eq(&said(dir, items(&[f.clone(), other], &dir.join("o"))));
    // The same file under two names, and a missing file.
    let same = dir.join("m/../f.ir");
    let gone = dir.join("gone.onnx");
    expect![[r#"
        f.ir → o/f.ir
        gone.onnx → o/gone.onnx"#]]
    .assert_eq(&said(
        dir,
        items(&[f.clone(), same, gone.clone(), gone], &dir.join("o")),
    ));
    // A file in a directory that is listed as well.
    let both = [m.clone(), dir.join("m/a/c.onnx")];
    expect![[r#"
        m/a/c.onnx → o/a/c.onnx
        m/b.onnx → o/b.onnx
        m/out/e.onnx → o/out/e.onnx"#]]
    .assert_eq(&said(dir, items(&both, &dir.join("o"))));
    expect!["a result would overwrite the model `f.ir`; write the results to another directory"]
        .assert_eq(&said(dir, items(&[f], dir)));
    expect!["found no `.onnx` file in `m/out/a`"].assert_eq(&said(
        dir,
        items(
            &[write(dir, "m/out/a/x", "").parent().expect("it").to_owned()],
            dir,
        ),
    ));
    let missing = said(dir, items(&[dir.join("none")], dir));
    assert!(missing.starts_with("could not read `none`"), "{missing}");
}

#[test]
fn what_is_done_is_known_until_something_of_it_changes() {
    let dir = dir();
    let dir = dir.path();
    let plugin = write(dir, "p.so", "1");
    let item = BatchItem {
        model: write(dir, "a.onnx", "a"),
        output: dir.join("out/a.onnx"),
    };
    let (request, file) = (Request::default(), dir.join("results.jsonl"));
    let fingerprint = || Fingerprint::new(&request, std::slice::from_ref(&plugin));
    let is_done = |fingerprint: &Fingerprint| {
        let kept = BatchResults::open(&file).expect("it is there");
        kept.done(&item, fingerprint)
            .is_some_and(|result| result.up_to_date)
    };
    let run = |ok: bool| {
        let report = Report {
            ok,
            ..Report::default()
        };
        let mut kept = BatchResults::open(&file).expect("it can be made");
        let items = [item.clone()];
        super::run(
            &items,
            &fingerprint(),
            1,
            || |_: &BatchItem| report.clone(),
            &mut |result| kept.add(&result),
        )
        .expect("kept");
    };
    run(false);
    assert!(!is_done(&fingerprint()), "it failed");
    run(true);
    assert!(!is_done(&fingerprint()), "its result is gone");
    write(dir, "out/a.onnx", "");
    assert!(is_done(&fingerprint()));
    let other = Request {
        opt_level: Some(1),
        ..request.clone()
    };
    assert!(
        !is_done(&Fingerprint::new(&other, std::slice::from_ref(&plugin))),
        "another level"
    );
    write(dir, "p.so", "22");
    assert!(!is_done(&fingerprint()), "another plugin");
    write(dir, "p.so", "1");
    run(true);
    write(dir, "a.onnx", "aa");
    assert!(!is_done(&fingerprint()), "another model");
    // An incomplete line.
    let lines = fs::read_to_string(&file).expect("text");
    fs::write(&file, lines.clone() + "{\"model\":\"b").expect("written");
    drop(BatchResults::open(&file).expect("the rest is whole"));
    assert_eq!(fs::read_to_string(&file).expect("text"), lines);
    for other in ["not results\n", "not results"] {
        fs::write(&file, other).expect("written");
        assert!(BatchResults::open(&file).is_err());
        assert_eq!(fs::read_to_string(&file).expect("text"), other);
    }
}

#[test]
fn one_batch_at_a_time_writes_a_file() {
    let dir = dir();
    let file = dir.path().join("results.jsonl");
    let first = BatchResults::open(&file).expect("it can be made");
    let refused = BatchResults::open(&file)
        .map(|_| ())
        .expect_err("it is written");
    let said = refused
        .to_string()
        .replace(&format!("{}/", dir.path().display()), "");
    expect!["another batch is writing `results.jsonl`; wait until it is done, or pass another file: `--results FILE`"]
        .assert_eq(&said);
    drop(first);
    assert!(BatchResults::open(&file).is_ok());
}

/// A link may be from another user, and lead to a file with other contents.
#[cfg(unix)]
#[test]
fn a_link_has_to_lead_to_results() {
    let dir = dir();
    let [file, mine] = ["results.jsonl", "mine"].map(|name| dir.path().join(name));
    std::os::unix::fs::symlink(&mine, &file).expect("linked");
    assert!(BatchResults::open(&file).is_err() && !mine.exists());
    for (text, is_taken) in [("", false), ("text", false), ("{\"model\":", true)] {
        fs::write(&mine, text).expect("written");
        assert_eq!(BatchResults::open(&file).is_ok(), is_taken, "{text}");
        let left = if is_taken { "" } else { text };
        assert_eq!(fs::read_to_string(&mine).expect("text"), left);
    }
}

#[test]
fn files_of_rules_count_by_their_texts() {
    let dir = dir();
    let dir = dir.path();
    let name = |file: &str| display_path(&dir.join(file));
    let text = "
        passes = [{ rules = \"entry.rules\" }, { name = \"group\", passes = [{ name = \"P\", options = { rules = \
          [\"option.rules\"] } }] }]
        [context.config]
        \"acme.P\" = { rules = [\"config.rules\", \"rule r { onnx.Neg(%x) } ; in unnamed.rules\"] }
    ";
    let request = Request {
        pipeline: Some(PipelineText {
            path: dir.join("p.toml"),
            text: text.to_owned(),
            built_in: false,
            of_program: false,
        }),
        passes: vec![name("argument.rules")],
        config: vec![
            format!("acme.P.rules=['{}']", name("field.rules")),
            format!("acme.Q={{ rules = ['{}'] }}", name("fields.rules")),
            "acme.Q.rules".to_owned(),
        ],
        ..Request::default()
    };
    let model = write(dir, "a.onnx", "a");
    let now = || Fingerprint::new(&request, &[]).for_file(&model);
    for file in ["entry", "option", "config", "argument", "field", "fields"] {
        let file = format!("{file}.rules");
        let path = write(dir, &file, "1");
        let before = now();
        assert_eq!(now(), before);
        // The length and the modification time stay the same.
        let time = fs::metadata(&path).and_then(|about| about.modified());
        write(dir, &file, "2");
        let opened = fs::File::options().write(true).open(&path);
        opened
            .and_then(|file| file.set_modified(time?))
            .expect("set");
        assert_ne!(now(), before, "{file}");
    }
    let before = now();
    write(dir, "unnamed.rules", "1");
    assert_eq!(now(), before);
}

#[test]
fn the_largest_begin_and_an_error_ends_it() {
    let dir = dir();
    let sizes = [
        ("small.onnx", "1"),
        ("large.onnx", "333"),
        ("middle.onnx", "22"),
    ];
    let items: Vec<BatchItem> = sizes
        .map(|(name, bytes)| BatchItem {
            model: write(dir.path(), name, bytes),
            output: dir.path().join("out").join(name),
        })
        .into();
    let fingerprint = Fingerprint::new(&Request::default(), &[]);
    let order = RefCell::new(Vec::new());
    let name = |result: &ModelResult| result.model.rsplit('/').next().map(str::to_owned);
    let run = |at_most: usize| {
        order.borrow_mut().clear();
        super::run(
            &items,
            &fingerprint,
            1,
            || |_: &BatchItem| Report::default(),
            &mut |result| {
                order.borrow_mut().extend(name(&result));
                match order.borrow().len() < at_most {
                    true => Ok(()),
                    false => Err("enough"),
                }
            },
        )
    };
    assert_eq!(run(9), Ok(()));
    assert_eq!(*order.borrow(), ["large.onnx", "middle.onnx", "small.onnx"]);
    assert_eq!(run(1), Err("enough"));
    assert_eq!(*order.borrow(), ["large.onnx"]);
}
