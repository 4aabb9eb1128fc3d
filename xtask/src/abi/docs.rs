//! Doc comments in Rust and in C.

use std::fmt::Write;

/// Turns a fragment (`the number of ops`) into a sentence.
pub(super) fn sentence(doc: &str) -> String {
    let word: String = doc.chars().take_while(|c| !c.is_whitespace()).collect();
    let mut text = doc.to_owned();
    if word
        .chars()
        .all(|c| c.is_ascii_lowercase() || ",'-".contains(c))
    {
        text[..1].make_ascii_uppercase();
    }
    if !text.ends_with(['.', ':', '!', '?']) {
        text.push('.');
    }
    text
}

/// Splits a text into paragraphs, and each into lines of at most `width` columns. A code block keeps its lines.
fn paragraphs(doc: &str, width: usize) -> Vec<Vec<String>> {
    let paragraph = |text: &str| {
        let mut lines: Vec<String> = Vec::new();
        if text.starts_with("```") {
            return text.lines().map(str::to_owned).collect();
        }
        for word in text.split_whitespace() {
            match lines
                .last_mut()
                .filter(|line| line.chars().count() + 1 + word.chars().count() <= width)
            {
                Some(line) => {
                    let _ = write!(line, " {word}");
                }
                None => lines.push(word.to_owned()),
            }
        }
        lines
    };
    doc.split("\n\n").map(paragraph).collect()
}

/// Returns a C comment.
pub(super) fn comment(doc: &str, indent: usize, width: usize) -> String {
    let margin = " ".repeat(indent);
    let paragraphs = paragraphs(doc, width - indent - 6);
    let lines: Vec<String> = paragraphs
        .iter()
        .map(|lines| lines.join(&format!("\n{margin} * ")))
        .collect();
    format!(
        "{margin}/* {} */\n",
        lines.join(&format!("\n{margin} *\n{margin} * "))
    )
}

/// Returns a Rust doc comment.
pub(super) fn rust(doc: &str) -> String {
    if doc.is_empty() {
        return String::new();
    }
    let paragraphs = paragraphs(&sentence(doc), 110);
    let lines: Vec<String> = paragraphs
        .iter()
        .map(|lines| format!("/// {}", lines.join("\n/// ")))
        .collect();
    lines.join("\n///\n") + "\n"
}
