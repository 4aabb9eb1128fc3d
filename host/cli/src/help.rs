//! Manual pages of commands. The examples below the options keep their line breaks.

use std::fmt::Write as _;
use std::io;

use clap::Command;
use clap::builder::Resettable;

/// Returns the manual page of a command.
pub(crate) fn manual(mut command: Command) -> io::Result<String> {
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string);
    command = command
        .after_help(Resettable::Reset)
        .after_long_help(Resettable::Reset);
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    let page = String::from_utf8_lossy(&page).into_owned();
    let more = after.map_or(String::new(), |text| roff(&text));
    let version = "\n.SH VERSION";
    Ok(match page.contains(version) {
        true => page.replacen(version, &format!("\n{more}{}", &version[1..]), 1),
        false => page + &more,
    })
}

/// Converts the text below the options to roff. Indented lines are kept literally.
fn roff(text: &str) -> String {
    let mut out = ".SH EXTRA\n".to_owned();
    let mut is_code = false;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if line == "Examples:" {
            out = ".SH EXAMPLES\n".to_owned();
            continue;
        }
        let was_code = std::mem::replace(&mut is_code, line.starts_with(' '));
        // Writing to a `String` can't fail.
        _ = match (was_code, is_code) {
            (false, true) => writeln!(out, ".PP\n.nf\n{}", escaped(line)),
            (true, true) => writeln!(out, "{}", escaped(line)),
            (true, false) => writeln!(out, ".fi\n.PP\n{}", escaped(line)),
            (false, false) => writeln!(out, ".PP\n{}", escaped(line)),
        };
    }
    if is_code {
        out += ".fi\n";
    }
    out
}

/// Escapes text for roff.
fn escaped(text: &str) -> String {
    let text = text
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq")
        .replace('`', "\\(ga");
    match text.starts_with('.') {
        true => format!("\\&{text}"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use clap_markdown::{MarkdownOptions, help_markdown_command_custom};
    use expect_test::{expect, expect_file};

    use super::*;
    use crate::args::Cli;

    #[test]
    fn man_page_examples_keep_their_lines() {
        let text = "\
Examples:
  passdock one model.onnx            what it does
  passdock another --option 'a value' && more
Environment:
  NAME  what it is

A paragraph, whose author's editor breaks no line.";
        expect![[r#"
            .SH EXAMPLES
            .PP
            .nf
              passdock one model.onnx            what it does
              passdock another \-\-option \(aqa value\(aq && more
            .fi
            .PP
            Environment:
            .PP
            .nf
              NAME  what it is
            .fi
            .PP
            A paragraph, whose author\(aqs editor breaks no line.
        "#]]
        .assert_eq(&roff(text));
    }

    /// docs/command-line.md is the reference of all commands.
    #[test]
    fn command_line_reference_is_up_to_date() {
        let options = MarkdownOptions::new().title("Command line".to_owned());
        let options = options.show_footer(false).show_table_of_contents(false);
        let reference = help_markdown_command_custom(&with_fences(Cli::command()), &options);
        // `override_usage` has the name of the program, too.
        let reference = reference.replace("`passdock passdock ", "`passdock ");
        expect_file!["../../../docs/command-line.md"].assert_eq(&reference);
    }

    /// Puts the indented lines below the options of all commands into code blocks.
    fn with_fences(command: Command) -> Command {
        let after = command.get_after_long_help().or(command.get_after_help());
        let text = after.map(ToString::to_string).unwrap_or_default();
        let mut fenced = String::new();
        let mut is_code = false;
        for line in text.lines().chain([""]) {
            if line.starts_with(' ') != is_code {
                is_code = !is_code;
                fenced += if is_code { "\n```sh\n" } else { "```\n" };
            }
            fenced += &format!("{}\n", line.trim_start());
        }
        let command = command.after_long_help(Resettable::Reset);
        let command = command.after_help(fenced.trim_end().to_owned());
        command.mut_subcommands(with_fences)
    }
}
