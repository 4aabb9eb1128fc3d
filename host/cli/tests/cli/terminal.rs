//! Output on terminals, and to pipes and full devices.

use crate::support::Bench;

/// Runs the command with standard output connected to `out`. Returns its status and standard error.
#[cfg(target_os = "linux")]
fn run_into(bench: &Bench, words: &str, out: std::process::Stdio) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(crate::support::passdock());
    command
        .args(words.split_whitespace())
        .current_dir(bench.path(""))
        .env_remove("PASSDOCK_PLUGIN_PATH")
        .stdout(out);
    let ran = command.output().expect("the command starts");
    let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
    (ran.status.code(), stderr)
}

#[cfg(target_os = "linux")]
const COMMANDS: [(&str, i32); 18] = [
    ("run m.ir --passes relax.transform.InferType", 0),
    ("run m.ir --passes relax.transform.InferType --json", 0),
    (
        "run m.ir --passes relax.transform.InferType --print-after all",
        0,
    ),
    ("list", 0),
    ("list ops --json", 0),
    ("check p.toml", 0),
    ("check p.toml --json", 0),
    ("explain p.toml", 0),
    ("explain p.toml --json", 0),
    ("stats m.ir", 0),
    ("stats m.ir --json", 0),
    ("diff m.ir n.ir", 1),
    ("diff m.ir m.ir --json", 0),
    ("--help", 0),
    ("help run", 0),
    ("--version", 0),
    ("run gone.ir --passes relax.transform.InferType --json", 1),
    ("run m.ir --passes Gone --json", 2),
];

#[cfg(target_os = "linux")]
fn bench_with_models() -> Bench {
    let bench = Bench::new();
    bench
        .write("m.ir", crate::support::RELUS)
        .write("n.ir", crate::support::RELUS.replace("Relu", "Abs"))
        .write("p.toml", "passes = [\"relax.transform.InferType\"]\n");
    bench
}

#[cfg(target_os = "linux")]
#[test]
fn output_write_failure_is_an_error() {
    let bench = bench_with_models();
    for (words, status) in COMMANDS {
        let full = std::fs::File::create("/dev/full").expect("a device");
        let (status_code, stderr) = run_into(&bench, words, full.into());
        let error_status = if words.starts_with("diff") { 2 } else { 1 };
        assert_eq!(
            status_code,
            Some(status.max(error_status)),
            "{words}\n{stderr}"
        );
        let message = "error[write]: could not write standard output: No space left on device";
        assert_eq!(stderr.matches(message).count(), 1, "{words}\n{stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn closed_output_pipe_is_not_an_error() {
    let bench = bench_with_models();
    for (words, status) in COMMANDS {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let (status_code, stderr) = run_into(&bench, words, writer.into());
        assert_eq!(status_code, Some(status), "{words}\n{stderr}");
        assert!(!stderr.contains("Standard output"), "{words}\n{stderr}");
    }
}

/// Runs a command on a terminal. Returns the final screen, and whether colors were used.
#[cfg(target_os = "linux")]
fn on_a_terminal(bench: &Bench, term: &str, words: &str) -> (String, bool) {
    on_a_terminal_of(bench, term, 80, words)
}

/// Like [`on_a_terminal`], on a terminal of a given width.
#[cfg(target_os = "linux")]
pub(crate) fn on_a_terminal_of(
    bench: &Bench,
    term: &str,
    columns: u16,
    words: &str,
) -> (String, bool) {
    let text = written(bench, term, columns, words);
    (screen(&text).0, text.contains("\u{1b}[1m"))
}

/// Returns everything that is written to a terminal until the command exits.
#[cfg(target_os = "linux")]
fn written(bench: &Bench, term: &str, columns: u16, words: &str) -> String {
    use std::io::Read;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};

    let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&host).expect("a terminal");
    unlockpt(&host).expect("a terminal");
    let size = Winsize {
        ws_row: 40,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&host, size).expect("a terminal");
    let name = ptsname(&host, Vec::new()).expect("its name");
    let name = name.into_string().expect("UTF-8");
    let open = || std::fs::File::options().write(true).open(&name);
    let mut command = std::process::Command::new(crate::support::passdock());
    command
        .args(words.split_whitespace())
        .current_dir(bench.path(""))
        .env_remove("PASSDOCK_PLUGIN_PATH")
        .env_remove("NO_COLOR")
        .env("TERM", term)
        .stdin(std::process::Stdio::null())
        .stdout(open().expect("the terminal"))
        .stderr(open().expect("the terminal"));
    let mut child = command.spawn().expect("the command starts");
    // Close this process's descriptors, so that reading ends when the child exits.
    drop(command);
    let mut bytes = Vec::new();
    // Reading from a terminal that is closed on the other side fails.
    let _ = std::fs::File::from(host).read_to_end(&mut bytes);
    child.wait().expect("its status");
    String::from_utf8(bytes).expect("UTF-8")
}

/// A model for which the report has rows, rules, passes without changes, and op kinds.
#[cfg(target_os = "linux")]
const FOLDED: &str = r#"module {
  fn @main(%x: f32[n,8]) -> (%y: f32[n,8]) opset("" = 20) {
    %zero = const f32[] 0.0
    %one = const f32[] 1.0
    %0 = onnx.Dropout(%x)
    %1 = onnx.Add(%0, %zero)
    %2 = onnx.Mul(%1, %one)
    %3 = onnx.Sub(%2, %zero)
    %4 = onnx.Div(%3, %one)
    %5 = onnx.Neg(%4)
    %6 = onnx.Neg(%5)
    %7 = onnx.Relu(%6)
    %8 = onnx.Relu(%7)
    %9 = onnx.Identity(%8)
    return %9
  }
}
"#;

#[cfg(target_os = "linux")]
#[test]
fn reports_and_help_fit_the_terminal_width() {
    let bench = Bench::new();
    bench.write("m.ir", FOLDED);
    let inspect = format!("inspect {}libpassdock_relax.so", bench.plugins());
    let mut heights = Vec::new();
    for columns in [80, 120, 200] {
        for words in [
            "run m.ir -o o.ir",
            "run m.ir -o o.ir -v",
            "run -h",
            "bisect --help",
            "extract --help",
            "blame --help",
            "list",
            "list passes",
            "list ops",
            "list config",
            "list instruments",
            "list pipelines",
            "list analyses",
            "explain",
            "explain",
            &inspect,
            "stats m.ir",
        ] {
            let (screen, _) = on_a_terminal_of(&bench, "xterm", columns, words);
            for line in screen.lines().filter(|line| !line.starts_with("from ")) {
                let width = line.chars().count();
                assert!(width <= usize::from(columns), "{words}: {line}");
            }
            heights.push((words.to_owned(), screen.lines().count()));
        }
    }
    // Wider output has fewer lines.
    let height = |words: &str| {
        let heights = heights.iter().filter(|(known, _)| *known == words);
        heights.map(|(_, height)| *height).collect::<Vec<_>>()
    };
    for words in ["run m.ir -o o.ir", "run -h", "list config", "explain"] {
        let heights = height(words);
        assert!(heights[0] > heights[2], "{words}: {heights:?}");
    }
}

/// Interprets the output on a terminal. Returns the lines of the final screen, and the maximum width that was written.
#[cfg(target_os = "linux")]
fn screen(written: &str) -> (String, usize) {
    let (mut lines, mut row, mut column) = (vec![Vec::new()], 0_usize, 0_usize);
    let mut widest = 0;
    let mut rest = written.chars();
    while let Some(c) = rest.next() {
        match c {
            '\n' => row += 1,
            '\r' => column = 0,
            '\u{1b}' => {
                assert_eq!(rest.next(), Some('['), "{written:?}");
                let mut sequence = String::new();
                while !sequence.ends_with(|c: char| c.is_ascii_alphabetic()) {
                    sequence.extend(rest.next());
                }
                let (number, command) = sequence.split_at(sequence.len() - 1);
                let count = number.parse().unwrap_or(1);
                match command {
                    "A" => row = row.saturating_sub(count),
                    "B" => row += count,
                    "K" if number == "2" => lines[row].clear(),
                    "K" => lines[row].truncate(column),
                    "J" => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    "m" => {}
                    _ => panic!("{sequence:?} in {written:?}"),
                }
            }
            c => {
                let line: &mut Vec<char> = &mut lines[row];
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
                widest = widest.max(column);
            }
        }
        lines.resize(lines.len().max(row + 1), Vec::new());
    }
    let text = |line: &Vec<char>| line.iter().collect::<String>().trim_end().to_owned() + "\n";
    (lines.iter().map(text).collect(), widest)
}

/// Output to files and pipes isn't wrapped, so that it can be searched, and has no color.
#[cfg(target_os = "linux")]
#[test]
fn piped_tables_have_one_line_per_row() {
    let bench = Bench::new();
    for words in ["list config", "list passes", "explain"] {
        let (narrow, _) = on_a_terminal_of(&bench, "xterm", 80, words);
        let piped = bench.run_with(&[("NO_COLOR", "")], words.split_whitespace(), "");
        let lines = piped.stdout.lines().count();
        assert!(lines < narrow.lines().count(), "{words}: {lines}\n{narrow}");
        for text in [&piped.stdout, &piped.stderr] {
            assert!(!text.contains('\u{1b}'), "{words}: {text}");
        }
    }
}

/// A line that wraps couldn't be erased.
#[cfg(target_os = "linux")]
#[test]
fn progress_fits_the_terminal_width() {
    let bench = Bench::new();
    let name = "a-name-of-a-model-that-is-wider-than-the-terminal-".repeat(4) + ".ir";
    bench.write(&name, crate::support::RELUS);
    for columns in [40, 80, 120] {
        let words = format!("run {name} -q -o o.ir");
        let text = written(&bench, "xterm", columns, &words);
        let (shown, widest) = screen(&text);
        assert!(text.contains("a-name-of-a-model"), "no progress");
        assert!(
            widest <= usize::from(columns),
            "{widest} of {columns}: {text:?}"
        );
        assert_eq!(shown.trim(), "", "progress is left");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn progress_is_erased_from_the_terminal() {
    let bench = Bench::new();
    bench.write("m.ir", crate::support::RELUS);
    let words = "run m.ir --passes relax.transform.CanonicalizeBindings,relax.transform.InferType \
                 --print-before all --print-changed";
    let (shown, _) = on_a_terminal(&bench, "xterm", words);
    assert!(shown.contains("Before Running Pass"), "{shown}");
    for line in shown.lines() {
        let progress = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
        assert!(!line.contains(progress), "{shown}");
        assert!(!line.starts_with("0s"), "{shown}");
    }
    let (dumb, has_color_on_dumb) = on_a_terminal(&bench, "dumb", "run m.ir --passes Gone");
    assert!(dumb.starts_with("error[unknown-pass]"), "{dumb}");
    let (shown, has_color) = on_a_terminal(&bench, "xterm", "run m.ir --passes Gone");
    assert!(shown.starts_with("error[unknown-pass]"), "{shown}");
    assert_eq!((has_color, has_color_on_dumb), (true, false));
}
