//! Checks that the ABI only grows, and that the C header matches the Rust crate.
//!
//! [`RECORDS`] lists the records of the ABI with their fields, by their Rust and C names. It is generated from the
//! ABI. The golden table of names, offsets and sizes (`tests/layouts/today.txt`), and the C program that prints
//! the same table from `passdock.h`, are derived from it.

use std::any::type_name;
use std::fmt::Write;
use std::mem::{align_of, offset_of, size_of};

use passdock_abi as abi;

/// Returns the size of the field that a projection selects.
const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Returns the type of the field that a projection selects.
fn type_of_field<T, F>(_: fn(&T) -> &F) -> &'static str {
    type_name::<F>()
}

/// Returns the C name of a field: its Rust name, unless that is a C keyword.
#[rustfmt::skip]
macro_rules! c_name {
    ($field:ident) => { stringify!($field) };
    ($field:ident $c:literal) => { $c };
}

macro_rules! records {
    ($($record:ident $c:literal { $($field:ident $(as $c_field:literal)?),* $(,)? })*) => {
        /// All records of the ABI.
        pub static RECORDS: &[Record] = &[$(Record {
            rust: stringify!($record),
            c: $c,
            size: size_of::<abi::$record>(),
            align: align_of::<abi::$record>(),
            fields: &[$(Field {
                rust: stringify!($field),
                c: c_name!($field $($c_field)?),
                offset: offset_of!(abi::$record, $field),
                size: size_of_field::<abi::$record, _>(|record| &record.$field),
                ty: || type_of_field::<abi::$record, _>(|record| &record.$field),
            }),*],
        }),*];
    };
}

macro_rules! constants {
    ($($c:ident = $rust:expr;)*) => {
        /// All constants of the header that the Rust crate has, too.
        pub static CONSTANTS: &[(&str, u64)] = &[$((stringify!($c), $rust as u64)),*];
    };
}

include!("records.rs");

/// A record of the ABI.
#[derive(Debug)]
pub struct Record {
    /// The name in Rust.
    pub rust: &'static str,
    /// The name in C.
    pub c: &'static str,
    /// The size in bytes.
    pub size: usize,
    /// The alignment.
    pub align: usize,
    /// The fields, in order.
    pub fields: &'static [Field],
}

/// A field of a record.
#[derive(Debug)]
pub struct Field {
    /// The name in Rust.
    pub rust: &'static str,
    /// The name in C.
    pub c: &'static str,
    /// The offset in bytes.
    pub offset: usize,
    /// The size in bytes.
    pub size: usize,
    /// Returns the type in Rust, including signatures of functions.
    pub ty: fn() -> &'static str,
}

/// Returns the golden table, with C names.
pub fn table() -> String {
    let mut text = String::new();
    for record in RECORDS {
        let Record { c, size, align, .. } = record;
        let _ = writeln!(text, "{c} size {size} align {align}");
        for field in record.fields {
            let Field {
                c, offset, size, ..
            } = field;
            let _ = writeln!(text, "    {offset} {size} {c}");
        }
    }
    for (name, value) in CONSTANTS {
        let _ = writeln!(text, "{name} = {value}");
    }
    text
}

/// Returns the types of all fields, including signatures of functions, one a line.
pub fn types() -> String {
    let mut text = String::new();
    for record in RECORDS {
        for field in record.fields {
            let ty = (field.ty)()
                .replace("core::option::Option", "Option")
                .replace("core::ffi::", "");
            let ty = without_paths(&ty);
            let _ = writeln!(text, "{}.{}: {ty}", record.rust, field.rust);
        }
    }
    text
}

/// Removes `passdock_abi::some_module::`: the module of a type doesn't matter.
fn without_paths(ty: &str) -> String {
    let mut text = String::new();
    let mut parts = ty.split("passdock_abi::");
    text.push_str(parts.next().unwrap_or(""));
    for part in parts {
        text.push_str(part.split_once("::").map_or(part, |(_, name)| name));
    }
    text
}

/// Returns the lines of an earlier table that are missing today, each with its record. Empty if the ABI only grew.
pub fn lost(earlier: &str, today: &str) -> Vec<String> {
    let mut lost = Vec::new();
    let mut place = "";
    let mut now = Vec::new();
    for line in earlier.lines() {
        if let Some(field) = line.strip_prefix("    ") {
            if !now.contains(&line) {
                lost.push(format!("{place}: {field}"));
            }
            continue;
        }
        // The size of a record may have increased, so only the name is compared.
        let name = line.split(" size ").next().unwrap_or(line);
        place = name;
        now = today
            .lines()
            .skip_while(|line| line.split(" size ").next() != Some(name))
            .collect();
        if now.is_empty() {
            lost.push(format!("{name} is gone or another value"));
            continue;
        }
        let end = now
            .iter()
            .skip(1)
            .position(|line| !line.starts_with("    "));
        now.truncate(end.map_or(now.len(), |end| end + 1));
    }
    lost
}

/// Returns a C and C++ program that prints [`table`] according to the header.
pub fn program() -> String {
    let mut text = String::from(
        "#define PASSDOCK_LOOPS\n#include <stdio.h>\n#include \"passdock.h\"\n\
         #ifdef __cplusplus\n#define ALIGN(T) (int)alignof(T)\n\
         #else\n#define ALIGN(T) (int)_Alignof(T)\n#endif\n\
         #define RECORD(T) printf(#T \" size %d align %d\\n\", (int)sizeof(T), ALIGN(T))\n\
         #define FIELD(T, F) printf(\"    %d %d \" #F \"\\n\", (int)offsetof(T, F), (int)sizeof(((T *)0)->F))\n\
         int main(void) {\n",
    );
    for record in RECORDS {
        let _ = writeln!(text, "RECORD({});", record.c);
        for field in record.fields {
            let _ = writeln!(text, "FIELD({}, {});", record.c, field.c);
        }
    }
    for (name, _) in CONSTANTS {
        // Not an argument of another macro, which would be expanded first.
        let _ = writeln!(
            text,
            "printf(\"{name} = %llu\\n\", (unsigned long long){name});"
        );
    }
    text.push_str("return 0;\n}\n");
    text
}
