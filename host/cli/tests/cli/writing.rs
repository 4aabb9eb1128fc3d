//! Files that are written: whole, where they were asked for, and nothing beside them.

use std::fs;
#[cfg(unix)]
use std::io::Write;

use expect_test::{Expect, expect};

use crate::support::{Bench, RELUS, plugin};

const PASS: &str = "relax.transform.DeadCodeElimination";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("m.ir", RELUS);
    let ran = bench.passdock("convert m.ir m.onnx");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    bench
}

#[track_caller]
fn fails(bench: &Bench, words: &str, status: i32, expected: Expect) {
    let before = bench.contents();
    let ran = bench.passdock(words);
    assert_eq!(ran.status, status, "{words}: {}", ran.stderr);
    expected.assert_eq(&ran.stderr.replace(&bench.plugins(), ""));
    assert!(bench.contents() == before, "{words} has changed files");
}

#[test]
fn a_trace_goes_over_no_file_of_its_run() {
    let bench = bench();
    bench.write("p.toml", format!("passes = ['{PASS}']\n"));
    fails(
        &bench,
        "run p.toml m.onnx --trace m.onnx",
        2,
        expect![[r#"
            error[usage]: The file `m.onnx` can't be written: it is the model.
        "#]],
    );
    fails(
        &bench,
        "run p.toml m.onnx --trace ./p.toml",
        2,
        expect![[r#"
            error[usage]: The file `./p.toml` can't be written: it is the pipeline.
        "#]],
    );
    fails(
        &bench,
        "run p.toml m.onnx -o o.onnx --trace o.onnx",
        2,
        expect![[r#"
            error[usage]: The file `o.onnx` can't be written: it is the output.
        "#]],
    );
    let plugin = plugin("passdock_tap");
    let ran = bench.passdock(&format!("run p.toml m.onnx --trace {}", plugin.display()));
    assert_eq!(ran.status, 2);
    assert!(
        ran.stderr.contains("it is the plugin `tap`"),
        "{}",
        ran.stderr
    );
    // The same in a pipeline, underlined, and of the data of a model.
    let words = "convert m.ir d/w.onnx --external-data all";
    fs::create_dir(bench.path("d")).unwrap();
    bench.write(
        "m.ir",
        RELUS.replace(
            "%0 = onnx.Relu(%x)",
            "%w = const f32[512] splat(1.0)\n    %0 = onnx.Gather(%w, %x)",
        ),
    );
    assert_eq!(bench.passdock(words).status, 0);
    bench.write(
        "t.toml",
        format!("passes = ['{PASS}']\n[[instruments]]\nname = 'timing'\ntrace = 'd/w.onnx.data'\n"),
    );
    fails(
        &bench,
        "run t.toml d/w.onnx",
        2,
        expect![[r#"
            error[config]: The file `d/w.onnx.data` can't be written: it is the model's data.
             --> t.toml:4:9
              |
            4 | trace = 'd/w.onnx.data'
              |         ^^^^^^^^^^^^^^^
        "#]],
    );
    // The model that a text takes its data from.
    assert_eq!(
        bench
            .passdock("convert d/w.onnx e.onnx --external-data none")
            .status,
        0
    );
    assert_eq!(bench.passdock("convert e.onnx e.ir").status, 0);
    fails(
        &bench,
        "run p.toml e.ir --trace e.onnx",
        2,
        expect![[r#"
            error[usage]: The file `e.onnx` can't be written: it is the model's data.
        "#]],
    );
    for words in ["run p.toml e.ir -o e.onnx", "convert e.ir e.onnx"] {
        let ran = bench.passdock(words);
        assert_eq!(ran.status, 1, "{words}");
        let said = "to `e.onnx`: the data of the model that was read is in it.";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(bench.passdock("stats e.ir").status, 0);
    }
    // A model that can be read only once is left to the run.
    bench.write("once.json", "an earlier one");
    let words = ["run", "-", "--passes", PASS, "--trace", "once.json"];
    let ran = bench.run(words, RELUS);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    // Another file is written over, as an output is.
    bench.write("t.json", "an earlier one");
    assert_eq!(bench.passdock("run p.toml m.onnx --trace t.json").status, 0);
    assert!(bench.read("t.json").contains("traceEvents"));
}

#[test]
fn an_output_that_can_t_be_written_is_told_of_before_any_work() {
    let bench = bench();
    bench.write("broken.onnx", "not a model");
    for (words, expected) in [
        (
            "run broken.onnx -o no/o.onnx --passes PASS",
            expect![[r#"
                error[write]: The result can't be written to `no/o.onnx`: there is no directory `no`.
            "#]],
        ),
        (
            "convert broken.onnx no/o.onnx",
            expect![[r#"
                error[write]: The result can't be written to `no/o.onnx`: there is no directory `no`.
            "#]],
        ),
        (
            "reduce broken.onnx -o no/o.onnx --passes PASS",
            expect![[r#"
                error[write]: The result can't be written to `no/o.onnx`: there is no directory `no`.
            "#]],
        ),
    ] {
        fails(&bench, &words.replace("PASS", PASS), 1, expected);
    }
    fs::create_dir(bench.path("d.onnx")).unwrap();
    fails(
        &bench,
        "convert m.ir d.onnx",
        1,
        expect![[r#"
            error[write]: The result can't be written to `d.onnx`: it is a directory.
        "#]],
    );
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::support::passdock;

    #[test]
    fn links_stay_links() {
        let bench = bench();
        fs::create_dir(bench.path("d")).unwrap();
        symlink("d/there.ir", bench.path("link.ir")).unwrap();
        symlink("link.ir", bench.path("twice.ir")).unwrap();
        symlink("loop.ir", bench.path("loop.ir")).unwrap();
        // One that leads to nothing yet, and then to a file.
        for _ in 0..2 {
            let ran = bench.passdock("convert m.onnx twice.ir");
            assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
            assert!(bench.read("d/there.ir").contains("onnx.Relu"));
            for link in ["link.ir", "twice.ir"] {
                assert!(bench.path(link).symlink_metadata().unwrap().is_symlink());
            }
        }
        let trace = format!("run m.onnx --passes {PASS} --trace twice.ir");
        assert_eq!(bench.passdock(&trace).status, 0);
        assert!(bench.read("d/there.ir").contains("traceEvents"));
        fails(
            &bench,
            "convert m.onnx loop.ir",
            1,
            expect![[r#"
                error[write]: The result can't be written to `loop.ir`: it is a link to itself.
            "#]],
        );
    }

    #[test]
    fn the_rights_of_a_file_stay() {
        let bench = bench();
        bench.write("o.ir", "");
        for mode in [0o600, 0o666] {
            let rights = fs::Permissions::from_mode(mode);
            fs::set_permissions(bench.path("o.ir"), rights).unwrap();
            assert_eq!(bench.passdock("convert m.onnx o.ir").status, 0);
            let known = bench.path("o.ir").metadata().unwrap();
            assert_eq!(known.permissions().mode() & 0o777, mode);
            assert_eq!(known.nlink(), 1);
        }
    }

    #[test]
    fn pipes_and_devices_are_written_to_and_stay() {
        let bench = bench();
        let made = Command::new("mkfifo").arg(bench.path("fifo.ir")).status();
        assert!(made.unwrap().success());
        for words in [
            "convert m.onnx fifo.ir".to_owned(),
            format!("run m.onnx --passes {PASS} --trace fifo.ir"),
        ] {
            let reader = Command::new("cat")
                .arg(bench.path("fifo.ir"))
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            assert_eq!(bench.passdock(&words).status, 0, "{words}");
            let read = reader.wait_with_output().unwrap().stdout;
            assert!(!read.is_empty(), "{words}");
            assert!(!bench.path("fifo.ir").metadata().unwrap().is_file());
        }
        // A device that takes nothing says so.
        symlink("/dev/full", bench.path("full.ir")).unwrap();
        fails(
            &bench,
            "convert m.onnx full.ir",
            1,
            expect![[r#"
                error[write]: The result can't be written to `full.ir`: No space left on device (os error 28).
            "#]],
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_output_stays_as_it_was_if_the_report_cant_be_written() {
        let bench = bench();
        for how in ["", "--json", "--in-process", "--in-process --json"] {
            bench.write("out.ir", "before");
            let script = format!(
                "exec {} run m.ir --passes {PASS} -o out.ir {how} > /dev/full",
                passdock().display()
            );
            let ran = Command::new("sh")
                .args(["-c", &script])
                .current_dir(bench.path(""))
                .output()
                .unwrap();
            let said = String::from_utf8(ran.stderr).unwrap();
            assert_eq!(ran.status.code(), Some(1), "{how}: {said}");
            assert!(
                said.contains("Standard output can't be written"),
                "{how}: {said}"
            );
            assert_eq!(bench.read("out.ir"), "before", "{how}");
        }
    }

    #[test]
    fn a_text_cant_name_what_isnt_utf_8() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let bench = bench();
        let name = OsStr::from_bytes(b"\xff.onnx");
        let text = RELUS.replace(
            "%0 = onnx.Relu(%x)",
            "%w = const f32[512] splat(1.0)\n    %0 = onnx.Gather(%w, %x)",
        );
        bench.write("w.ir", text);
        assert_eq!(bench.passdock("convert w.ir w.onnx").status, 0);
        fs::rename(bench.path("w.onnx"), bench.path("").join(name)).unwrap();
        let ran = Command::new(passdock())
            .arg("convert")
            .arg(name)
            .arg("out.ir")
            .current_dir(bench.path(""))
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(1));
        let said = String::from_utf8(ran.stderr).unwrap();
        expect![[r#"
            error[write]: The result can't be written to `out.ir`: its data is in `�.onnx`, whose name isn't UTF-8, and text can't say that.
             |
             = help: Rename the file.
        "#]]
        .assert_eq(&said.replace(
            &format!("{}/", bench.path("").canonicalize().unwrap().display()),
            "",
        ));
        assert!(!bench.exists("out.ir"));
    }

    #[test]
    fn paths_that_are_options_are_utf_8() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let bench = bench();
        let ran = Command::new(passdock())
            .args(["run", "m.onnx", "--passes=DeadCodeElimination", "--trace"])
            .arg(OsStr::from_bytes(b"t\xff.json"))
            .current_dir(bench.path(""))
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(2));
        expect![[r#"
            error[usage]: The path of `--trace` isn't UTF-8: `t�.json`.
             |
             = help: Instruments take their options as text.
        "#]]
        .assert_eq(&String::from_utf8(ran.stderr).unwrap());
    }

    #[test]
    fn names_need_not_be_utf_8() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let bench = bench();
        let name = |name: &'static [u8]| OsStr::from_bytes(name);
        fs::rename(
            bench.path("m.onnx"),
            bench.path("").join(name(b"\xff.onnx")),
        )
        .unwrap();
        for words in [
            [name(b"convert"), name(b"\xff.onnx"), name(b"\xfe.ir")].as_slice(),
            &[
                name(b"run"),
                name(b"\xfe.ir"),
                name(b"--passes=DeadCodeElimination"),
                name(b"-o"),
                name(b"\xfd.onnx"),
                name(b"--json"),
            ],
            &[
                name(b"convert"),
                name(b"\xff.onnx"),
                name(b"w\xff.onnx"),
                name(b"--external-data=all"),
            ],
            &[name(b"stats"), name(b"\xfd.onnx")],
            &[name(b"diff"), name(b"\xff.onnx"), name(b"\xfd.onnx")],
        ] {
            let ran = Command::new(passdock())
                .args(words)
                .current_dir(bench.path(""))
                .output()
                .unwrap();
            let said = String::from_utf8(ran.stderr).unwrap();
            assert_eq!(
                (ran.status.code(), said.as_str()),
                (Some(0), ""),
                "{words:?}"
            );
        }
    }

    #[test]
    fn a_model_may_have_more_data_files_than_one_may_usually_open() {
        let bench = bench();
        let script = format!(
            "ulimit -Sn 64; exec {} convert many.ir o.onnx",
            passdock().display()
        );
        for at in 0..100 {
            bench.write(&format!("w{at}.bin"), [at; 2048]);
        }
        let constants: String = (0..100)
            .map(|at| format!("    %w{at} = const f32[512] external(\"w{at}.bin\", 0, 2048)\n"))
            .collect();
        let ops: String = (0..100)
            .map(|at| format!("    %a{at} = onnx.Add(%x, %w{at}) : f32[512]\n"))
            .collect();
        bench.write(
            "many.ir",
            format!(
                "module {{\n  fn @main(%x: f32[512]) -> (%y: f32[512]) opset(\"\" = 17) {{\n{constants}{ops}    \
                 return %a99\n  }}\n}}\n"
            ),
        );
        let ran = Command::new("sh")
            .args(["-c", &script])
            .current_dir(bench.path(""))
            .output()
            .unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!((ran.status.code(), said.as_str()), (Some(0), ""));
        let len = bench.path("o.onnx").metadata().unwrap().len();
        assert!(len > 100 * 2048, "{len}");
    }

    /// The command, which goes on while the test does.
    fn start(bench: &Bench, words: &str) -> Child {
        // A shell's background job ignores SIGINT, and so would what it starts.
        let mut command = match cfg!(target_os = "linux") {
            true => Command::new("env"),
            false => Command::new(passdock()),
        };
        if cfg!(target_os = "linux") {
            command.arg("--default-signal=INT,TERM,HUP").arg(passdock());
        }
        command
            .args(words.split_whitespace())
            .current_dir(bench.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    #[test]
    fn a_signal_leaves_nothing_behind() {
        let bench = bench();
        let before = bench.contents();
        for signal in ["INT", "TERM", "HUP", "KILL"] {
            // Reads its model from a standard input that doesn't end; the output's place is taken.
            let mut child = start(&bench, "convert - o.onnx");
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(b"module {").unwrap();
            std::thread::sleep(std::time::Duration::from_millis(300));
            let pid = child.id().to_string();
            let sent = Command::new("kill").args(["-s", signal, &pid]).status();
            assert!(sent.unwrap().success());
            let status = child.wait().unwrap();
            assert!(status.signal().is_some(), "{signal}: {status}");
            drop(stdin);
            assert!(bench.contents() == before, "{signal} has left files");
        }
    }

    #[test]
    fn a_file_that_may_not_grow_is_an_error() {
        let bench = bench();
        let large = format!("onnx.Relu(%x) {{a = \"{}\"}}", "x".repeat(10_000));
        bench.write("large.ir", RELUS.replace("onnx.Relu(%x)", &large));
        let script = format!(
            "ulimit -f 4; exec {} convert large.ir o.ir",
            passdock().display()
        );
        let ran = Command::new("sh")
            .args(["-c", &script])
            .current_dir(bench.path(""))
            .output()
            .unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{said}");
        expect![[r#"
            error[write]: The result can't be written to `o.ir`: File too large (os error 27).
        "#]]
        .assert_eq(&said);
        assert!(!bench.exists("o.ir"));
    }

    #[test]
    fn what_dead_runs_have_left_goes_and_what_living_ones_have_stays() {
        let bench = bench();
        fs::create_dir(bench.path(".passdock-alive.part")).unwrap();
        let alive = fs::File::open(bench.path(".passdock-alive.part")).unwrap();
        alive.lock().unwrap();
        fs::create_dir(bench.path(".passdock-dead.part")).unwrap();
        bench.write(".passdock-dead.part/0", "half a model");
        bench.write(".passdock-mine.txt", "not one of ours");
        fs::create_dir(bench.path(".passdock-dir.part")).unwrap();
        bench.write(".passdock-dir.part/before.ir", "half a reproducer");
        // A commit that died before its model came, one that died after that.
        bench.write("o.onnx.data", "nobody's");
        fs::create_dir(bench.path("sub")).unwrap();
        bench.write("sub/w.bin", "nobody's");
        bench.write("kept.txt", "");
        fs::create_dir(bench.path(".passdock-a.part")).unwrap();
        bench.write(
            ".passdock-a.part/commit",
            r#"["o.onnx.data", "sub", "sub/w.bin", "../kept", "/tmp/kept"]"#,
        );
        bench.write(
            "w.ir",
            "module {\n  fn @main(%x: f32[512]) -> (%y: f32[512]) opset(\"\" = 17) {\n    \
             %w = const f32[512] splat(1.0)\n    %0 = onnx.Add(%x, %w) : f32[512]\n    return %0\n  }\n}\n",
        );
        let ran = bench.passdock("convert w.ir w.onnx --external-data all");
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        fs::create_dir(bench.path(".passdock-b.part")).unwrap();
        bench.write(".passdock-b.part/commit", r#"["w.onnx.data"]"#);
        let ran = bench.passdock("convert m.ir o.onnx");
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        assert_eq!(
            bench.files(),
            [
                ".passdock-alive.part",
                ".passdock-mine.txt",
                "kept.txt",
                "m.ir",
                "m.onnx",
                "o.onnx",
                "w.ir",
                "w.onnx",
                "w.onnx.data",
            ]
        );
    }

    #[test]
    fn two_writers_of_one_place_leave_one_of_their_results() {
        let bench = bench();
        for (name, element) in [("one", "1.0"), ("two", "2.0")] {
            bench.write(
                &format!("{name}.ir"),
                format!(
                    "module {{\n  fn @main(%x: f32[65536]) -> (%y: f32[65536]) opset(\"\" = 17) {{\n    \
                     %w = const f32[65536] splat({element})\n    %0 = onnx.Add(%x, %w) : f32[65536]\n    \
                     return %0\n  }}\n}}\n"
                ),
            );
        }
        for _ in 0..10 {
            let writers: Vec<Child> = ["one.ir", "two.ir", "one.ir", "two.ir"]
                .iter()
                .map(|from| {
                    start(
                        &bench,
                        &format!("convert {from} o.onnx --external-data all"),
                    )
                })
                .collect();
            for mut writer in writers {
                assert!(writer.wait().unwrap().success());
            }
            let data: Vec<String> = bench
                .files()
                .into_iter()
                .filter(|name| name.ends_with(".data"))
                .collect();
            assert_eq!(data.len(), 1, "{data:?}");
            let bytes = fs::read(bench.path(&data[0])).unwrap();
            let element: [u8; 4] = bytes[..4].try_into().unwrap();
            assert!(bytes == element.repeat(65536));
            let ran = bench.passdock("convert o.onnx -");
            assert!(
                ran.stdout.contains(&data[0]),
                "{}{}",
                ran.stdout,
                ran.stderr
            );
        }
    }
}
