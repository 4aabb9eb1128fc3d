//! What the contract of the future has that today's hasn't: changes of source text, each of which
//! must find its place.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::unknown;

/// The number in each field of the future: who finds another one has read what isn't there.
const MARK: &str = "0xF07E_F07E";

/// A text in a file, and what it becomes in the future.
struct Change {
    file: &'static str,
    from: String,
    to: String,
}

/// All changes, by file.
pub(super) struct Patches(Vec<Change>);

/// Values that get another number: today's side meets one that it doesn't know.
pub(super) const RENUMBERED: [(&str, &str, &str, u32, u32); 5] = [
    (
        "OPAQUE: AttrKind = AttrKind",
        "ATTR_OPAQUE",
        "record",
        14,
        114,
    ),
    (
        "SPARSE: TypeKind = TypeKind",
        "TYPE_SPARSE",
        "record",
        10,
        110,
    ),
    (
        "BROADCAST: ExprKind = ExprKind",
        "EXPR_BROADCAST",
        "record",
        7,
        107,
    ),
    ("FUSED: LocKind = LocKind", "LOC_FUSED", "record", 3, 103),
    (
        "EXTERNAL: Storage = Storage",
        "STORAGE_EXTERNAL",
        "record",
        3,
        103,
    ),
];

impl Patches {
    pub(super) fn new(root: &Path) -> Result<Patches> {
        let mut patches = Patches(Vec::new());
        patches.minor();
        patches.fields(root)?;
        patches.readers();
        for (rust, c, part, from, to) in RENUMBERED {
            let (file, header) = match part {
                "record" => (
                    "plugin-api/abi/src/record.rs",
                    "plugin-api/abi/include/passdock/record.h",
                ),
                other => bail!("no file is known for {other}"),
            };
            patches.change(file, format!("{rust}({from});"), format!("{rust}({to});"));
            let define = |number| format!("#define PASSDOCK_{c} {number}u");
            patches.change(header, define(from), define(to));
        }
        unknown::change(&mut patches, root)?;
        Ok(patches)
    }

    pub(super) fn change(
        &mut self,
        file: &'static str,
        from: impl Into<String>,
        to: impl Into<String>,
    ) {
        let (from, to) = (from.into(), to.into());
        self.0.push(Change { file, from, to });
    }

    /// The contract is a minor further on; the last break is where it was.
    fn minor(&mut self) {
        self.change(
            "plugin-api/abi/src/version.rs",
            "ABI: Version = Version { major: 0, minor: 4 }",
            "ABI: Version = Version { major: 0, minor: 5 }",
        );
        self.change(
            "plugin-api/abi/include/passdock/record.h",
            "#define PASSDOCK_ABI_MINOR 4\n",
            "#define PASSDOCK_ABI_MINOR 5\n",
        );
        // A plugin that asks before it uses what is new works with today's hosts.
        self.change(
            "plugin-api/abi/include/passdock/record.h",
            "#define PASSDOCK_TARGET_MINOR PASSDOCK_ABI_MINOR",
            "#define PASSDOCK_TARGET_MINOR 4",
        );
    }

    /// A field at the end of every struct that may grow, and a column in every view.
    fn fields(&mut self, root: &Path) -> Result<()> {
        const GROW: &str = "plugin-api/abi/src/grow.rs";
        let grow = fs::read_to_string(root.join(GROW))?;
        for line in grow.lines() {
            let Some((module, name)) = line.trim().trim_end_matches(',').split_once("::") else {
                continue;
            };
            // `flags` and what it may have follow in descriptions.
            let name = name.split(' ').next().unwrap_or(name);
            if !line.starts_with("    ") || !name.chars().all(char::is_alphanumeric) {
                continue;
            }
            let (rust, c) = (source(module)?, header(module, name)?);
            let text = fs::read_to_string(root.join(rust))?;
            let column = name.ends_with("View");
            let start = format!("pub struct {name} {{\n");
            let old =
                between(&text, &start, "\n}\n").with_context(|| format!("{name} in {rust}"))?;
            let new = match column {
                true => "\n    /// Of the future.\n    pub newer: crate::view::Column,",
                false => "",
            };
            let new = format!("{old}{new}\n    /// Of the future.\n    pub future: u64,");
            self.change(
                rust,
                format!("{start}{old}\n}}"),
                format!("{start}{new}\n}}"),
            );

            let end = match c_name(name).as_str() {
                // Declared before they are defined, since they name themselves.
                c @ ("passdock_host" | "passdock_plugin" | "passdock_setting_item") => {
                    let text = fs::read_to_string(root.join(header(module, name)?))?;
                    let start = format!("\nstruct {c} {{\n");
                    let body = between(&text, &start, "\n};\n").with_context(|| c.to_owned())?;
                    (
                        format!("{start}{body}\n}};"),
                        format!("{start}{body}\n    uint64_t future;\n}};"),
                    )
                }
                c => {
                    let newer = if column {
                        "    passdock_column newer;\n"
                    } else {
                        ""
                    };
                    (
                        format!("\n}} {c};"),
                        format!("\n{newer}    uint64_t future;\n}} {c};"),
                    )
                }
            };
            self.change(c, end.0, end.1);
        }
        self.grow(GROW);
        Ok(())
    }

    /// A struct that is made has the mark, and can be looked at.
    fn grow(&mut self, file: &'static str) {
        // In what asks for something it says nothing: today's host would refuse it.
        let made = "let mut empty = zeros!($module::$name);\n";
        let mark =
            format!("{made}if !<$module::$name as Grows>::ASKS {{\nempty.future = {MARK};\n}}\n");
        self.change(file, made, mark);
        let entry = "pub const EMPTY: Self = zeros!($module::$name);";
        let marked = format!("{{ {made} empty.future = {MARK}; empty }}");
        self.change(file, entry, format!("pub const EMPTY: Self = {marked};"));
        let grows = "pub unsafe trait Grows: Copy {\n";
        let check = "/// The struct, whose field of the future is of the future, or not there.\n\
                     fn check(self) -> Self;\n";
        self.change(file, grows, format!("{grows}{check}"));
        let implementation = "const EMPTY: Self = $module::$name::EMPTY;\n";
        let check = format!(
            "fn check(self) -> Self {{\n\
             assert!(self.future == 0 || self.future == {MARK}, \"read beyond its end\");\n\
             self\n}}\n"
        );
        self.change(file, implementation, format!("{implementation}{check}"));
    }

    /// Who reads a struct of the other side looks at the new field.
    fn readers(&mut self) {
        const TABLES: &str = "plugin-api/src/raw/tables.rs";
        const INPUT: &str = "host/core/src/boundary/session/input.rs";
        for (file, read) in [
            (TABLES, "unsafe { copy.assume_init() }"),
            (INPUT, "checked(unsafe { at.read() }"),
            (INPUT, "checked(copy.assume_init()"),
        ] {
            self.change(file, read, format!("{read}.check()"));
        }
        // A view of today's host ends before the field.
        let new = "        RawFunction {\n            tables,";
        let look = format!(
            "// SAFETY: a view starts with its size, and is read no further than that.\n\
             unsafe {{\n\
             let size = *function.view.cast::<u32>() as usize;\n\
             if size >= std::mem::size_of::<abi::FunctionView>() {{\n\
             assert_eq!((*function.view).future, {MARK});\n}}\n}}\n"
        );
        self.change(
            "plugin-api/src/raw/function.rs",
            new,
            format!("{look}{new}"),
        );
    }

    /// A file as it is in the future.
    pub(super) fn apply(&mut self, file: &str, content: Vec<u8>) -> Result<Vec<u8>> {
        if self.0.iter().all(|change| change.file != file) {
            return Ok(content);
        }
        let mut text = String::from_utf8(content).with_context(|| format!("{file} isn't text"))?;
        let (here, rest) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|c| c.file == file);
        self.0 = rest;
        let here: Vec<Change> = here;
        for Change { from, to, .. } in here {
            if !text.contains(&from) {
                bail!("{file} has no `{from}` any more, which the future changes");
            }
            text = text.replacen(&from, &to, 1);
        }
        Ok(text.into_bytes())
    }

    /// Fails if a change found no file.
    pub(super) fn done(self) -> Result<()> {
        match self.0.first() {
            Some(Change { file, .. }) => {
                bail!("there is no {file} any more, which the future changes")
            }
            None => Ok(()),
        }
    }
}

/// The Rust file of a module of the contract.
fn source(module: &str) -> Result<&'static str> {
    Ok(match module {
        "analysis" => "plugin-api/abi/src/analysis.rs",
        "desc" => "plugin-api/abi/src/desc.rs",
        "host" => "plugin-api/abi/src/host.rs",
        "instrument" => "plugin-api/abi/src/instrument.rs",
        "op" => "plugin-api/abi/src/op.rs",
        "plugin" => "plugin-api/abi/src/plugin.rs",
        "view" => "plugin-api/abi/src/view.rs",
        other => bail!("no file is known for the module {other} of the contract"),
    })
}

/// The header that has a struct.
fn header(module: &str, name: &str) -> Result<&'static str> {
    Ok(match (module, name) {
        ("analysis", _) => "plugin-api/abi/include/passdock/analysis.h",
        ("desc" | "view", _) => "plugin-api/abi/include/passdock/view.h",
        ("host" | "op", _) => "plugin-api/abi/include/passdock/host.h",
        ("instrument", _) => "plugin-api/abi/include/passdock/instrument.h",
        ("plugin", _) => "plugin-api/abi/include/passdock/plugin.h",
        _ => bail!("no header is known for {name}"),
    })
}

/// A struct's name in C: `passdock_op_desc` of `OpDesc`.
fn c_name(name: &str) -> String {
    let mut c = "passdock".to_owned();
    for letter in name.chars() {
        if letter.is_uppercase() {
            c.push('_');
        }
        c.extend(letter.to_lowercase());
    }
    c
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}
