//! The table of the plugin ABI: `plugin-api/abi/table/*.toml`, a file for each C header.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The headers, each after those that it includes.
const HEADERS: [&str; 6] = ["record", "view", "host", "analysis", "instrument", "plugin"];

pub(super) struct Table {
    pub(super) headers: Vec<(&'static str, Header)>,
}

/// A header: its description, and its items in order.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) about: String,
    /// More text for the comment at the start of the C header.
    #[serde(default)]
    pub(super) rules: String,
    pub(super) include: Vec<String>,
    pub(super) item: Vec<Item>,
}

/// An item of a header. Its fields determine its kind.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
pub(super) enum Item {
    /// C code that has no counterpart in Rust.
    Text {
        text: String,
    },
    /// Numbers and strings.
    Constants {
        #[serde(default)]
        doc: String,
        constants: Vec<Field>,
    },
    /// Id types: the name, the prefix in messages, the documentation.
    Ids {
        ids: Vec<(String, String, String)>,
    },
    /// The symbols that every module has.
    Symbols {
        doc: String,
        symbols: Vec<(String, u32, String)>,
        first: u32,
    },
    /// Opaque types: the name, the documentation.
    Opaque {
        doc: String,
        opaque: Vec<(String, String)>,
    },
    /// Forward declarations of structs in C.
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
        /// The values that belong to the loop level, a draft.
        #[serde(default)]
        loops: Vec<String>,
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
        /// The flags that belong to the loop level, a draft.
        #[serde(default)]
        loops: Vec<String>,
    },
    /// The type of a callback that a plugin passes to the host.
    Callback(Function),
    Struct(Struct),
}

/// A row: a field of a struct, or a constant.
///
/// A field has the name, the type and the documentation. `init` is its initializer in C if it isn't the type's default,
/// and `c` is its name in C if that differs. For a constant `ty` is the value. `since` is the minor version that added
/// the field.
#[derive(Deserialize, Serialize)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) ty: String,
    #[serde(default)]
    pub(super) doc: String,
    #[serde(default)]
    pub(super) init: String,
    #[serde(default)]
    pub(super) c: String,
    #[serde(default)]
    pub(super) since: u32,
}

/// A value of an enumeration. An element type also has its spelling in IR text (`text`) and its size (`bits`).
#[derive(Deserialize, Serialize)]
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

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Struct {
    #[serde(rename = "struct")]
    pub(super) name: String,
    pub(super) doc: String,
    /// Traits to derive in addition to the default ones.
    #[serde(default)]
    derive: Option<String>,
    /// All traits to derive, the default ones included.
    #[serde(skip_deserializing)]
    derives: String,
    /// Whether the struct starts with its size.
    #[serde(skip_deserializing)]
    pub(super) sized: bool,
    /// Whether C has a forward declaration.
    #[serde(default)]
    pub(super) declared: bool,
    /// Whether C has an initializer.
    #[serde(default)]
    pub(super) init: bool,
    /// Whether the struct is an element of a list, whose stride is the struct's size.
    #[serde(default)]
    pub(super) entry: bool,
    /// For a request to the host: the flags that the host supports.
    #[serde(default)]
    pub(super) known_flags: Option<String>,
    /// For a table of host functions: the name that the SDK and the host use for it.
    #[serde(default)]
    pub(super) table: Option<String>,
    #[serde(default)]
    pub(super) fields: Vec<Field>,
    #[serde(default)]
    pub(super) function: Vec<Function>,
}

/// A function of a table, or the type of a callback.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Function {
    #[serde(alias = "callback")]
    pub(super) name: String,
    /// The minor version that added the function.
    #[serde(default)]
    pub(super) since: u32,
    /// `name: type`. In addition to Rust's types there are:
    /// - `[T]`: a pointer and a count
    /// - `[T; other]`: a pointer to as many elements as the list `other` has
    /// - `out T`: a pointer to a result
    /// - `out [T]`: a pointer to a buffer of results, and a count
    /// - `view T`: pointers to a pointer and a count, which the callee sets
    /// - `Text`: a `Str` that the host rejects if it isn't UTF-8
    args: Vec<Argument>,
    /// The parameters of the C function: the name, the type in Rust.
    #[serde(skip_deserializing)]
    pub(super) parameters: Vec<(String, String)>,
    /// The type of the first argument, the handle.
    #[serde(skip_deserializing)]
    handle: String,
    #[serde(default = "status")]
    pub(super) returns: String,
    #[serde(default)]
    pub(super) doc: String,
    /// Whether C has a `typedef` for the callback.
    #[serde(default, rename = "typedef")]
    pub(super) has_typedef: bool,
    /// Whether the SDK has no function for the call.
    #[serde(default)]
    pub(super) not_in_sdk: bool,
    /// The public method of the SDK that only makes the call.
    #[serde(default)]
    pub(super) method: Option<Method>,
    /// The method of the IR's `Function` that implements it.
    #[serde(default)]
    pub(super) edit: Option<String>,
    /// The module of the host that has the C function, if that is hand-written.
    #[serde(default)]
    pub(super) written_in: Option<String>,
}

/// A public method of the SDK: its documentation, and its name if that isn't the function's.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Method {
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) doc: String,
}

fn status() -> String {
    "Status".to_owned()
}

/// An argument of a function, read from `name: type`.
#[derive(Deserialize, Serialize)]
#[serde(try_from = "String")]
struct Argument {
    name: String,
    kind: Kind,
    /// The type of the argument, of an element of a list, or of a result.
    ty: String,
    /// The list that has as many elements.
    other: String,
    /// The name of the count of a list.
    count: String,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
enum Kind {
    Plain,
    List,
    /// A list with the length of another list.
    SameLength,
    Out,
    /// Pointers to a pointer and a count, for elements that the callee owns.
    View,
    OutList,
}

impl TryFrom<String> for Argument {
    type Error = String;

    fn try_from(text: String) -> Result<Argument, String> {
        let (name, ty) = text
            .split_once(": ")
            .ok_or_else(|| format!("expected `name: type`, found `{text}`"))?;
        let list = |ty: &str| Some(ty.strip_prefix('[')?.strip_suffix(']')?.to_owned());
        let (kind, ty) = match (ty.strip_prefix("view "), ty.strip_prefix("out ")) {
            (Some(element), _) => (Kind::View, element.to_owned()),
            (_, Some(out)) => {
                list(out).map_or((Kind::Out, out.to_owned()), |ty| (Kind::OutList, ty))
            }
            _ => list(ty).map_or((Kind::Plain, ty.to_owned()), |ty| (Kind::List, ty)),
        };
        let (kind, ty, other) = match ty.split_once("; ") {
            Some((element, other)) if kind == Kind::List => {
                (Kind::SameLength, element.to_owned(), other.to_owned())
            }
            _ => (kind, ty, String::new()),
        };
        Ok(Argument {
            name: name.to_owned(),
            kind,
            ty,
            other,
            count: String::new(),
        })
    }
}

impl Table {
    pub(super) fn read(root: &Path) -> Result<Table> {
        let mut headers = Vec::new();
        for name in HEADERS {
            let path = root.join(format!("plugin-api/abi/table/{name}.toml"));
            let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
            let header = toml::from_str(&text).with_context(|| format!("{}", path.display()))?;
            headers.push((name, header));
        }
        let mut table = Table { headers };
        let items = table
            .headers
            .iter_mut()
            .flat_map(|(_, header)| &mut header.item);
        for item in items {
            match item {
                Item::Callback(callback) => callback.complete(),
                Item::Struct(record) => record.complete(),
                _ => {}
            }
        }
        Ok(table)
    }

    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.headers.iter().flat_map(|(_, header)| &header.item)
    }

    /// Returns the names of the structs that `predicate` selects.
    pub(super) fn names(&self, predicate: fn(&Struct) -> bool) -> Vec<String> {
        let structs = self.items().filter_map(|item| match item {
            Item::Struct(record) => Some(record).filter(|record| predicate(record)),
            _ => None,
        });
        structs.map(|record| record.name.clone()).collect()
    }

    pub(super) fn callback(&self, name: &str) -> &Function {
        let found = self.items().find_map(|item| match item {
            Item::Callback(callback) if callback.name == name => Some(callback),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("unknown callback `{name}`"))
    }
}

/// A constant: its name in C, without `PASSDOCK_`, its value in C, its path in Rust and its documentation.
#[derive(Serialize)]
pub(super) struct Define<'a> {
    pub(super) c: String,
    pub(super) value: String,
    pub(super) rust: String,
    pub(super) doc: &'a str,
}

impl Item {
    /// Whether a constant in C belongs to the loop level, by its name.
    pub(super) fn is_of_loops(&self, c: &str) -> bool {
        let (Item::Enum { loops, .. } | Item::Flags { loops, .. }) = self else {
            return false;
        };
        loops.iter().any(|name| c.ends_with(&format!("_{name}")))
    }

    /// Returns the constants that the item declares.
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
    /// Whether the SDK has a borrowed form of the struct.
    pub(super) fn is_description(&self) -> bool {
        let name = self.name.as_str();
        name.ends_with("Desc") && !matches!(name, "AttrDesc" | "RewriteDesc")
    }

    /// Sets the fields that are derived from others.
    fn complete(&mut self) {
        self.function.iter_mut().for_each(Function::complete);
        let is_callback = |field: &Field| field.ty.starts_with("fn ");
        let is_number = |field: &Field| {
            !field.ty.contains('*')
                && !["Str", "FunctionRef", "ModuleRef", "Setting"].contains(&field.ty.as_str())
        };
        self.sized = self.table.is_some() || self.fields[0].name == "struct_size";
        let derives = if self.table.is_some() || self.fields.iter().any(is_callback) {
            "Clone, Copy"
        } else if self.sized || !self.fields.iter().all(is_number) {
            "Clone, Copy, Debug"
        } else {
            "Clone, Copy, Debug, PartialEq, Eq, Hash"
        };
        let more = self.derive.iter().map(String::as_str);
        let derives: Vec<&str> = [derives].into_iter().chain(more).collect();
        self.derives = derives.join(", ");
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
    /// Sets the fields that are derived from others.
    fn complete(&mut self) {
        let first = self.args.first().filter(|arg| arg.kind == Kind::Plain);
        let handle = first.and_then(|arg| arg.ty.split_whitespace().last());
        self.handle = handle.unwrap_or_default().to_owned();
        let is_list = |arg: &&Argument| matches!(arg.kind, Kind::List | Kind::OutList);
        let many = self.args.iter().filter(is_list).count() > 1;
        let count_of = |list: &str| match many {
            true => format!("{}_count", list.trim_end_matches('s')),
            false => "count".to_owned(),
        };
        for arg in &mut self.args {
            arg.count = match arg.kind {
                Kind::List => count_of(&arg.name),
                Kind::SameLength => count_of(&arg.other),
                Kind::View | Kind::OutList => "count".to_owned(),
                Kind::Plain | Kind::Out => String::new(),
            };
            let (ty, counted) = match arg.kind {
                Kind::Plain if arg.ty == "Text" => ("Str".to_owned(), None),
                Kind::Plain => (arg.ty.clone(), None),
                Kind::SameLength => (format!("*const {}", arg.ty), None),
                Kind::Out => (format!("*mut {}", arg.ty), None),
                Kind::View => (format!("*mut *const {}", arg.ty), Some("*mut usize")),
                Kind::List => (format!("*const {}", arg.ty), Some("usize")),
                Kind::OutList => (format!("*mut {}", arg.ty), Some("usize")),
            };
            self.parameters.push((arg.name.clone(), ty));
            let count = counted.map(|ty| (arg.count.clone(), ty.to_owned()));
            self.parameters.extend(count);
        }
    }
}

/// Converts a name to snake case: `OpDesc` to `op_desc`.
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
