//! The help of every command, for terminals of several widths and as a manual page.

use crate::support::Bench;

/// Returns the commands listed in a help text.
fn listed(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let names = list.filter_map(|line| {
        let line = line.strip_prefix("  ")?;
        let name = line.split(' ').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    names.filter(|name| name != "help").collect()
}

/// Returns the names of all commands, starting with the program itself.
fn commands(bench: &Bench) -> Vec<String> {
    let mut all = vec![String::new()];
    for name in listed(&bench.passdock("--help").stdout) {
        let inner = listed(&bench.passdock(&format!("{name} --help")).stdout);
        all.extend(inner.iter().map(|inner| format!("{name} {inner}")));
        all.push(name);
    }
    assert!(all.len() > 20, "{all:?}");
    assert!(all.contains(&"plugin new".to_owned()), "{all:?}");
    all
}

#[cfg(target_os = "linux")]
#[test]
fn help_wraps_at_the_terminal_width() {
    use crate::terminal::on_a_terminal_of;

    let bench = Bench::new();
    for command in commands(&bench) {
        for columns in [60, 80, 120] {
            let words = format!("{command} --help");
            let (help, _) = on_a_terminal_of(&bench, "xterm", columns, &words);
            let columns = usize::from(columns);
            for line in help.lines() {
                let width = line.chars().count();
                assert!(width <= columns, "{words} of {columns} columns: {line}");
            }
            // Below the options, lines are filled: the next word wouldn't fit.
            let below = help.split_once("Print version\n").map(|(_, below)| below);
            let lines: Vec<&str> = below.unwrap_or_default().lines().collect();
            for pair in lines.windows(2) {
                let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
                if is_text(pair[0]) && is_text(pair[1]) {
                    let next = pair[1].split(' ').next().unwrap_or_default();
                    let width = pair[0].chars().count() + 1 + next.chars().count();
                    assert!(width > columns, "{words} of {columns} columns: {pair:?}");
                }
            }
        }
    }
}

#[test]
fn man_page_examples_are_not_filled() {
    let bench = Bench::new();
    for command in commands(&bench) {
        let page = bench.passdock(&format!("man {command}")).stdout;
        let help = bench.passdock(&format!("{command} --help")).stdout;
        assert_eq!(
            page.matches(".SH EXAMPLES\n.PP\n.nf\n").count(),
            help.matches("\nExamples:\n").count(),
            "{command}\n{page}"
        );
        assert_eq!(
            page.matches("\n.nf\n").count(),
            page.matches("\n.fi\n").count()
        );
    }
}
