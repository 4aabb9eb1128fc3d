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
    }
}

#[test]
fn bash_takes_the_completions() {
    let bench = Bench::new();
    bench.write("passdock.bash", bench.passdock("completions bash").stdout);
    let script = "source passdock.bash\n\
                  COMP_WORDS=(passdock run --raise); COMP_CWORD=2\n\
                  _passdock passdock --raise run; echo ${COMPREPLY[@]}";
    let mut bash = std::process::Command::new("bash");
    let Ok(ran) = bash
        .args(["-c", script])
        .current_dir(bench.path(""))
        .output()
    else {
        // There is no bash.
        return;
    };
    assert_eq!(String::from_utf8_lossy(&ran.stdout), "--raise-opset\n");
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
