//! The checks of a plugin's declarations while it is compiled.

use super::names::{equal, is_dotted, is_namespaced, is_pass_name, is_state, is_text, is_word};
use super::ops::check_ops;
use super::sequential::check_value;
use super::spec::PluginSpec;
use crate::data::{OptionDefault, OptionSpec};

/// Stops the compilation at what every host would refuse.
#[doc(hidden)]
pub const fn check(plugin: &PluginSpec) {
    assert!(
        !plugin.name.is_empty(),
        "a plugin needs a name: `name: \"acme\"`"
    );
    assert!(
        is_word(plugin.name),
        "a plugin's name is a word of letters, digits, `_` and `-`"
    );
    assert!(
        is_text(plugin.version),
        "a control character stands in the plugin's version"
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
        let pass = &plugin.passes[p];
        check_docs(pass.docs);
        check_required(pass.required);
        check_aliases(plugin, p);
        check_states(pass.needs);
        check_states(pass.establishes);
        check_states(pass.breaks);
        assert!(
            pass.config.is_empty() || is_dotted(pass.config),
            "a config key is made of words of letters, digits, `_` and `-`, joined by dots"
        );
        check_options(pass.options);
        check_config(plugin, p);
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
    let mut c = 0;
    while c < plugin.configs.len() {
        let config = &plugin.configs[c];
        assert!(
            is_dotted(config.key),
            "a config key is made of words of letters, digits, `_` and `-`, joined by dots"
        );
        check_docs(config.docs);
        check_options(config.fields);
        let mut other = 0;
        while other < c {
            assert!(
                !equal(plugin.configs[other].key, config.key),
                "two of the plugin's `configs` have the same key"
            );
            other += 1;
        }
        c += 1;
    }
    check_ops(plugin.ops);
    let mut i = 0;
    while i < plugin.instruments.len() {
        check_docs(plugin.instruments[i].docs);
        check_options(plugin.instruments[i].options);
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
    check_docs(sequential.docs);
    check_required(sequential.required);
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
            let (name, value) = sequential.passes[c].options[o];
            check_value(value);
            let mut earlier = 0;
            while earlier < o {
                assert!(
                    !equal(sequential.passes[c].options[earlier].0, name),
                    "an option of a child is there twice"
                );
                earlier += 1;
            }
            o += 1;
        }
        c += 1;
    }
}

/// An alias is called as a pass is, and like none of the plugin's.
const fn check_aliases(plugin: &PluginSpec, at: usize) {
    let aliases = plugin.passes[at].aliases;
    let mut a = 0;
    while a < aliases.len() {
        assert!(
            is_pass_name(aliases[a]),
            "an alias is called `<namespace>.transform.<Name>`, of letters, digits, `_` and `-`"
        );
        let mut p = 0;
        while p < plugin.passes.len() {
            assert!(
                !equal(plugin.passes[p].name, aliases[a]),
                "an alias is the name of a pass of the plugin"
            );
            p += 1;
        }
        a += 1;
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

/// The fields of a config key, if the manifest has a table for it: those of `configs`, or else the
/// options of the first pass that has the key.
const fn config_fields(plugin: &PluginSpec, key: &str) -> Option<&'static [OptionSpec]> {
    let mut c = 0;
    while c < plugin.configs.len() {
        if equal(plugin.configs[c].key, key) {
            return Some(plugin.configs[c].fields);
        }
        c += 1;
    }
    let mut p = 0;
    while p < plugin.passes.len() {
        let pass = &plugin.passes[p];
        if equal(pass.config, key) && !pass.options.is_empty() {
            return Some(pass.options);
        }
        p += 1;
    }
    None
}

/// The config key of a pass has a table, whose fields are of the types of the pass's options.
const fn check_config(plugin: &PluginSpec, pass: usize) {
    let pass = &plugin.passes[pass];
    if pass.config.is_empty() {
        return;
    }
    let fields = match config_fields(plugin, pass.config) {
        Some(fields) => fields,
        None => {
            panic!("a pass with `config` needs `options`, or an entry of `configs` with its key")
        }
    };
    let mut o = 0;
    while o < pass.options.len() {
        let mut f = 0;
        while f < fields.len() {
            assert!(
                !equal(fields[f].name, pass.options[o].name)
                    || type_number(fields[f].default) == type_number(pass.options[o].default),
                "a pass's option and the field of its config key that sets it have different types"
            );
            f += 1;
        }
        o += 1;
    }
}

const fn type_number(default: OptionDefault) -> u8 {
    match default {
        OptionDefault::Bool(_) => 0,
        OptionDefault::Int(_) => 1,
        OptionDefault::Float(_) => 2,
        OptionDefault::Str(_) => 3,
        OptionDefault::Strs(_) => 4,
        OptionDefault::Rules(_) => 5,
        OptionDefault::Ints => 6,
        OptionDefault::Values => 7,
    }
}

const fn check_docs(lines: &[&str]) {
    let mut l = 0;
    while l < lines.len() {
        assert!(
            is_text(lines[l]),
            "a control character stands in a doc comment"
        );
        l += 1;
    }
}

const fn check_required(names: &[&str]) {
    let mut n = 0;
    while n < names.len() {
        assert!(
            is_namespaced(names[n]),
            "what is required is named in full: `acme.transform.Fuse`, or a Sequential, `acme.Cleanup`"
        );
        n += 1;
    }
}

const fn check_states(states: &[&str]) {
    let mut s = 0;
    while s < states.len() {
        assert!(
            is_state(states[s]),
            "a state is `opset >= N`, or words of lower-case letters, digits, `-`, `_` and dots"
        );
        s += 1;
    }
}

const fn check_options(options: &[OptionSpec]) {
    let (mut o, mut has_rest) = (0, false);
    while o < options.len() {
        let option = &options[o];
        assert!(
            is_word(option.name),
            "an option is called by a word of ASCII letters, digits and `_`, and not `r#…`"
        );
        check_docs(option.docs);
        check_limits(option);
        assert!(
            !(option.rest && has_rest),
            "only one option takes what isn't declared, `#[rest]`"
        );
        has_rest = has_rest || option.rest;
        o += 1;
    }
}

/// A range is an integer's, choices are a string's, and a default is among them.
const fn check_limits(option: &OptionSpec) {
    if let Some((min, max)) = option.range {
        assert!(min <= max, "a range ends before it begins");
        match option.default {
            OptionDefault::Int(value) => assert!(
                option.mandatory || (min <= value && value <= max),
                "the default of an option is out of its range, or of what an i64 holds"
            ),
            OptionDefault::Ints => {}
            _ => panic!("a range is for an integer, or for a `Table<i64>`"),
        }
    }
    let (mut is_choice, mut c) = (option.choices.is_empty() || option.mandatory, 0);
    let default = match option.default {
        OptionDefault::Str(text) => text,
        _ => {
            assert!(option.choices.is_empty(), "choices are for a `String`");
            ""
        }
    };
    while c < option.choices.len() {
        is_choice = is_choice || equal(option.choices[c], default);
        assert!(
            is_text(option.choices[c]),
            "a control character stands in a choice"
        );
        c += 1;
    }
    assert!(
        is_choice,
        "the default of an option isn't among its choices"
    );
    let texts = match option.default {
        OptionDefault::Strs(texts) | OptionDefault::Rules(texts) => texts,
        _ => &[],
    };
    let (mut is_shown, mut t) = (is_text(default), 0);
    while t < texts.len() {
        is_shown = is_shown && is_text(texts[t]);
        t += 1;
    }
    assert!(
        is_shown,
        "a control character stands in the default of an option"
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PassResult;
    use crate::ir::Function;
    use crate::op::OpDef;
    use crate::pass::PassContext;
    use crate::plugin::sequential::{ChildSpec, SequentialSpec};
    use crate::plugin::spec::{ConfigSpec, PassRun, PassSpec};

    const NUMBER: OptionSpec = OptionSpec {
        name: "size",
        docs: &[" How many."],
        default: OptionDefault::Int(3),
        mandatory: false,
        range: Some((1, 8)),
        choices: &[],
        rest: false,
    };
    const TEXT: OptionSpec = OptionSpec {
        name: "order",
        default: OptionDefault::Str("rows"),
        range: None,
        choices: &["rows", "columns"],
        ..NUMBER
    };
    const GOOD: PassSpec =
        PassSpec::new("acme.transform.P", PassRun::Function(nothing), &[" Does."]);
    const PLUGIN: PluginSpec = PluginSpec {
        name: "acme",
        ..PluginSpec::new("1.0.0", true)
    };

    fn nothing(_: &mut Function, _: &PassContext) -> PassResult {
        Ok(())
    }

    /// What the compiler would say.
    fn said(plugin: PluginSpec) -> String {
        let checked = std::panic::catch_unwind(|| check(&plugin));
        let said = checked
            .err()
            .map(|said| *said.downcast::<&str>().expect("a text"));
        said.unwrap_or("").to_owned()
    }

    fn of_pass(pass: PassSpec) -> String {
        said(PluginSpec {
            passes: Box::leak(Box::new([pass])),
            ..PLUGIN
        })
    }

    fn of_option(option: OptionSpec) -> String {
        of_pass(PassSpec {
            options: Box::leak(Box::new([option])),
            ..GOOD
        })
    }

    fn of_ops(ops: Vec<OpDef>) -> String {
        let ops = ops.leak();
        said(PluginSpec { ops, ..PLUGIN })
    }

    #[test]
    fn what_hosts_refuse_doesnt_compile() {
        assert_eq!(said(PLUGIN), "");
        assert!(said(PluginSpec {
            name: "ac me",
            ..PLUGIN
        })
        .contains("a plugin's name is a word"));
        assert!(said(PluginSpec {
            version: "1\u{1b}",
            ..PLUGIN
        })
        .contains("the plugin's version"));
        assert_eq!(of_pass(GOOD), "");
        let docs = &[" Bell: \u{7}."];
        assert!(of_pass(PassSpec { docs, ..GOOD }).contains("a doc comment"));
        let required = &["acme transform"];
        assert!(of_pass(PassSpec { required, ..GOOD }).contains("what is required"));
        let needs = &["opset > 3"];
        assert!(of_pass(PassSpec { needs, ..GOOD }).contains("a state is"));
        let breaks = &["Types"];
        assert!(of_pass(PassSpec { breaks, ..GOOD }).contains("a state is"));
        let config = "acme P";
        assert!(of_pass(PassSpec { config, ..GOOD }).contains("a config key is made of"));
        let config = "acme.P";
        assert!(of_pass(PassSpec { config, ..GOOD }).contains("a pass with `config` needs"));
    }

    #[test]
    fn options_are_within_their_limits() {
        assert_eq!(of_option(NUMBER), "");
        assert_eq!(of_option(TEXT), "");
        let range = |min, max| OptionSpec {
            range: Some((min, max)),
            ..NUMBER
        };
        assert!(of_option(range(8, 0)).contains("a range ends before it begins"));
        assert!(of_option(range(4, 8)).contains("out of its range"));
        assert_eq!(
            of_option(OptionSpec {
                mandatory: true,
                ..range(4, 8)
            }),
            ""
        );
        assert!(of_option(OptionSpec {
            range: Some((0, 1)),
            ..TEXT
        })
        .contains("a range is for"));
        assert!(of_option(OptionSpec {
            choices: &["a"],
            ..NUMBER
        })
        .contains("choices are for"));
        assert!(of_option(OptionSpec {
            choices: &["a"],
            ..TEXT
        })
        .contains("among its choices"));
        let odd = OptionDefault::Strs(&["\u{9b}"]);
        let odd = OptionSpec {
            default: odd,
            choices: &[],
            ..TEXT
        };
        assert!(of_option(odd).contains("the default of an option"));
        assert!(of_option(OptionSpec {
            name: "r#type",
            ..TEXT
        })
        .contains("called by a word"));
        let table = OptionSpec {
            default: OptionDefault::Ints,
            rest: true,
            ..NUMBER
        };
        assert_eq!(of_option(table), "");
        let options = Box::leak(Box::new([
            table,
            OptionSpec {
                name: "more",
                ..table
            },
        ]));
        assert!(of_pass(PassSpec { options, ..GOOD }).contains("only one option takes"));
        let configs = &[ConfigSpec {
            key: "acme.P",
            docs: &[],
            fields: &[TEXT],
        }];
        let number = OptionSpec {
            name: "order",
            ..NUMBER
        };
        let pass = PassSpec {
            config: "acme.P",
            options: Box::leak(Box::new([number])),
            ..GOOD
        };
        let passes = Box::leak(Box::new([pass]));
        assert!(said(PluginSpec {
            configs,
            passes,
            ..PLUGIN
        })
        .contains("have different types"));
        let twice = &[configs[0], configs[0]];
        let configs = Box::leak(Box::new(*twice));
        assert!(said(PluginSpec { configs, ..PLUGIN }).contains("have the same key"));
    }

    #[test]
    fn ops_have_names_and_are_there_once() {
        const GELU: OpDef = OpDef::new("acme.Gelu", 1);
        assert_eq!(of_ops(vec![GELU, OpDef::new("acme.Gelu", 2)]), "");
        assert!(of_ops(vec![OpDef::new("acme Gelu", 1)]).contains("without blanks"));
        assert!(of_ops(vec![OpDef::new("acme.Gelu", 0)]).contains("the first version"));
        assert!(of_ops(vec![GELU, OpDef::new("acme.Tanh", 1), GELU]).contains("defined twice"));
    }

    #[test]
    fn options_of_children_are_there_once() {
        const CHILD: ChildSpec = ChildSpec {
            name: "acme.transform.P",
            options: &[("size", "1"), ("size", "2")],
        };
        let sequentials = vec![SequentialSpec::new("acme.Cleanup", &[CHILD], &[])].leak();
        let said = said(PluginSpec {
            sequentials,
            ..PLUGIN
        });
        assert!(said.contains("is there twice"), "{}", said);
    }
}
