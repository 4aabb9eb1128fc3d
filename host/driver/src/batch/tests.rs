//! Items of a batch: output paths, up-to-date checks and order.

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
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(&path, bytes).expect("a file");
    path
}

/// Renders items or an error, without the directory.
fn render(dir: &Path, found: Result<Vec<BatchItem>, PassError>) -> String {
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
fn outputs_keep_relative_paths() {
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
    .assert_eq(&render(
        dir,
        items(&[m.clone(), f.clone()], &dir.join("m/out")),
    ));
    let other = write(dir, "other/f.ir", "");
    expect!["the results of `f.ir` and `other/f.ir` would both be `o/f.ir`; pass the directory that contains both, or \
            run two batches"]
        .assert_eq(&render(dir, items(&[f.clone(), other], &dir.join("o"))));
    // The same file under two names, and a missing file.
    let same = dir.join("m/../f.ir");
    let missing_file = dir.join("gone.onnx");
    expect![[r#"
        f.ir → o/f.ir
        gone.onnx → o/gone.onnx"#]]
    .assert_eq(&render(
        dir,
        items(
            &[f.clone(), same, missing_file.clone(), missing_file],
            &dir.join("o"),
        ),
    ));
    // A file in a directory that is listed as well.
    let both = [m.clone(), dir.join("m/a/c.onnx")];
    expect![[r#"
        m/a/c.onnx → o/a/c.onnx
        m/b.onnx → o/b.onnx
        m/out/e.onnx → o/out/e.onnx"#]]
    .assert_eq(&render(dir, items(&both, &dir.join("o"))));
    expect!["a result would overwrite the model `f.ir`; write the results to another directory"]
        .assert_eq(&render(dir, items(&[f], dir)));
    expect!["found no `.onnx` file in `m/out/a`"].assert_eq(&render(
        dir,
        items(
            &[write(dir, "m/out/a/x", "").parent().expect("it").to_owned()],
            dir,
        ),
    ));
    let missing = render(dir, items(&[dir.join("none")], dir));
    assert!(missing.starts_with("could not read `none`"), "{missing}");
}

#[test]
fn item_is_up_to_date_until_an_input_changes() {
    let dir = dir();
    let dir = dir.path();
    let plugin = write(dir, "p.so", "1");
    let item = BatchItem {
        model: write(dir, "a.onnx", "a"),
        output: dir.join("out/a.onnx"),
    };
    let (request, file) = (Request::default(), dir.join("results.jsonl"));
    let fingerprint = || Fingerprint::new(&request, std::slice::from_ref(&plugin));
    let is_up_to_date = |fingerprint: &Fingerprint| {
        let results = BatchResults::open(&file).expect("the results");
        results
            .done(&item, fingerprint)
            .is_some_and(|result| result.up_to_date)
    };
    let run = |ok: bool| {
        let report = Report {
            ok,
            ..Report::default()
        };
        let mut results = BatchResults::open(&file).expect("a new file");
        let items = [item.clone()];
        super::run(
            &items,
            &fingerprint(),
            1,
            || |_: &BatchItem| report.clone(),
            &mut |result| results.add(&result),
        )
        .expect("the results are written");
    };
    run(false);
    assert!(!is_up_to_date(&fingerprint()), "it failed");
    run(true);
    assert!(!is_up_to_date(&fingerprint()), "its result is missing");
    write(dir, "out/a.onnx", "");
    assert!(is_up_to_date(&fingerprint()));
    let other_request = Request {
        opt_level: Some(1),
        ..request.clone()
    };
    assert!(
        !is_up_to_date(&Fingerprint::new(
            &other_request,
            std::slice::from_ref(&plugin)
        )),
        "a different level"
    );
    write(dir, "p.so", "22");
    assert!(!is_up_to_date(&fingerprint()), "a different plugin");
    write(dir, "p.so", "1");
    run(true);
    write(dir, "a.onnx", "aa");
    assert!(!is_up_to_date(&fingerprint()), "a different model");
    // An incomplete line.
    let lines = fs::read_to_string(&file).expect("a text file");
    fs::write(&file, lines.clone() + "{\"model\":\"b").expect("a file");
    drop(BatchResults::open(&file).expect("complete lines"));
    assert_eq!(fs::read_to_string(&file).expect("a text file"), lines);
    for other in ["not results\n", "not results"] {
        fs::write(&file, other).expect("a file");
        assert!(BatchResults::open(&file).is_err());
        assert_eq!(fs::read_to_string(&file).expect("a text file"), other);
    }
}

#[test]
fn results_file_is_locked_by_one_batch() {
    let dir = dir();
    let file = dir.path().join("results.jsonl");
    let first = BatchResults::open(&file).expect("a new file");
    let error = BatchResults::open(&file)
        .map(|_| ())
        .expect_err("an open file");
    let message = error
        .to_string()
        .replace(&format!("{}/", dir.path().display()), "");
    expect!["another batch is writing `results.jsonl`; wait until it is done, or pass another file: `--results FILE`"]
        .assert_eq(&message);
    drop(first);
    assert!(BatchResults::open(&file).is_ok());
}

/// A link may be created by another user, and point to a file with other contents.
#[cfg(unix)]
#[test]
fn link_to_other_contents_is_rejected() {
    let dir = dir();
    let [file, mine] = ["results.jsonl", "mine"].map(|name| dir.path().join(name));
    std::os::unix::fs::symlink(&mine, &file).expect("a link");
    assert!(BatchResults::open(&file).is_err() && !mine.exists());
    for (text, is_accepted) in [("", false), ("text", false), ("{\"model\":", true)] {
        fs::write(&mine, text).expect("a file");
        assert_eq!(BatchResults::open(&file).is_ok(), is_accepted, "{text}");
        let remaining = if is_accepted { "" } else { text };
        assert_eq!(fs::read_to_string(&mine).expect("a text file"), remaining);
    }
}

#[test]
fn fingerprint_includes_contents_of_rule_files() {
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
    let fingerprint = || Fingerprint::new(&request, &[]).for_file(&model);
    for file in ["entry", "option", "config", "argument", "field", "fields"] {
        let file = format!("{file}.rules");
        let path = write(dir, &file, "1");
        let before = fingerprint();
        assert_eq!(fingerprint(), before);
        // The length and the modification time stay the same.
        let time = fs::metadata(&path).and_then(|metadata| metadata.modified());
        write(dir, &file, "2");
        let file_handle = fs::File::options().write(true).open(&path);
        file_handle
            .and_then(|file| file.set_modified(time?))
            .expect("a modification time");
        assert_ne!(fingerprint(), before, "{file}");
    }
    let before = fingerprint();
    write(dir, "unnamed.rules", "1");
    assert_eq!(fingerprint(), before);
}

#[test]
fn largest_models_run_first_and_errors_stop() {
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
