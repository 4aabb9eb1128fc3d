//! The table of the plugin ABI: `plugin-api/abi/contract/*.toml`, a file for each C header.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The headers in the order in which one includes the other.
const HEADERS: [&str; 6] = ["record", "view", "host", "analysis", "instrument", "plugin"];

/// The whole table.
pub(super) struct Table {
    pub(super) headers: Vec<(&'static str, Header)>,
}

/// A header: what it is about, and its items in order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) about: String,
    /// More text for the comment at the head of the C header.
    #[serde(default)]
    pub(super) rules: String,
    pub(super) include: Vec<String>,
    pub(super) item: Vec<Item>,
}

/// An item. Which fields it has says of which kind it is.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Item {
    /// C that has no counterpart in Rust.
    Text {
        text: String,
    },
    /// Numbers and strings.
    Constants {
        #[serde(default)]
        doc: String,
        constants: Vec<Field>,
    },
    /// Types of ids: the name, the prefix in messages, the documentation.
    Ids {
        ids: Vec<(String, String, String)>,
    },
    /// Symbols that each module has.
    Symbols {
        doc: String,
        symbols: Vec<(String, u32, String)>,
        first: u32,
    },
    /// Types that only their owner sees into: the name, the documentation.
    Opaque {
        doc: String,
        opaque: Vec<(String, String)>,
    },
    /// Structs that C declares before it defines them.
    Forward {
        forward: Vec<String>,
    },
    /// An integer with named values.
    Enum {
        #[serde(rename = "enum")]
        name: String,
        prefix: String,
        doc: String,
        values: Vec<Value>,
    },
    /// The flags of a struct.
    Flags {
        flags: String,
        #[serde(default)]
        prefix: Option<String>,
        #[serde(default)]
        doc: String,
        #[serde(default)]
        bits: Option<u32>,
        values: Vec<Field>,
    },
    /// A type of functions that a plugin hands over.
    Callback(Function),
    Struct(Struct),
}

/// A row: of a struct's field the name, the type, the documentation, the initializer in C unless it is the type's, and
/// the name in C unless it is the same. A constant has its value for a type.
#[derive(Deserialize)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: String,
    #[serde(default)]
    pub(super) doc: String,
    #[serde(default)]
    pub(super) init: String,
    #[serde(default)]
    c: String,
}

/// A value of an enumeration; an element type has its spelling in IR text and its bits.
#[derive(Deserialize)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) value: u32,
    #[serde(default)]
    pub(super) doc: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) bits: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Struct {
    #[serde(rename = "struct")]
    pub(super) name: String,
    pub(super) doc: String,
    /// Traits to derive, beside the usual.
    #[serde(default)]
    pub(super) derive: Option<String>,
    /// Whether C declares it first.
    #[serde(default)]
    pub(super) declared: bool,
    /// Whether C has an initializer.
    #[serde(default)]
    pub(super) init: bool,
    /// Whether it is an entry of a list, whose stride is its size.
    #[serde(default)]
    pub(super) entry: bool,
    /// The flags that a host knows of what asks it to do something.
    #[serde(default)]
    pub(super) known_flags: Option<String>,
    /// Of a table of the host's functions, the name that SDK and host have for it.
    #[serde(default)]
    pub(super) table: Option<String>,
    #[serde(default)]
    pub(super) fields: Vec<Field>,
    #[serde(default)]
    pub(super) function: Vec<Function>,
}

/// A function of a table, or the type of a callback.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Function {
    #[serde(alias = "callback")]
    pub(super) name: String,
    /// `name: type`. Beside the types of Rust there are `[T]`, a pointer and a count; `[T; other]`, a pointer to as
    /// many as another list has; `out T`, room for a result; `out [T]`, room for results and a count; `view T`,
    /// room for a pointer and a count; `Text`, a `Str`
    /// that the host refuses if it isn't UTF-8.
    pub(super) args: Vec<String>,
    #[serde(default = "status")]
    pub(super) returns: String,
    #[serde(default)]
    pub(super) doc: String,
    /// Whether C has a name for the type of a callback.
    #[serde(default, rename = "typedef")]
    pub(super) has_typedef: bool,
    /// Whether the SDK has no call of it.
    #[serde(default)]
    pub(super) not_in_sdk: bool,
    /// The method of the IR's function that does all of it.
    #[serde(default)]
    pub(super) edit: Option<String>,
    /// The module of the host that has the C function, if it isn't generated.
    #[serde(default)]
    pub(super) written_in: Option<String>,
}

fn status() -> String {
    "Status".to_owned()
}

/// What an argument is, beside its name.
pub(super) enum Argument<'a> {
    Plain(&'a str),
    List(&'a str),
    /// A list that is as long as another one.
    SameLength(&'a str, &'a str),
    Out(&'a str),
    /// A pointer and a count to be told: elements that live on the other side.
    View(&'a str),
    OutList(&'a str),
}

impl Table {
    pub(super) fn read(root: &Path) -> Result<Table> {
        let mut headers = Vec::new();
        for name in HEADERS {
            let path = root.join(format!("plugin-api/abi/contract/{name}.toml"));
            let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
            let header = toml::from_str(&text).with_context(|| format!("{}", path.display()))?;
            headers.push((name, header));
        }
        let table = Table { headers };
        for function in table.tables().flat_map(|table| &table.function) {
            if function.args.iter().any(|arg| !arg.contains(": ")) {
                bail!("an argument of `{}` isn't `name: type`", function.name);
            }
        }
        Ok(table)
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.headers.iter().flat_map(|(_, header)| &header.item)
    }

    pub(super) fn structs(&self) -> impl Iterator<Item = &Struct> {
        self.items().filter_map(|item| match item {
            Item::Struct(of) => Some(of),
            _ => None,
        })
    }

    /// The tables of the host's functions.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Struct> {
        self.structs().filter(|of| of.table.is_some())
    }

    pub(super) fn callback(&self, name: &str) -> &Function {
        let found = self.items().find_map(|item| match item {
            Item::Callback(callback) if callback.name == name => Some(callback),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("the table has no callback `{name}`"))
    }

    /// Whether a type is a struct that starts with its size.
    pub(super) fn is_sized(&self, ty: &str) -> bool {
        self.structs().any(|of| of.name == ty && of.is_sized())
    }
}

/// A constant: its name in C, without `PASSDOCK_`, its value in C, its path in Rust and its documentation.
pub(super) struct Define<'a> {
    pub(super) c: String,
    pub(super) value: String,
    pub(super) rust: String,
    pub(super) doc: &'a str,
}

impl Item {
    /// The constants that it declares.
    pub(super) fn defines(&self) -> Vec<Define<'_>> {
        let mut all = Vec::new();
        let mut add = |c: String, value: String, rust: String, doc| {
            all.push(Define {
                c,
                value,
                rust,
                doc,
            });
        };
        match self {
            Item::Constants { constants, .. } => {
                for Field { name, ty, doc, .. } in constants {
                    add(name.clone(), ty.clone(), name.clone(), doc.as_str());
                }
            }
            Item::Symbols { symbols, first, .. } => {
                for (name, id, _) in symbols {
                    add(
                        format!("SYMBOL_{name}"),
                        format!("{id}u"),
                        format!("symbol::{name}.0"),
                        "",
                    );
                }
                let doc = "the first symbol that is a module's own";
                add(
                    "SYMBOL_FIRST".into(),
                    format!("{first}u"),
                    "symbol::FIRST.0".into(),
                    doc,
                );
            }
            Item::Enum {
                name,
                prefix,
                values,
                ..
            } => {
                for Value {
                    name: value,
                    value: number,
                    doc,
                    ..
                } in values
                {
                    let c = match (prefix.as_str(), value.as_str()) {
                        ("STATUS", "OK") => "OK".to_owned(),
                        _ => format!("{prefix}_{value}"),
                    };
                    add(c, format!("{number}u"), format!("{name}::{value}.0"), doc);
                }
            }
            Item::Flags {
                flags,
                prefix,
                bits,
                values,
                ..
            } => {
                let prefix = prefix
                    .clone()
                    .unwrap_or_else(|| snake(flags).to_uppercase());
                for Field { name, ty, doc, .. } in values {
                    let value = match bits {
                        None => format!("{ty}u"),
                        Some(bits) => format!("(UINT{bits}_C{})", ty.replacen("1 ", "(1) ", 1)),
                    };
                    add(
                        format!("{prefix}_{name}"),
                        value,
                        format!("{flags}::{name}"),
                        doc,
                    );
                }
            }
            _ => {}
        }
        all
    }
}

impl Struct {
    /// Whether it starts with its size.
    pub(super) fn is_sized(&self) -> bool {
        self.table.is_some() || self.fields[0].name == "struct_size"
    }

    /// Whether a reserved word is checked with its flags.
    pub(super) fn has_reserved(&self) -> bool {
        self.fields.iter().any(|field| field.name == "reserved")
    }
}

impl Field {
    pub(super) fn c_name(&self) -> &str {
        match self.c.as_str() {
            "" => &self.name,
            name => name,
        }
    }
}

impl Function {
    pub(super) fn arguments(&self) -> impl Iterator<Item = (&str, Argument<'_>)> {
        self.args.iter().map(|arg| {
            let (name, ty) = arg.split_once(": ").unwrap_or((arg, ""));
            if let Some(element) = ty.strip_prefix("view ") {
                return (name, Argument::View(element));
            }
            let out = ty.strip_prefix("out ");
            let argument = match (out, inside(out.unwrap_or(ty))) {
                (Some(_), Some(element)) => Argument::OutList(element),
                (Some(ty), None) => Argument::Out(ty),
                (None, Some(list)) => match list.split_once("; ") {
                    Some((element, other)) => Argument::SameLength(element, other),
                    None => Argument::List(list),
                },
                (None, None) => Argument::Plain(ty),
            };
            (name, argument)
        })
    }

    /// The parameters as they cross: the name, the type in Rust.
    pub(super) fn parameters(&self) -> Vec<(String, String)> {
        let is_list = |(_, argument): &(&str, Argument<'_>)| {
            matches!(argument, Argument::List(_) | Argument::OutList(_))
        };
        let many = self.arguments().filter(is_list).count() > 1;
        let mut parameters = Vec::new();
        for (name, argument) in self.arguments() {
            let mut add = |name: String, ty: String| parameters.push((name, ty));
            match argument {
                Argument::Plain("Text") => add(name.into(), "Str".into()),
                Argument::Plain(ty) => add(name.into(), ty.into()),
                Argument::SameLength(ty, _) => add(name.into(), format!("*const {ty}")),
                Argument::Out(ty) => add(name.into(), format!("*mut {ty}")),
                Argument::View(ty) => {
                    add(name.into(), format!("*mut *const {ty}"));
                    add("count".into(), "*mut usize".into());
                }
                Argument::List(ty) => {
                    add(name.into(), format!("*const {ty}"));
                    add(count_name(name, many), "usize".into());
                }
                Argument::OutList(ty) => {
                    add(name.into(), format!("*mut {ty}"));
                    add("count".into(), "usize".into());
                }
            }
        }
        parameters
    }

    /// The name of the count of a list.
    pub(super) fn count_of(&self, list: &str) -> String {
        let counts = self.parameters();
        let at = counts
            .iter()
            .position(|(name, _)| name == list)
            .unwrap_or(0);
        counts[at + 1].0.clone()
    }
}

fn count_name(list: &str, many: bool) -> String {
    match many {
        true => format!("{}_count", list.trim_end_matches('s')),
        false => "count".to_owned(),
    }
}

/// What stands between brackets.
fn inside(ty: &str) -> Option<&str> {
    ty.strip_prefix('[')?.strip_suffix(']')
}

/// `OpDesc` as `op_desc`.
pub(super) fn snake(name: &str) -> String {
    if name == "DType" {
        return "dtype".to_owned();
    }
    let mut text = String::new();
    for (at, c) in name.char_indices() {
        if c.is_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}
