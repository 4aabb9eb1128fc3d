//! Models whose data is in other files: where it may be, where it goes, what stays safe.

use std::fs;

use expect_test::{Expect, expect};

use crate::support::Bench;

/// Two initializers, of 2 KiB and of 4 bytes.
fn model(element: &str) -> String {
    format!(
        r#"module {{
  fn @main(%x: f32[512]) -> (%y: f32[512]) opset("" = 17) {{
    %w = const f32[512] splat({element})
    %s = const f32[1] [0.5]
    %0 = onnx.Add(%x, %w) : f32[512]
    %1 = onnx.Mul(%0, %s) : f32[512]
    return %1
  }}
}}
"#
    )
}

/// A bench with `a/m.onnx` and its data file, filled with 1.0.
fn bench() -> Bench {
    let bench = Bench::new();
    for dir in ["a", "b"] {
        fs::create_dir(bench.path(dir)).unwrap();
    }
    bench.write("m.ir", model("1.0"));
    run(&bench, "convert m.ir a/m.onnx --external-data all");
    bench
}

#[track_caller]
fn run(bench: &Bench, words: &str) {
    let ran = bench.passdock(words);
    let is_note = |line: &str| line.starts_with("note[data]: `");
    assert!(ran.stderr.lines().all(is_note), "{words}: {}", ran.stderr);
    assert_eq!(ran.status, 0, "{words}");
}

#[track_caller]
fn fails(bench: &Bench, words: &str, expected: Expect) {
    let ran = bench.passdock(words);
    assert_eq!(ran.status, 1, "{words}: {}", ran.stderr);
    expected.assert_eq(
        &ran.stderr
            .replace(&bench.path("").display().to_string(), ""),
    );
}

/// The files of a directory with their lengths.
fn files(bench: &Bench, dir: &str) -> Vec<(String, u64)> {
    let entries = fs::read_dir(bench.path(dir)).unwrap().flatten();
    let mut files: Vec<(String, u64)> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, entry.metadata().unwrap().len())
        })
        .collect();
    files.sort();
    files
}

fn names(bench: &Bench, dir: &str) -> Vec<String> {
    files(bench, dir)
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

fn bytes(bench: &Bench, file: &str) -> Vec<u8> {
    fs::read(bench.path(file)).unwrap()
}

#[test]
fn data_goes_where_the_model_goes() {
    let bench = bench();
    let before = files(&bench, "a");
    assert_eq!(before[1], ("m.onnx.data".to_owned(), 2048));
    assert_eq!(
        bytes(&bench, "a/m.onnx.data"),
        1.0_f32.to_le_bytes().repeat(512)
    );
    for _ in 0..2 {
        run(&bench, "convert a/m.onnx b/m.onnx");
        assert_eq!(files(&bench, "b"), before);
        assert_eq!(bytes(&bench, "b/m.onnx"), bytes(&bench, "a/m.onnx"));
    }
    // Into the model, and out of it again.
    run(&bench, "convert b/m.onnx b/in.onnx --external-data none");
    run(&bench, "convert b/in.onnx b/out.onnx --external-data all");
    assert_eq!(
        bytes(&bench, "b/out.onnx.data"),
        bytes(&bench, "a/m.onnx.data")
    );
    let text = |model: &str| {
        let ran = bench.passdock(&format!("convert {model} -"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stdout
    };
    let inline = text("b/in.onnx");
    assert!(inline.contains("b/in.onnx\", "), "{inline}");
    let external = text("b/out.onnx");
    assert!(
        external.contains("b/out.onnx.data\", 0, 2048)"),
        "{external}"
    );
}

#[test]
fn writing_over_the_input_is_safe_and_doesn_t_grow() {
    let bench = bench();
    let (before, data) = (files(&bench, "a"), bytes(&bench, "a/m.onnx.data"));
    let pass = "--passes relax.transform.DeadCodeElimination";
    for how in ["keep", "all"] {
        for _ in 0..2 {
            let words = format!("run a/m.onnx -o a/m.onnx {pass} --external-data {how}");
            let ran = bench.passdock(&words);
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
            assert_eq!(files(&bench, "a"), before);
            assert_eq!(bytes(&bench, "a/m.onnx.data"), data);
        }
    }
    // The file that is read isn't written over: the model names another one, then the old one goes.
    fs::write(bench.path("a/m.onnx.data"), [&data[..], &[7; 100]].concat()).unwrap();
    run(&bench, "convert a/m.onnx a/m.onnx --external-data all");
    let hashed = "m.onnx.f4c63de52f217dce.data";
    assert_eq!(names(&bench, "a"), ["m.onnx", hashed]);
    assert_eq!(bytes(&bench, &format!("a/{hashed}")), data);
    run(&bench, "convert a/m.onnx a/m.onnx");
    assert_eq!(names(&bench, "a"), ["m.onnx", hashed]);
    run(&bench, "convert a/m.onnx a/m.onnx --external-data all");
    assert_eq!(files(&bench, "a"), before);
    assert_eq!(bytes(&bench, "a/m.onnx.data"), data);
    let ran = bench.passdock("convert a/m.onnx a/m.onnx --external-data none");
    assert_eq!(ran.status, 0);
    expect![[r#"
        note[data]: `a/m.onnx.data` is removed: only the model that was replaced needed it.
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(names(&bench, "a"), ["m.onnx"]);
}

#[test]
fn other_data_of_the_same_name_is_safe() {
    let bench = bench();
    let data = bytes(&bench, "a/m.onnx.data");
    bench.write("b/m.onnx.data", "somebody else's");
    // Data that goes with its model, and a model's own.
    run(&bench, "convert a/m.onnx b/k.onnx");
    run(&bench, "convert a/m.onnx b/m.onnx --external-data all");
    let hashed = "m.onnx.f4c63de52f217dce.data";
    let both = ["k.onnx", "m.onnx", "m.onnx.data", hashed];
    assert_eq!(names(&bench, "b"), both);
    assert_eq!(bytes(&bench, "b/m.onnx.data"), b"somebody else's");
    assert_eq!(bytes(&bench, &format!("b/{hashed}")), data);
    for model in ["b/k.onnx", "b/m.onnx"] {
        let ran = bench.passdock(&format!("stats {model} --json"));
        assert!(ran.stdout.contains(hashed), "{}", ran.stdout);
    }
    // Other data under the name with the hash can only be damage.
    bench.write(&format!("b/{hashed}"), "cut short");
    fails(
        &bench,
        "convert a/m.onnx b/k.onnx --external-data keep",
        expect![[r#"
            error[write]: The result can't be written to `b/k.onnx`: its data goes to `b/m.onnx.f4c63de52f217dce.data`, where other data is.
             |
             = help: Write to another directory, or give the model a data file of its own: `--external-data all`.
        "#]],
    );
    assert_eq!(names(&bench, "b"), both);
}

#[test]
fn the_data_of_a_replaced_model_goes_unless_another_one_needs_it() {
    let bench = bench();
    bench.write("n.ir", model("2.0"));
    let ones = bytes(&bench, "a/m.onnx.data");
    let data = |model: &str| {
        let ran = bench.passdock(&format!("convert {model} -"));
        let line = ran.stdout.lines().find(|line| line.contains("%w = const"));
        line.unwrap_or_default().to_owned()
    };
    // `k` points to the data of `m`, `m` is written with other data.
    run(&bench, "convert a/m.onnx a/k.onnx");
    run(&bench, "convert n.ir a/m.onnx --external-data all");
    let hashed = "m.onnx.a6bf1627b9e251fc.data";
    assert_eq!(
        names(&bench, "a"),
        ["k.onnx", "m.onnx", hashed, "m.onnx.data"]
    );
    assert_eq!(bytes(&bench, "a/m.onnx.data"), ones);
    assert!(data("a/m.onnx").contains(hashed), "{}", data("a/m.onnx"));
    assert!(data("a/k.onnx").contains("a/m.onnx.data"));
    // Whatever the other one's name is written like, and wherever it lies between the model and the data.
    fs::rename(bench.path("a/k.onnx"), bench.path("a/K.ONNX")).unwrap();
    fs::create_dir(bench.path("a/dir.onnx")).unwrap();
    fs::copy(bench.path("a/K.ONNX"), bench.path("a/backup")).unwrap();
    bench.write("o.ir", model("3.0"));
    run(&bench, "convert o.ir a/m.onnx --external-data all");
    assert_eq!(bytes(&bench, "a/m.onnx.data"), ones);
    fs::remove_file(bench.path("a/K.ONNX")).unwrap();
    run(&bench, "convert n.ir a/m.onnx --external-data all");
    assert_eq!(bytes(&bench, "a/m.onnx.data"), ones);
    fs::rename(bench.path("a/backup"), bench.path("a/k.onnx")).unwrap();
    fs::remove_dir(bench.path("a/dir.onnx")).unwrap();
    run(&bench, "convert n.ir a/m.onnx --external-data all");
    // Data of other names stays whatever happens: it isn't known whose it is.
    fs::create_dir(bench.path("c")).unwrap();
    fs::copy(bench.path("a/m.onnx"), bench.path("c/m.onnx")).unwrap();
    fs::copy(bench.path("a").join(hashed), bench.path("c").join(hashed)).unwrap();
    bench.write("c/notes.data", "mine");
    run(&bench, "convert m.ir c/m.onnx --external-data all");
    assert_eq!(names(&bench, "c"), ["m.onnx", "m.onnx.data", "notes.data"]);
}

#[test]
fn data_that_nothing_references_any_more_is_dropped() {
    let bench = bench();
    bench.write(
        "t.ir",
        r#"module {
  fn @main(%x: f32[512]) -> (%h: f32[512], %y: f32[512]) opset("" = 17) {
    %v = const f32[512] splat(1.0)
    %w = const f32[512] splat(2.0)
    %h = onnx.Add(%x, %v) : f32[512]
    %y = onnx.Mul(%h, %w) : f32[512]
    return %h, %y
  }
}
"#,
    );
    run(&bench, "convert t.ir a/t.onnx --external-data all");
    let words = "extract a/t.onnx --inputs h --outputs y";
    let twos = 2.0_f32.to_le_bytes().repeat(512);
    // A part in another directory and in the same one has its own data only.
    for part in ["b/p.onnx", "a/p.onnx"] {
        run(&bench, &format!("{words} -o {part}"));
        assert_eq!(bytes(&bench, &format!("{part}.data")), twos);
    }
    assert_eq!(bytes(&bench, "a/t.onnx.data").len(), 4096);
    assert_eq!(names(&bench, "b"), ["p.onnx", "p.onnx.data"]);
    // Over the input: the old data goes, unless another file names it.
    fs::remove_file(bench.path("a/p.onnx")).unwrap();
    fs::remove_file(bench.path("a/p.onnx.data")).unwrap();
    for other in [true, false] {
        run(&bench, "convert t.ir b/t.onnx --external-data all");
        fs::rename(bench.path("b/t.onnx"), bench.path("b/u.onnx")).unwrap();
        if other {
            fs::copy(bench.path("b/u.onnx"), bench.path("b/copy")).unwrap();
        }
        let ran = bench.passdock("extract b/u.onnx --inputs h --outputs y -o b/u.onnx");
        let expected = match other {
            true => "note[data]: `t.onnx.data`: 2048 bytes are dropped, which no tensor references any more.\n".to_owned(),
            false => "note[data]: `t.onnx.data`: 2048 bytes are dropped, which no tensor references any more.\n\
                      note[data]: `b/t.onnx.data` is removed: only the model that was replaced needed it.\n".to_owned(),
        };
        assert_eq!((ran.status, ran.stderr), (0, expected));
        assert_eq!(bytes(&bench, "b/u.onnx.data"), twos);
        assert_eq!(bench.path("b/t.onnx.data").exists(), other);
        if other {
            fs::remove_file(bench.path("b/copy")).unwrap();
        }
    }
}

#[test]
fn data_that_isn_t_there_is_told_of() {
    let bench = bench();
    let pass = "--passes relax.transform.DeadCodeElimination";
    fs::write(bench.path("a/m.onnx.data"), [0; 1000]).unwrap();
    let warned = |expected: Expect| {
        let ran = bench.passdock(&format!("run a/m.onnx {pass}"));
        assert_eq!(ran.status, 0);
        expected.assert_eq(&ran.stderr);
    };
    warned(expect![[r#"
        warning[data]: The model a/m.onnx: tensor "w": The external data file "a/m.onnx.data" has 1000 bytes, and its tensors end at byte 2048.
    "#]]);
    fs::remove_file(bench.path("a/m.onnx.data")).unwrap();
    warned(expect![[r#"
        warning[data]: The model a/m.onnx: tensor "w": The external data file "a/m.onnx.data" can't be read: No such file or directory (os error 2).
    "#]]);
    fails(
        &bench,
        "convert a/m.onnx b/m.onnx",
        expect![[r#"
            error[read]: The result can't be written to `b/m.onnx`: tensor "w": The external data file "a/m.onnx.data" can't be read: No such file or directory (os error 2).
        "#]],
    );
    fails(
        &bench,
        "convert a/m.onnx a/n.onnx --external-data none",
        expect![[r#"
            error[read]: The result can't be written to `a/n.onnx`: tensor "w": The external data file "a/m.onnx.data" can't be read: No such file or directory (os error 2).
        "#]],
    );
    assert_eq!(files(&bench, "b"), []);
    assert_eq!(files(&bench, "a").len(), 1);
}

#[cfg(unix)]
#[test]
fn data_outside_of_the_directory_is_read_when_that_is_allowed() {
    let bench = bench();
    fs::rename(bench.path("a/m.onnx.data"), bench.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", bench.path("a/m.onnx.data")).unwrap();
    let words = "convert a/m.onnx b/m.onnx --external-data none";
    fails(
        &bench,
        words,
        expect![[r#"
            error[read]: The result can't be written to `b/m.onnx`: tensor "w": The external data file "a/m.onnx.data" can't be read: it is a link out of the model's directory, `a`; `--allow-outside-data` reads data from outside of it.
        "#]],
    );
    run(&bench, &format!("{words} --allow-outside-data"));
    // A pipe would be waited for.
    fs::remove_file(bench.path("a/m.onnx.data")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(bench.path("a/m.onnx.data"))
        .status();
    assert!(made.unwrap().success());
    fails(
        &bench,
        words,
        expect![[r#"
            error[read]: The result can't be written to `b/m.onnx`: tensor "w": The external data file "a/m.onnx.data" can't be read: it isn't a regular file.
        "#]],
    );
}

/// A text names the file that a link leads to, so that it is read without asking for more.
#[cfg(unix)]
#[test]
fn the_text_of_a_linked_model_is_read_wherever_it_is() {
    let bench = bench();
    run(&bench, "convert a/m.onnx whole.onnx --external-data none");
    std::os::unix::fs::symlink("../whole.onnx", bench.path("a/link.onnx")).unwrap();
    for text in ["a/m.ir", "b/m.ir"] {
        run(&bench, &format!("convert a/link.onnx {text}"));
        let again = format!("convert {text} b/again.onnx");
        let refused = bench.passdock(&again);
        let why = "it isn't inside the model's directory";
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
        assert_eq!(refused.status, 1);
        run(&bench, &format!("{again} --allow-outside-data"));
        run(&bench, "diff whole.onnx b/again.onnx");
    }
}
