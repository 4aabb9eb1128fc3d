//! The checks of a plugin's declarations while it is compiled.

use super::sequential::check_value;
use super::spec::PluginSpec;

/// Stops the compilation at what every host would refuse.
#[doc(hidden)]
pub const fn check(plugin: &PluginSpec) {
    assert!(
        !plugin.name.is_empty(),
        "a plugin needs a name: `name: \"acme\"`"
    );
    let mut p = 0;
    while p < plugin.passes.len() {
        assert!(
            is_pass_name(plugin.passes[p].name),
            "a pass is called `<namespace>.transform.<Name>`, of letters, digits, `_` and `-`"
        );
        assert!(
            is_phase(plugin.passes[p].phase),
            "a phase is `early`, `simplify`, `late` or `lower`"
        );
        assert!(
            has_config_table(plugin, p),
            "a pass with `config` needs `options`, or an entry of `configs` with its key"
        );
        let mut q = 0;
        while q < p {
            assert!(
                !equal(plugin.passes[q].name, plugin.passes[p].name),
                "two passes of the plugin have the same name"
            );
            q += 1;
        }
        p += 1;
    }
    let mut s = 0;
    while s < plugin.sequentials.len() {
        check_sequential(plugin, s);
        s += 1;
    }
    let mut i = 0;
    while i < plugin.instruments.len() {
        assert!(
            is_namespaced(plugin.instruments[i].name),
            "an instrument is called `<namespace>.<name>`, of letters, digits, `_` and `-`"
        );
        let mut j = 0;
        while j < i {
            assert!(
                !equal(plugin.instruments[j].name, plugin.instruments[i].name),
                "two instruments of the plugin have the same name"
            );
            j += 1;
        }
        i += 1;
    }
}

const fn check_sequential(plugin: &PluginSpec, at: usize) {
    let sequential = &plugin.sequentials[at];
    assert!(
        is_namespaced(sequential.name),
        "a Sequential is called `<namespace>.<Name>`, of letters, digits, `_` and `-`"
    );
    let mut other = 0;
    while other < plugin.passes.len() {
        assert!(
            !equal(plugin.passes[other].name, sequential.name),
            "a pass and a Sequential of the plugin have the same name"
        );
        other += 1;
    }
    other = 0;
    while other < at {
        assert!(
            !equal(plugin.sequentials[other].name, sequential.name),
            "two Sequentials of the plugin have the same name"
        );
        other += 1;
    }
    let mut c = 0;
    while c < sequential.passes.len() {
        assert!(
            is_namespaced(sequential.passes[c].name),
            "a child of a Sequential is named in full: `acme.transform.Fuse`"
        );
        let mut o = 0;
        while o < sequential.passes[c].options.len() {
            check_value(sequential.passes[c].options[o].1);
            o += 1;
        }
        c += 1;
    }
}

const fn is_phase(phase: &str) -> bool {
    const PHASES: [&str; 5] = ["", "early", "simplify", "late", "lower"];
    let mut i = 0;
    while i < PHASES.len() {
        if equal(PHASES[i], phase) {
            return true;
        }
        i += 1;
    }
    false
}

/// Dotted words, of which the last but one is `transform` and not the first.
const fn is_pass_name(name: &str) -> bool {
    const MIDDLE: &[u8] = b".transform";
    let bytes = name.as_bytes();
    let last_dot = match last_dot_of_words(name) {
        Some(dot) => dot,
        None => return false,
    };
    if last_dot <= MIDDLE.len() {
        return false;
    }
    let mut m = 0;
    while m < MIDDLE.len() {
        if bytes[last_dot - MIDDLE.len() + m] != MIDDLE[m] {
            return false;
        }
        m += 1;
    }
    true
}

/// Two or more dotted words.
const fn is_namespaced(name: &str) -> bool {
    matches!(last_dot_of_words(name), Some(dot) if dot > 0)
}

/// The place of the last dot, 0 if there is none; `None` if these aren't dotted words.
const fn last_dot_of_words(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    let mut starts_word = true;
    let mut last_dot = 0;
    let mut i = 0;
    while i < bytes.len() {
        let b = bytes[i];
        if b == b'.' {
            if starts_word {
                return None;
            }
            last_dot = i;
            starts_word = true;
        } else {
            let inside = b.is_ascii_digit() || b == b'-';
            if !(b.is_ascii_alphabetic() || b == b'_' || inside && !starts_word) {
                return None;
            }
            starts_word = false;
        }
        i += 1;
    }
    if starts_word {
        None
    } else {
        Some(last_dot)
    }
}

/// Whether the manifest has a table for a pass's config key, if it has one.
const fn has_config_table(plugin: &PluginSpec, pass: usize) -> bool {
    let pass = &plugin.passes[pass];
    let mut c = 0;
    while c < plugin.configs.len() {
        if equal(plugin.configs[c].key, pass.config) {
            return true;
        }
        c += 1;
    }
    let mut p = 0;
    while p < plugin.passes.len() {
        let other = &plugin.passes[p];
        if equal(other.config, pass.config) && !other.options.is_empty() {
            return true;
        }
        p += 1;
    }
    pass.config.is_empty()
}

/// Compares from the end, where names of one plugin differ: constant evaluation counts its steps.
pub(super) const fn equal(a: &str, b: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::{is_namespaced, is_pass_name};

    #[test]
    fn names_of_passes_are_those_that_hosts_take() {
        for good in [
            "acme.transform.Fuse",
            "a.b-2.transform._x9",
            "_.transform.X",
        ] {
            assert!(is_pass_name(good), "{}", good);
        }
        for bad in [
            "",
            "Fuse",
            "transform.Fuse",
            ".transform.Fuse",
            "acme.transform.",
            "acme.transform.2",
            "acme.transforms.Fuse",
            "acme.xtransform.Fuse",
            "acme..transform.Fuse",
            "a b.transform.F",
            "acme.transform.ü",
            "acme.transform.Fuse.Again",
            "-.transform.X",
        ] {
            assert!(!is_pass_name(bad), "{}", bad);
        }
    }

    #[test]
    fn names_of_instruments_have_a_namespace() {
        for good in ["acme.growth", "acme.op-histogram", "a.b.c2"] {
            assert!(is_namespaced(good), "{}", good);
        }
        for bad in [
            "", "growth", ".growth", "acme.", "acme..x", "acme.2", "a b.c",
        ] {
            assert!(!is_namespaced(bad), "{}", bad);
        }
    }
}
