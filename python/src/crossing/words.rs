//! What the host says in the command line's words, in Python's.

/// Flags whose option is called otherwise.
const NAMES: [(&str, &str); 7] = [
    ("plugin", "plugins"),
    ("plugin-dir", "plugin_dirs"),
    ("require", "required_pass"),
    ("disable", "disabled_pass"),
    ("disable-rule", "disabled_rule"),
    ("instrument", "instruments"),
    ("report", "page"),
];
/// Options that are lists.
const LISTS: [&str; 4] = ["plugins", "plugin_dirs", "required_pass", "disabled_pass"];
/// Flags without a value.
const SWITCHES: [&str; 5] = [
    "allow_growth",
    "allow_outside_data",
    "drop_spans",
    "trust",
    "value_info",
];
/// Whole phrases.
const PHRASES: [(&str, &str); 7] = [
    (
        "`passdock list passes` shows what there is.",
        "`passdock.list_passes()` lists them.",
    ),
    (
        "`passdock list ops` shows what there is.",
        "`python -m passdock list ops` shows what there is.",
    ),
    (
        "`override = [\"…\"]` in `[plugins.NAME]`",
        "`register(override=True)`",
    ),
    ("; `-` is IR text.", "."),
    ("`--config KEY=VALUE`", "`config={KEY: VALUE}`"),
    ("`--bind NAME=VALUE`", "`bind={NAME: VALUE}`"),
    ("`--print-changed`", "the instrument `print-after`"),
];

/// Whether a text may have words of the command line in it.
pub(crate) fn is_of_command(text: &str) -> bool {
    ["--", "passdock list", "override = [", "`-` is IR"]
        .iter()
        .any(|word| text.contains(word))
}

/// A text of the host for a program in Python: `--allow-growth` is `allow_growth=True`.
pub(crate) fn in_python(text: &str) -> String {
    if !is_of_command(text) {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    for (theirs, ours) in PHRASES {
        text = text.replace(theirs, ours);
    }
    let mut made = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("--") {
        let (before, flag) = (&rest[..at], &rest[at + 2..]);
        let end = flag
            .find(|letter: char| !letter.is_ascii_lowercase() && letter != '-')
            .unwrap_or(flag.len());
        let is_flag = flag.starts_with(|letter: char| letter.is_ascii_lowercase())
            && before
                .chars()
                .next_back()
                .is_none_or(|last| " `(\n".contains(last));
        // A command that is quoted is the command's.
        let quoted = before.rsplit_once('`').is_some_and(|(head, code)| {
            head.matches('`').count() % 2 == 0 && code.contains("passdock ")
        });
        made.push_str(before);
        if !is_flag || quoted {
            made.push_str("--");
            rest = flag;
            continue;
        }
        let name = &flag[..end];
        let known = NAMES.iter().find(|(theirs, _)| *theirs == name);
        let name = known.map_or_else(|| name.replace('-', "_"), |(_, ours)| (*ours).to_owned());
        made.push_str(&name);
        rest = &flag[end..];
        // The value stands behind it as far as the code goes: `--verify all`.
        let is_code = before.ends_with('`');
        let code = rest.find('`').filter(|_| is_code).unwrap_or(0);
        let value = rest[..code].trim();
        if !value.is_empty() {
            let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase());
            let value = if is_word {
                format!("{value:?}")
            } else {
                value.to_owned()
            };
            let is_list = LISTS.contains(&name.as_str());
            let value = if is_list { format!("[{value}]") } else { value };
            made.push_str(&format!("={value}"));
            rest = &rest[code..];
        } else if SWITCHES.contains(&name.as_str()) {
            made.push_str("=True");
        }
    }
    made.push_str(rest);
    made
}
