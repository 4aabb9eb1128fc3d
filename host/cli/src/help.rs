//! What stands below the options of a command's help: its paragraphs and examples, fitted to the terminal and set as a
//! manual page.
//!
//! clap breaks lines that are too long and leaves the breaks that the source has. Here lines that aren't indented are
//! joined to paragraphs first, and an example that doesn't fit has its comment below it.

use std::fmt::Write as _;

use clap::Command;

/// The columns of text that goes nowhere near a terminal.
const ELSEWHERE: usize = 100;
/// The columns that what belongs to an example's line is indented by.
const BELOW: usize = 6;

/// A part of such a text.
enum Block<'t> {
    Paragraph(String),
    /// Lines that are indented: code, and what is said of it.
    Examples(Vec<(&'t str, String)>),
    Blank,
}

/// Fits the help of a command, and of those in it, to the terminal.
pub(crate) fn fitted(mut command: Command) -> Command {
    let width = columns();
    command.build();
    fit(command.term_width(width), width)
}

fn fit(mut command: Command, width: usize) -> Command {
    let usage = command.render_usage().to_string();
    if let Some(line) = usage.strip_prefix("Usage: ")
        && usage.chars().count() > width
    {
        let mut words = String::new();
        wrap(
            &mut words,
            line.split(' '),
            [0, "Usage: ".len() + 2],
            width - "Usage: ".len(),
            "",
        );
        command = command.override_usage(words.trim_end().to_owned());
    }
    if let Some(text) = command.get_after_help() {
        let text = fitted_text(&text.to_string(), width);
        command = command.after_help(text);
    }
    command.mut_subcommands(|command| fit(command, width))
}

/// The columns of the terminal that anything of ours goes to or comes from.
fn columns() -> usize {
    let own = || {
        let terminal = std::fs::File::open("/dev/tty").ok()?;
        terminal_size::terminal_size_of(terminal)
    };
    let size = terminal_size::terminal_size().or_else(own);
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = size.map(|(columns, _)| usize::from(columns.0));
    columns.or_else(said).unwrap_or(ELSEWHERE).max(40)
}

fn fitted_text(text: &str, width: usize) -> String {
    let mut out = String::new();
    for block in blocks(text) {
        match block {
            Block::Blank => out.push('\n'),
            Block::Paragraph(text) => wrap(&mut out, text.split(' '), [0, 0], width, ""),
            Block::Examples(lines) => examples(&mut out, &lines, width),
        }
    }
    out.trim_end().to_owned()
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let line = line.trim();
        match (indent, blocks.last_mut()) {
            _ if line.is_empty() => blocks.push(Block::Blank),
            (0, Some(Block::Paragraph(text))) => {
                text.push(' ');
                text.push_str(line);
            }
            (0, _) => blocks.push(Block::Paragraph(line.to_owned())),
            // It goes on with what is said of the line above.
            (3.., Some(Block::Examples(lines))) => {
                if let Some((_, said)) = lines.last_mut() {
                    said.push(' ');
                    said.push_str(line);
                }
            }
            (_, Some(Block::Examples(lines))) => lines.push(example(line)),
            _ => blocks.push(Block::Examples(vec![example(line)])),
        }
    }
    blocks
}

/// The code of a line, and what is said of it behind some spaces.
fn example(line: &str) -> (&str, String) {
    let (code, said) = line.split_once("  ").unwrap_or((line, ""));
    (code, said.trim().to_owned())
}

/// Examples side by side with what is said of them, or if that doesn't fit one below the other.
fn examples(out: &mut String, lines: &[(&str, String)], width: usize) {
    let code = lines.iter().filter(|(_, said)| !said.is_empty());
    let code = code.map(|(code, _)| code.chars().count()).max();
    let behind = 2 + code.unwrap_or(0) + 3;
    let fits = |(code, said): &(&str, String)| match said.is_empty() {
        true => 2 + code.chars().count() <= width,
        false => behind + said.chars().count() <= width,
    };
    let is_beside = lines.iter().all(fits);
    for (code, said) in lines {
        let room = behind - 2;
        // Writing to a string doesn't fail.
        match is_beside {
            true if said.is_empty() => _ = writeln!(out, "  {code}"),
            true => _ = writeln!(out, "  {code:room$}{said}"),
            false => {
                wrap(out, parts(code), [2, BELOW], width, " \\");
                if !said.is_empty() {
                    wrap(out, said.split(' '), [BELOW, BELOW], width, "");
                }
            }
        }
    }
}

/// The parts of a line of code between which it may be broken: an option stays with its value, what is in quotes whole.
fn parts(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (mut is_quoted, mut is_bound) = (false, rest.starts_with('-'));
        let end = rest.char_indices().find(|&(at, c)| {
            is_quoted ^= c == '\'';
            let is_end = c == ' ' && !is_quoted;
            // The option's value comes, or another option.
            let is_bound = is_end && std::mem::take(&mut is_bound);
            is_end && (!is_bound || rest[at + 1..].starts_with(['-', '&', '|']))
        });
        let (part, more) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = more.trim_start();
        Some(part)
    })
}

/// Adds words on lines of a width, the first and the others indented; each line but the last ends with `more`.
fn wrap<'w>(
    out: &mut String,
    words: impl Iterator<Item = &'w str>,
    [first, others]: [usize; 2],
    width: usize,
    more: &str,
) {
    let mut line = " ".repeat(first);
    let mut is_empty = true;
    for word in words.filter(|word| !word.is_empty()) {
        let length = line.chars().count() + 1 + word.chars().count() + more.len();
        if !is_empty && length > width {
            *out += &line;
            *out += more;
            out.push('\n');
            line = " ".repeat(others);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line += word;
        is_empty = false;
    }
    *out += &line;
    out.push('\n');
}

/// The manual page of a command.
pub(crate) fn manual(mut command: Command) -> std::io::Result<String> {
    let after = command.get_after_help().map(ToString::to_string);
    command = command.after_help(clap::builder::Resettable::Reset);
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

/// Such a text in a manual page: what is indented stays as it is.
fn roff(text: &str) -> String {
    let mut out = ".SH EXTRA\n".to_owned();
    for block in blocks(text) {
        match block {
            Block::Blank => {}
            Block::Paragraph(text) if text == "Examples:" => out = ".SH EXAMPLES\n".to_owned(),
            Block::Paragraph(text) => _ = writeln!(out, ".PP\n{}", escaped(&text)),
            Block::Examples(lines) => {
                let mut shown = String::new();
                examples(&mut shown, &lines, 72);
                let lines = shown.lines().map(escaped);
                _ = writeln!(
                    out,
                    ".PP\n.nf\n{}\n.fi",
                    lines.collect::<Vec<_>>().join("\n")
                );
            }
        }
    }
    out
}

/// Text that roff shows as it is.
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
    use expect_test::expect;

    use super::*;

    const TEXT: &str = "\
Examples:
  passdock one model.onnx            what it does
  passdock another --option 'a value' && more
Environment:
  NAME  what it is, which takes
        two lines

A paragraph that was broken where
its author's editor was as wide.";

    #[test]
    fn paragraphs_are_wrapped_once_and_examples_stay() {
        expect![[r#"
            Examples:
              passdock one model.onnx
                  what it does
              passdock another --option 'a value' && \
                  more
            Environment:
              NAME   what it is, which takes two lines

            A paragraph that was broken where its
            author's editor was as wide."#]]
        .assert_eq(&fitted_text(TEXT, 42));
        expect![[r#"
            Examples:
              passdock one model.onnx
                  what it does
              passdock another \
                  --option 'a value' && \
                  more
            Environment:
              NAME
                  what it is, which takes
                  two lines

            A paragraph that was broken
            where its author's editor was
            as wide."#]]
        .assert_eq(&fitted_text(TEXT, 30));
    }

    #[test]
    fn a_manual_page_shows_examples_as_they_are() {
        expect![[r#"
            .SH EXAMPLES
            .PP
            .nf
              passdock one model.onnx   what it does
              passdock another \-\-option \(aqa value\(aq && more
            .fi
            .PP
            Environment:
            .PP
            .nf
              NAME   what it is, which takes two lines
            .fi
            .PP
            A paragraph that was broken where its author\(aqs editor was as wide.
        "#]]
        .assert_eq(&roff(TEXT));
    }
}
