//! The manifest of a plugin, rendered as TOML at compile time.
//!
//! `const fn`s can't take `&mut` yet (Rust 1.63), so they pass the writer by value.

use super::sequential::ChildSpec;
use super::spec::{PassFunction, PluginSpec};
use crate::data::{OptionDefault, OptionSpec};

/// The compiler that builds the plugin: `rustc 1.63.0 (4b91a6ea7 2022-08-08)`. Without a version if the build doesn't
/// use cargo.
const COMPILER: &str = match option_env!("PASSDOCK_PLUGIN_COMPILER") {
    Some(compiler) => compiler,
    None => "rustc",
};

/// Returns the text with a terminating NUL, truncated to `N` bytes, and its full length.
#[doc(hidden)]
pub const fn render<const N: usize>(plugin: &PluginSpec) -> ([u8; N], usize) {
    let writer = Writer { out: [0; N], at: 0 };
    let writer = writer.plugin(plugin).passes(plugin).sequentials(plugin);
    let writer = writer
        .configs(plugin)
        .ops(plugin)
        .instruments(plugin)
        .byte(0);
    (writer.out, writer.at)
}

/// The output, truncated to `N` bytes, and its full length.
struct Writer<const N: usize> {
    out: [u8; N],
    at: usize,
}

impl<const N: usize> Writer<N> {
    const fn byte(mut self, byte: u8) -> Self {
        if self.at < N {
            self.out[self.at] = byte;
        }
        self.at += 1;
        self
    }

    const fn raw(mut self, text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            if self.at < N {
                self.out[self.at] = bytes[i];
            }
            self.at += 1;
            i += 1;
        }
        self
    }

    /// Writes the content of a basic string, starting at byte `from`.
    const fn escaped(mut self, text: &str, from: usize) -> Self {
        let bytes = text.as_bytes();
        let mut i = from;
        while i < bytes.len() {
            let b = bytes[i];
            if b == b'"' || b == b'\\' {
                self = self.byte(b'\\').byte(b);
            } else if b == b'\n' {
                self = self.raw("\\n");
            } else if b < b' ' || b == 0x7f {
                self = self.raw("\\u00").byte(hex(b >> 4)).byte(hex(b & 15));
            } else {
                if self.at < N {
                    self.out[self.at] = b;
                }
                self.at += 1;
            }
            i += 1;
        }
        self
    }

    const fn quoted(self, text: &str) -> Self {
        self.byte(b'"').escaped(text, 0).byte(b'"')
    }

    /// Writes a string, unless it is empty.
    const fn string(self, key: &str, text: &str) -> Self {
        match text.is_empty() {
            true => self,
            false => self.raw(key).raw(" = ").quoted(text).byte(b'\n'),
        }
    }

    const fn int(mut self, value: i128) -> Self {
        if value < 0 {
            self = self.byte(b'-');
        }
        let value = if value < 0 { -value } else { value };
        let mut unit = 1;
        while value / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            self = self.byte(b'0' + (value / unit % 10) as u8);
            unit /= 10;
        }
        self
    }

    const fn number(self, key: &str, value: i128) -> Self {
        self.raw(key).raw(" = ").int(value).byte(b'\n')
    }

    const fn flag(self, key: &str, is_set: bool) -> Self {
        match is_set {
            true => self.raw(key).raw(" = true\n"),
            false => self,
        }
    }

    const fn version(self, key: &str, major: u32, minor: u32) -> Self {
        let writer = self.raw(key).raw(" = \"").int(major as i128);
        writer.byte(b'.').int(minor as i128).raw("\"\n")
    }

    const fn list(mut self, names: &[&str]) -> Self {
        self = self.byte(b'[');
        let mut n = 0;
        while n < names.len() {
            self = self.raw(if n > 0 { ", " } else { "" }).quoted(names[n]);
            n += 1;
        }
        self.byte(b']')
    }

    const fn names(self, key: &str, names: &[&str]) -> Self {
        self.raw(key).raw(" = ").list(names).byte(b'\n')
    }

    /// Writes the lines of a doc comment without their leading space.
    const fn docs(mut self, key: &str, docs: &[&str]) -> Self {
        if docs.is_empty() {
            return self;
        }
        self = self.raw(key).raw(" = \"");
        let mut line = 0;
        while line < docs.len() {
            let bytes = docs[line].as_bytes();
            let from = (!bytes.is_empty() && bytes[0] == b' ') as usize;
            let end = if line > 0 { "\\n" } else { "" };
            self = self.raw(end).escaped(docs[line], from);
            line += 1;
        }
        self.raw("\"\n")
    }

    const fn default(self, default: OptionDefault) -> Self {
        match default {
            OptionDefault::Bool(value) => self.raw(if value { "true" } else { "false" }),
            OptionDefault::Int(value) => self.int(value as i128),
            OptionDefault::Float(text) => {
                check_float(text);
                self.raw(text)
                    .raw(if ends_with_point(text) { "0" } else { "" })
            }
            OptionDefault::Str(text) => self.quoted(text),
            OptionDefault::Strs(texts) | OptionDefault::Rules(texts) => self.list(texts),
            OptionDefault::Ints | OptionDefault::Values => self.raw("{}"),
        }
    }

    const fn fields(mut self, table: &str, fields: &[OptionSpec]) -> Self {
        let mut f = 0;
        while f < fields.len() {
            let field = &fields[f];
            let ty = match field.default {
                OptionDefault::Bool(_) => "bool",
                OptionDefault::Int(_) => "int",
                OptionDefault::Float(_) => "float",
                OptionDefault::Str(_) => "string",
                OptionDefault::Strs(_) => "strings",
                OptionDefault::Rules(_) => "rules",
                OptionDefault::Ints => "ints",
                OptionDefault::Values => "values",
            };
            // The only field of a config key may have an empty name.
            self = self.raw(table).raw("name = ").quoted(field.name);
            self = self.byte(b'\n').string("type", ty);
            self = match field.mandatory {
                true => self.raw("mandatory = true\n"),
                false => self.raw("default = ").default(field.default).byte(b'\n'),
            };
            if let Some((min, max)) = field.range {
                self = self.number("min", min as i128).number("max", max as i128);
            }
            if !field.choices.is_empty() {
                self = self.names("choices", field.choices);
            }
            self = self.flag("rest", field.rest).docs("doc", field.docs);
            f += 1;
        }
        self
    }

    const fn plugin(self, plugin: &PluginSpec) -> Self {
        let (abi, ir) = (passdock_abi::ABI, passdock_abi::IR);
        let writer = self.raw("[plugin]\n").string("name", plugin.name);
        let writer = writer.string("version", plugin.version);
        let writer = writer.string("license", plugin.license);
        let mut writer = writer.string("homepage", plugin.homepage);
        if !plugin.requires.is_empty() {
            writer = writer.names("requires", plugin.requires);
        }
        if !plugin.permissions.is_empty() {
            writer = writer.names("permissions", plugin.permissions);
        }
        let writer = writer.version("abi", abi.major, abi.minor);
        // If the host lacks a function, calls return UNSUPPORTED.
        let writer = writer.version("min_host", abi.major, 0);
        let writer = writer.version("ir", ir.major, ir.minor);
        let language = passdock_abi::LANGUAGE;
        let mut writer = writer.version("language", language.major, language.minor);
        if plugin.uses_loops() {
            writer = writer.names("extensions", &[passdock_abi::LOOPS_EXTENSION]);
        }
        let panic = if plugin.unwinds { "unwind" } else { "abort" };
        let mut writer = writer.string("panic", panic).raw("layout = \"");
        let mut shift = 32;
        while shift > 0 {
            shift -= 4;
            writer = writer.byte(hex((passdock_abi::LAYOUT >> shift) as u8 & 15));
        }
        writer.raw("\"\n").string("compiler", COMPILER)
    }

    const fn passes(mut self, plugin: &PluginSpec) -> Self {
        let mut p = 0;
        while p < plugin.passes.len() {
            let pass = &plugin.passes[p];
            let kind = match pass.run {
                PassFunction::function(_) => "function",
                PassFunction::prim_function(_) => "prim_function",
                PassFunction::module(_) => "module",
            };
            self = self.raw("\n[[pass]]\n").string("name", pass.name);
            self = self.string("kind", kind);
            self = self.number("opt_level", pass.opt_level as i128);
            self = self.names("required", pass.required);
            if !pass.aliases.is_empty() {
                self = self.names("aliases", pass.aliases);
            }
            self = self.docs("summary", pass.docs);
            self = self.flag("thread_safe", pass.thread_safe);
            self = self.flag("changes_interface", pass.changes_interface);
            self = self.string("phase", pass.phase);
            self = self.string("config", pass.config);
            self = self.fields("[[pass.option]]\n", pass.options);
            p += 1;
        }
        self
    }

    const fn sequentials(mut self, plugin: &PluginSpec) -> Self {
        let mut s = 0;
        while s < plugin.sequentials.len() {
            let sequential = &plugin.sequentials[s];
            self = self
                .raw("\n[[sequential]]\n")
                .string("name", sequential.name);
            self = self.number("opt_level", sequential.opt_level as i128);
            self = self.names("required", sequential.required);
            self = self.docs("summary", sequential.docs).raw("passes = [\n");
            let mut c = 0;
            while c < sequential.passes.len() {
                self = self.child(&sequential.passes[c]);
                c += 1;
            }
            self = self.raw("]\n");
            s += 1;
        }
        self
    }

    const fn child(mut self, child: &ChildSpec) -> Self {
        self = self
            .raw("{ name = ")
            .quoted(child.name)
            .raw(", options = {");
        let mut o = 0;
        while o < child.options.len() {
            let (name, value) = child.options[o];
            self = self.raw(if o > 0 { ", " } else { " " });
            self = self.raw(name).raw(" = ").raw(value);
            o += 1;
        }
        self.raw(" } },\n")
    }

    const fn configs(mut self, plugin: &PluginSpec) -> Self {
        let mut c = 0;
        while c < plugin.configs.len() {
            let config = &plugin.configs[c];
            self = self.raw("\n[[config]]\n").string("key", config.key);
            self = self.docs("doc", config.docs);
            self = self.fields("[[config.field]]\n", config.fields);
            c += 1;
        }
        // Options of a pass under a config key, unless the section `configs` has the key.
        let mut p = 0;
        while p < plugin.passes.len() {
            if is_first_of_config(plugin, p) {
                self = self
                    .raw("\n[[config]]\n")
                    .string("key", plugin.passes[p].config);
                self = self.fields("[[config.field]]\n", plugin.passes[p].options);
            }
            p += 1;
        }
        self
    }

    const fn ops(mut self, plugin: &PluginSpec) -> Self {
        let mut o = 0;
        while o < plugin.ops.len() {
            self = self.raw("\n[[op]]\n").string("name", plugin.ops[o].name);
            self = self.number("since", plugin.ops[o].since as i128);
            self = self.flag("extends", plugin.ops[o].extends);
            o += 1;
        }
        self
    }

    const fn instruments(mut self, plugin: &PluginSpec) -> Self {
        let mut i = 0;
        while i < plugin.instruments.len() {
            let instrument = &plugin.instruments[i];
            self = self
                .raw("\n[[instrument]]\n")
                .string("name", instrument.name);
            self = self.docs("summary", instrument.docs);
            self = self.fields("[[instrument.option]]\n", instrument.options);
            i += 1;
        }
        self
    }
}

/// Returns a copy as an array, for the exported symbol.
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

/// Fails the compilation for a float literal that TOML doesn't parse as the same number.
const fn check_float(text: &str) {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E' | b'_' => {}
            _ => panic!(
                "the default of an f64 option must be a plain literal, such as `0.5` or `1e-5`"
            ),
        }
        i += 1;
    }
}

const fn ends_with_point(text: &str) -> bool {
    let bytes = text.as_bytes();
    !bytes.is_empty() && bytes[bytes.len() - 1] == b'.'
}

/// Whether this is the first pass with its config key, and `configs` doesn't have the key.
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

/// Compares strings from the end, where the names of one plugin differ first. This saves steps of constant evaluation,
/// whose number is limited.
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
