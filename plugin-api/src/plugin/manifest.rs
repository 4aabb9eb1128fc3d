//! The manifest: what a plugin says of itself, rendered as TOML while it is compiled.
//!
//! `const fn`s may not borrow mutably yet (Rust 1.63), so everything is written by one function,
//! whose inner loops are macros; called with room for no byte it only counts.

use super::spec::{PassFunction, PluginSpec};
use crate::data::{OptionDefault, OptionSpec};

/// The compiler that builds the plugin: `rustc 1.63.0 (4b91a6ea7 2022-08-08)`; without its version where
/// it isn't built by cargo.
const COMPILER: &str = match option_env!("PASSDOCK_PLUGIN_COMPILER") {
    Some(compiler) => compiler,
    None => "rustc",
};

/// The text, NUL at its end, and its length, which doesn't depend on the room that is there.
#[doc(hidden)]
pub const fn render<const N: usize>(plugin: &PluginSpec) -> ([u8; N], usize) {
    let mut out = [0u8; N];
    let mut at = 0;

    macro_rules! byte {
        ($byte:expr) => {{
            if at < N {
                out[at] = $byte;
            }
            at += 1;
        }};
    }
    macro_rules! raw {
        ($text:expr) => {{
            let bytes = $text.as_bytes();
            let mut i = 0;
            while i < bytes.len() {
                byte!(bytes[i]);
                i += 1;
            }
        }};
    }
    // The inside of a basic string, from some byte on.
    macro_rules! escaped {
        ($text:expr, $from:expr) => {{
            let bytes = $text.as_bytes();
            let mut i = $from;
            while i < bytes.len() {
                let b = bytes[i];
                if b == b'"' || b == b'\\' {
                    byte!(b'\\');
                    byte!(b);
                } else if b == b'\n' {
                    raw!("\\n");
                } else if b < b' ' || b == 0x7f {
                    raw!("\\u00");
                    byte!(hex(b >> 4));
                    byte!(hex(b & 15));
                } else {
                    byte!(b);
                }
                i += 1;
            }
        }};
    }
    macro_rules! string {
        ($key:expr, $text:expr) => {{
            raw!($key);
            raw!(" = \"");
            escaped!($text, 0);
            raw!("\"\n");
        }};
    }
    macro_rules! int {
        ($value:expr) => {{
            let value: i128 = $value;
            if value < 0 {
                byte!(b'-');
            }
            let value = if value < 0 { -value } else { value };
            let mut unit = 1;
            while value / unit >= 10 {
                unit *= 10;
            }
            while unit > 0 {
                byte!(b'0' + (value / unit % 10) as u8);
                unit /= 10;
            }
        }};
    }
    macro_rules! list {
        ($names:expr) => {{
            let names: &[&str] = $names;
            byte!(b'[');
            let mut n = 0;
            while n < names.len() {
                if n > 0 {
                    raw!(", ");
                }
                byte!(b'"');
                escaped!(names[n], 0);
                byte!(b'"');
                n += 1;
            }
            byte!(b']');
        }};
    }
    macro_rules! names {
        ($key:expr, $names:expr) => {{
            raw!($key);
            raw!(" = ");
            list!($names);
            byte!(b'\n');
        }};
    }
    // Lines of a doc comment: each has a space in front, which isn't part of it.
    macro_rules! docs {
        ($key:expr, $docs:expr) => {{
            let docs = $docs;
            if docs.len() > 0 {
                raw!($key);
                raw!(" = \"");
                let mut line = 0;
                while line < docs.len() {
                    if line > 0 {
                        raw!("\\n");
                    }
                    let bytes = docs[line].as_bytes();
                    let from = (!bytes.is_empty() && bytes[0] == b' ') as usize;
                    escaped!(docs[line], from);
                    line += 1;
                }
                raw!("\"\n");
            }
        }};
    }
    macro_rules! fields {
        ($table:expr, $fields:expr) => {{
            let fields: &[OptionSpec] = $fields;
            let mut f = 0;
            while f < fields.len() {
                raw!($table);
                string!("name", fields[f].name);
                raw!(match fields[f].default {
                    OptionDefault::Bool(_) => "type = \"bool\"\n",
                    OptionDefault::Int(_) => "type = \"int\"\n",
                    OptionDefault::Float(_) => "type = \"float\"\n",
                    OptionDefault::Str(_) => "type = \"string\"\n",
                    OptionDefault::Strs(_) => "type = \"strings\"\n",
                    OptionDefault::Rules(_) => "type = \"rules\"\n",
                    OptionDefault::Ints => "type = \"ints\"\n",
                    OptionDefault::Values => "type = \"values\"\n",
                });
                raw!(match fields[f].mandatory {
                    true => "mandatory = true",
                    false => "default = ",
                });
                match fields[f].default {
                    _ if fields[f].mandatory => {}
                    OptionDefault::Bool(value) => raw!(if value { "true" } else { "false" }),
                    OptionDefault::Int(value) => int!(value as i128),
                    OptionDefault::Float(text) => {
                        check_float(text);
                        raw!(text);
                        if ends_with_point(text) {
                            byte!(b'0');
                        }
                    }
                    OptionDefault::Str(text) => {
                        byte!(b'"');
                        escaped!(text, 0);
                        byte!(b'"');
                    }
                    OptionDefault::Strs(texts) | OptionDefault::Rules(texts) => list!(texts),
                    OptionDefault::Ints | OptionDefault::Values => raw!("{}"),
                }
                byte!(b'\n');
                if let Some((min, max)) = fields[f].range {
                    raw!("min = ");
                    int!(min as i128);
                    raw!("\nmax = ");
                    int!(max as i128);
                    byte!(b'\n');
                }
                if !fields[f].choices.is_empty() {
                    names!("choices", fields[f].choices);
                }
                if fields[f].rest {
                    raw!("rest = true\n");
                }
                docs!("doc", fields[f].docs);
                f += 1;
            }
        }};
    }

    raw!("[plugin]\n");
    string!("name", plugin.name);
    string!("version", plugin.version);
    raw!("abi = \"");
    int!(passdock_abi::ABI.major as i128);
    byte!(b'.');
    int!(passdock_abi::ABI.minor as i128);
    raw!("\"\nmin_host = \"");
    int!(passdock_abi::ABI.major as i128);
    byte!(b'.');
    // What a host of this minor lacks, calls answer with UNSUPPORTED.
    int!(passdock_abi::OLDEST_MINOR as i128);
    raw!("\"\nir = \"");
    int!(passdock_abi::IR.major as i128);
    byte!(b'.');
    int!(passdock_abi::IR.minor as i128);
    raw!("\"\n");
    string!("panic", if plugin.unwinds { "unwind" } else { "abort" });
    raw!("layout = \"");
    let mut shift = 32;
    while shift > 0 {
        shift -= 4;
        byte!(hex((passdock_abi::LAYOUT >> shift) as u8 & 15));
    }
    raw!("\"\n");
    string!("compiler", COMPILER);

    let mut p = 0;
    while p < plugin.passes.len() {
        let pass = &plugin.passes[p];
        raw!("\n[[pass]]\n");
        string!("name", pass.name);
        raw!(match pass.run {
            PassFunction::Function(_) => "kind = \"function\"\n",
            PassFunction::PrimFunction(_) => "kind = \"prim_function\"\n",
            PassFunction::Module(_) => "kind = \"module\"\n",
        });
        raw!("opt_level = ");
        int!(pass.opt_level as i128);
        byte!(b'\n');
        names!("required", pass.required);
        if !pass.aliases.is_empty() {
            names!("aliases", pass.aliases);
        }
        docs!("summary", pass.docs);
        if pass.thread_safe {
            raw!("thread_safe = true\n");
        }
        if pass.changes_interface {
            raw!("changes_interface = true\n");
        }
        if !pass.phase.is_empty() {
            string!("phase", pass.phase);
        }
        if !pass.config.is_empty() {
            string!("config", pass.config);
        }
        fields!("[[pass.option]]\n", pass.options);
        p += 1;
    }

    let mut s = 0;
    while s < plugin.sequentials.len() {
        let sequential = &plugin.sequentials[s];
        raw!("\n[[sequential]]\n");
        string!("name", sequential.name);
        raw!("opt_level = ");
        int!(sequential.opt_level as i128);
        byte!(b'\n');
        names!("required", sequential.required);
        docs!("summary", sequential.docs);
        raw!("passes = [\n");
        let mut c = 0;
        while c < sequential.passes.len() {
            raw!("{ name = \"");
            escaped!(sequential.passes[c].name, 0);
            raw!("\", options = {");
            let mut o = 0;
            while o < sequential.passes[c].options.len() {
                let (name, value) = sequential.passes[c].options[o];
                raw!(if o > 0 { ", " } else { " " });
                raw!(name);
                raw!(" = ");
                raw!(value);
                o += 1;
            }
            raw!(" } },\n");
            c += 1;
        }
        raw!("]\n");
        s += 1;
    }

    let mut c = 0;
    while c < plugin.configs.len() {
        raw!("\n[[config]]\n");
        string!("key", plugin.configs[c].key);
        docs!("doc", plugin.configs[c].docs);
        fields!("[[config.field]]\n", plugin.configs[c].fields);
        c += 1;
    }
    // A pass's own options under a config key, unless somebody above said them.
    let mut p = 0;
    while p < plugin.passes.len() {
        if is_first_of_config(plugin, p) {
            raw!("\n[[config]]\n");
            string!("key", plugin.passes[p].config);
            fields!("[[config.field]]\n", plugin.passes[p].options);
        }
        p += 1;
    }

    let mut o = 0;
    while o < plugin.ops.len() {
        raw!("\n[[op]]\n");
        string!("name", plugin.ops[o].name);
        raw!("since = ");
        int!(plugin.ops[o].since as i128);
        byte!(b'\n');
        if plugin.ops[o].extends {
            raw!("extends = true\n");
        }
        o += 1;
    }
    let mut i = 0;
    while i < plugin.instruments.len() {
        raw!("\n[[instrument]]\n");
        string!("name", plugin.instruments[i].name);
        docs!("summary", plugin.instruments[i].docs);
        fields!("[[instrument.option]]\n", plugin.instruments[i].options);
        i += 1;
    }
    byte!(0);
    (out, at)
}

/// A copy, for the exported symbol.
#[doc(hidden)]
pub const fn copy<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        out[i] = bytes[i];
        i += 1;
    }
    out
}

const fn hex(digit: u8) -> u8 {
    if digit < 10 {
        b'0' + digit
    } else {
        b'a' + digit - 10
    }
}

/// Stops the compilation at a float that TOML would read otherwise.
const fn check_float(text: &str) {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'_' => {}
            _ => panic!("the default of an f64 option must be a plain literal, as `0.5` or `1e-5`"),
        }
        i += 1;
    }
}

const fn ends_with_point(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes.is_empty() && bytes[bytes.len() - 1] == b'.'
}

/// Whether this pass is the first to have this config key, and no config was declared under it.
const fn is_first_of_config(plugin: &PluginSpec, pass: usize) -> bool {
    let key = plugin.passes[pass].config;
    if key.is_empty() || plugin.passes[pass].options.is_empty() {
        return false;
    }
    let mut c = 0;
    while c < plugin.configs.len() {
        if equal(plugin.configs[c].key, key) {
            return false;
        }
        c += 1;
    }
    let mut p = 0;
    while p < pass {
        if equal(plugin.passes[p].config, key) && !plugin.passes[p].options.is_empty() {
            return false;
        }
        p += 1;
    }
    true
}

/// Compares from the end, where names of one plugin differ: constant evaluation counts its steps.
const fn equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = a.len();
    while i > 0 {
        i -= 1;
        if a[i] != b[i] {
            return false;
        }
    }
    true
}
