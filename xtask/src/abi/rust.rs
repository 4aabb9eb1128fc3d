//! The crate `passdock-abi`: the declarations.

use std::fmt::Write;

use super::docs;
use super::table::{Function, Item, Struct, Table, snake};

/// Writes the declarations.
pub(super) fn declarations(table: &Table) -> String {
    let mut text = String::from(
        "//! What crosses the boundary, in the order of the C headers, which have the rules.\n\n\
         use core::ffi::c_void;\n",
    );
    for (_, header) in &table.headers {
        for item in &header.item {
            text.push('\n');
            text.push_str(&self::item(item));
        }
    }
    text.push_str("\ngrows! {\n");
    for of in table.structs().filter(|of| of.is_sized()) {
        let reserved = if of.has_reserved() { "; reserved" } else { "" };
        let asks = of
            .known_flags
            .as_ref()
            .map(|known| format!(" flags ({known}){reserved}"));
        let _ = writeln!(text, "{}{},", of.name, asks.unwrap_or_default());
    }
    let names = |which: &dyn Fn(&&Struct) -> bool| {
        let names: Vec<&str> = table
            .structs()
            .filter(which)
            .map(|of| of.name.as_str())
            .collect();
        names.join(", ")
    };
    let _ = writeln!(text, "}}\n\nentries! {{ {} }}\n", names(&|of| of.entry));
    let _ = writeln!(text, "layout! {{ {} }}", names(&|_| true));
    text
}

fn item(item: &Item) -> String {
    let mut text = String::new();
    match item {
        Item::Text { .. } | Item::Forward { .. } => {}
        Item::Constants { constants, .. } => {
            for row in constants {
                let ty = if row.ty.starts_with('"') {
                    "&str"
                } else {
                    "u32"
                };
                let _ = writeln!(
                    text,
                    "{}pub const {}: {ty} = {};",
                    doc_or_name(&row.doc, &row.name),
                    row.name,
                    row.ty
                );
            }
        }
        Item::Ids { ids } => {
            text.push_str("ids! {\n");
            for (name, prefix, doc) in ids {
                let _ = writeln!(text, "{}{name} \"{prefix}\"", docs::rust(doc));
            }
            text.push_str("}\n");
        }
        Item::Symbols { symbols, first, .. } => {
            let _ = writeln!(text, "symbols! {{\nfirst {first};");
            for (name, id, spelling) in symbols {
                let _ = writeln!(text, "{name} = {id} \"{spelling}\",");
            }
            text.push_str("}\n");
        }
        Item::Opaque { opaque, .. } => {
            for (name, doc) in opaque {
                let _ = writeln!(
                    text,
                    "{}#[repr(C)]\npub struct {name} {{ _opaque: [u8; 0] }}\n",
                    docs::rust(doc)
                );
            }
        }
        Item::Enum {
            name, doc, values, ..
        } => {
            let order = if ["Severity", "DType"].contains(&name.as_str()) {
                "PartialOrd, Ord, "
            } else {
                ""
            };
            let _ = write!(
                text,
                "{}#[repr(transparent)]\n#[derive(Clone, Copy, Debug, PartialEq, Eq, {order}Hash)]\n\
                 pub struct {name}(pub u32);\n\nimpl {name} {{\n",
                docs::rust(doc)
            );
            for value in values {
                let doc = doc_or_name(&value.doc, &value.name);
                let _ = writeln!(
                    text,
                    "{doc}pub const {0}: {name} = {name}({1});",
                    value.name, value.value
                );
            }
            text.push_str("}\n");
            if values.iter().any(|value| !value.text.is_empty()) {
                text.push_str("\ndtypes! {\n");
                for value in values.iter().filter(|value| !value.text.is_empty()) {
                    let _ = writeln!(text, "{} \"{}\" {},", value.name, value.text, value.bits);
                }
                text.push_str("}\n");
            }
        }
        Item::Flags {
            flags,
            bits,
            values,
            ..
        } => {
            let _ = writeln!(text, "impl {flags} {{");
            for row in values {
                let doc = doc_or_name(&row.doc, &row.name);
                let _ = writeln!(
                    text,
                    "{doc}pub const {}: u{} = {};",
                    row.name,
                    bits.unwrap_or(32),
                    row.ty
                );
            }
            text.push_str("}\n");
        }
        Item::Callback(callback) => {
            let _ = writeln!(
                text,
                "{}pub type {} = {};",
                docs::rust(&callback.doc),
                callback.name,
                pointer(callback)
            );
        }
        Item::Struct(of) => structure(of, &mut text),
    }
    text
}

fn structure(of: &Struct, text: &mut String) {
    let has_functions =
        of.table.is_some() || of.fields.iter().any(|field| field.ty.starts_with("fn "));
    let is_number = |ty: &str| {
        !ty.contains('*') && !["Str", "FunctionRef", "ModuleRef", "Setting"].contains(&ty)
    };
    let is_record =
        !of.is_sized() && !has_functions && of.fields.iter().all(|field| is_number(&field.ty));
    let derive = match (has_functions, is_record) {
        (true, _) => "Clone, Copy",
        (false, false) => "Clone, Copy, Debug",
        (false, true) => "Clone, Copy, Debug, PartialEq, Eq, Hash",
    };
    let derive = of
        .derive
        .iter()
        .fold(derive.to_owned(), |all, more| format!("{all}, {more}"));
    let _ = writeln!(
        text,
        "{}#[repr(C)]\n#[derive({derive})]\npub struct {} {{",
        docs::rust(&of.doc),
        of.name
    );
    if of.table.is_some() {
        text.push_str(&field("struct_size", "u32", ""));
        text.push_str(&field("reserved", "u32", ""));
    }
    for function in &of.function {
        text.push_str(&field(
            &function.name,
            &format!("Option<{}>", pointer(function)),
            &function.doc,
        ));
    }
    for row in &of.fields {
        let ty = match row.ty.strip_prefix("fn ") {
            Some(callback) => format!("Option<{callback}>"),
            None => row.ty.clone(),
        };
        text.push_str(&field(&row.name, &ty, &row.doc));
    }
    text.push_str("}\n");
    if of.entry || of.name == "Plugin" {
        let _ = writeln!(
            text,
            "\n// SAFETY: immutable after the plugin's entry returned it; `state` is the plugin's own business.\n\
             unsafe impl Sync for {} {{}}",
            of.name
        );
    }
}

fn field(name: &str, ty: &str, doc: &str) -> String {
    let doc = match (name, doc) {
        ("struct_size", _) => {
            "the size of this struct in bytes, as the side that filled it knows it"
        }
        ("reserved", _) => "reserved: 0",
        ("flags", "") => "flags, none of which isn't listed",
        (_, doc) => doc,
    };
    format!("{}pub {name}: {ty},\n", doc_or_name(doc, name))
}

/// Documentation, which is the name where there is no other.
fn doc_or_name(doc: &str, name: &str) -> String {
    match doc {
        "" => docs::rust(&format!("the {}", name.to_lowercase().replace('_', " "))),
        doc => docs::rust(doc),
    }
}

/// The type of a function.
pub(super) fn pointer(function: &Function) -> String {
    let parameters = function.parameters();
    let parameters = parameters
        .iter()
        .map(|(name, ty)| match ty.strip_prefix("fn ") {
            Some(callback) => format!("{name}: Option<{callback}>"),
            None => format!("{name}: {ty}"),
        });
    let parameters = parameters.collect::<Vec<_>>().join(", ");
    format!("unsafe extern \"C\" fn({parameters}){}", returns(function))
}

/// ` -> Status`, or nothing.
pub(super) fn returns(function: &Function) -> String {
    match function.returns.as_str() {
        "" => String::new(),
        ty => format!(" -> {ty}"),
    }
}

/// The list of records that the tests of the layout go by.
pub(super) fn layout(table: &Table) -> String {
    let mut text = String::from("\nrecords! {\n");
    for of in table.structs() {
        let _ = writeln!(text, "{} \"passdock_{}\" {{", of.name, snake(&of.name));
        if of.table.is_some() {
            text.push_str("struct_size, reserved,\n");
        }
        for function in &of.function {
            let _ = writeln!(text, "{},", function.name);
        }
        for row in &of.fields {
            let c = row.c_name();
            let _ = match c == row.name {
                true => writeln!(text, "{c},"),
                false => writeln!(text, "{} as \"{c}\",", row.name),
            };
        }
        text.push_str("}\n");
    }
    text.push_str("}\n\nconstants! {\n");
    let defines = table.items().flat_map(Item::defines);
    for define in defines.filter(|define| !define.value.starts_with('"')) {
        let _ = writeln!(text, "PASSDOCK_{} = abi::{};", define.c, define.rust);
    }
    text.push_str("PASSDOCK_NONE = abi::OpId::NONE.0;\n}\n");
    text
}
