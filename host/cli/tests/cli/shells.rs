//! `completions` and `man`: what shells and manuals take.

use expect_test::expect;

use crate::support::Bench;

#[test]
fn completions_know_commands_and_options() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = bench.passdock(&format!("completions {shell}"));
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        for word in ["bisect", "raise-opset"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
        // Scripts of the others offer no values.
        let has_names = ["bash", "zsh", "fish"].contains(&shell);
        assert_eq!(ran.stdout.contains("FoldConstant"), has_names, "{shell}");
    }
}

#[test]
fn bash_takes_the_completions() {
    let bench = Bench::new();
    bench.write("passdock.bash", bench.passdock("completions bash").stdout);
    for (before, word, offered) in [
        ("run", "--raise", "--raise-opset"),
        ("--passes", "FoldC", "FoldConstant"),
        ("--disable", "EliminateC", "EliminateCommonSubexpr"),
        ("run", "simpl", "simplify"),
    ] {
        let words = match before {
            "run" => format!("passdock run {word}"),
            option => format!("passdock run {option} {word}"),
        };
        let last = words.split(' ').count() - 1;
        let script = format!(
            "source passdock.bash\n\
             COMP_WORDS=({words}); COMP_CWORD={last}\n\
             _passdock passdock {word} {before}; echo ${{COMPREPLY[@]}}"
        );
        let mut bash = std::process::Command::new("bash");
        let Ok(ran) = bash
            .args(["-c", &script])
            .current_dir(bench.path(""))
            .output()
        else {
            // There is no bash.
            return;
        };
        let offers = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert_eq!(offers.trim(), offered, "{words}");
    }
}

#[test]
fn each_command_has_a_page() {
    let bench = Bench::new();
    for (words, title) in [
        ("man", ".TH passdock 1 "),
        ("man run", ".TH passdock-run 1 "),
        ("man plugin new", ".TH passdock-plugin-new 1 "),
    ] {
        let ran = bench.passdock(words);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(title), "{}", ran.stdout);
    }
    let ran = bench.passdock("man rnu");
    expect![[r#"
        error[usage]: `passdock` has no command `rnu`.
         |
         = help: Did you mean `run`?
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(ran.status, 2);
}
