//! Proves that the boundary only grows, and that the C header says the same as the Rust crate.
//!
//! [`RECORDS`] is the one list of what crosses: each record with its fields, by their Rust and
//! their C names. From it come the golden table of names, offsets and sizes
//! (`layouts/abi-0.1.txt`), and the C program that prints the same table from `passdock.h`.

mod constants;
mod records;

pub use constants::CONSTANTS;
pub use records::RECORDS;

use std::fmt::Write;

/// A record of the boundary.
#[derive(Debug)]
pub struct Record {
    /// Its name in Rust.
    pub rust: &'static str,
    /// Its name in C.
    pub c: &'static str,
    /// Bytes.
    pub size: usize,
    /// Its alignment.
    pub align: usize,
    /// Its fields, in order.
    pub fields: &'static [Field],
}

/// A field of a record.
#[derive(Debug)]
pub struct Field {
    /// Its name in Rust.
    pub rust: &'static str,
    /// Its name in C.
    pub c: &'static str,
    /// Where it starts.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// The golden table, under C's names.
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

/// A program in C and C++ that prints [`table`] as the header has it.
pub fn program() -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include \"passdock.h\"\n\
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
        // Not through another macro's argument, which would be expanded first.
        let _ = writeln!(
            text,
            "printf(\"{name} = %llu\\n\", (unsigned long long){name});"
        );
    }
    text.push_str("return 0;\n}\n");
    text
}
