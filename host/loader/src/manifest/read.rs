//! Reading and checking the entries of a manifest.

use std::collections::BTreeMap;
use std::fmt;

use passdock_abi as abi;
use passdock_sandbox::Permission;
use toml::de::{DeTable, DeValue};

use super::declaration::{PassDeclaration, PassInfo};
use super::entry::{Entry, EntryError, Item, described, has_date, owned};
use super::field::{FieldType, toml_text};
use super::requirement::Requirement;
use super::schema::{Field, Schema};
use super::{
    InstrumentDeclaration, Manifest, ManifestChild, ManifestPass, ManifestPlugin,
    ManifestSequential, OpSpec, PanicStrategy, Skipped,
};
use crate::error::{PluginErrorKind as Kind, Ver};
use crate::names;

/// Reads a manifest. Versions are checked first, since the format of the rest may differ in other major versions.
pub(super) fn manifest(table: &DeTable<'_>) -> Result<Manifest, Kind> {
    let root = Entry::root(table);
    let manifest = manifest_in(&root).map_err(|error| match error {
        EntryError::Invalid(kind) => kind,
        EntryError::Unknown(what, _) => unreachable!("{what} belongs to a skipped entry"),
    })?;
    let warnings = root.warnings();
    Ok(Manifest {
        warnings,
        ..manifest
    })
}

fn manifest_in(root: &Entry<'_>) -> Result<Manifest, EntryError> {
    let plugin = root.value("plugin", "a table", as_table)?;
    let plugin = plugin.ok_or_else(|| root.missing("plugin"))?;
    let plugin = root.nested("plugin", plugin, plugin_in)?;
    plugin.check_versions()?;
    let mut skipped = Vec::new();
    let configs = entries(root, "config", config, &mut skipped)?;
    let unread: Vec<String> = skipped.iter().map(|s: &Skipped| s.name.clone()).collect();
    let pass = |entry: &Entry<'_>| pass(entry, &unread);
    Ok(Manifest {
        plugin,
        passes: entries(root, "pass", pass, &mut skipped)?,
        sequentials: entries(root, "sequential", sequential, &mut skipped)?,
        configs,
        ops: entries(root, "op", op, &mut skipped)?,
        instruments: entries(root, "instrument", instrument, &mut skipped)?,
        skipped,
        warnings: Vec::new(),
    })
}

/// Reads the entries of a list. Those with unknown enum values are added to `skipped`.
fn entries<T>(
    root: &Entry<'_>,
    kind: &'static str,
    read: impl Fn(&Entry<'_>) -> Result<T, EntryError>,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<T>, EntryError> {
    let mut all = Vec::new();
    for table in root.tables(kind)? {
        let result = root.nested(kind, table, |entry| {
            check_host(entry, "")?;
            let one = read(entry)?;
            entry.check_texts()?;
            Ok(one)
        });
        match result {
            Ok(one) => all.push(one),
            Err(error @ EntryError::Invalid(_)) => return Err(error),
            Err(EntryError::Unknown(unsupported, help)) => skipped.push(Skipped {
                entry: kind.to_owned(),
                name: Entry::root(table).name(),
                unsupported,
                help,
            }),
        }
    }
    Ok(all)
}

fn plugin_in(entry: &Entry<'_>) -> Result<ManifestPlugin, EntryError> {
    entry.check_texts()?;
    let abi = version("abi", entry.required("abi")?)?;
    let min_host = entry.get("min_host")?;
    let language = entry.get("language")?;
    let requires = entry.optional::<Vec<String>>("requires")?.into_iter();
    let requires = requires.map(Requirement::parse);
    let permissions = entry.optional::<Vec<String>>("permissions")?.into_iter();
    let permissions = permissions.map(permission);
    let text = |key| {
        let text = entry.get::<String>(key)?;
        Ok::<_, EntryError>(text.filter(|text| !text.is_empty()))
    };
    Ok(ManifestPlugin {
        name: identifier("plugin name", entry.required("name")?)?,
        version: entry.optional("version")?,
        license: text("license")?,
        homepage: text("homepage")?,
        requires: requires.collect::<Result<_, _>>()?,
        permissions: permissions.collect::<Result<_, _>>()?,
        abi,
        min_host: min_host.map_or(Ok(abi), |text| version("min_host", text))?,
        ir: version("ir", entry.required("ir")?)?,
        language: language.map(|text| version("language", text)).transpose()?,
        extensions: entry.optional("extensions")?,
        panic: match entry.required_enum_value("panic") {
            // An unknown panic strategy is treated as the worst one.
            Err(EntryError::Unknown(what, help)) => {
                let message = format!("unsupported {what}, treated as `abort`,");
                entry.warn(message, help);
                PanicStrategy::Abort
            }
            panic => panic?,
        },
        layout: text("layout")?,
        compiler: text("compiler")?,
    })
}

fn permission(text: String) -> Result<Permission, Kind> {
    let rule = "`network`, `exec`, `read:PATH` or `write:PATH` with an absolute path";
    let permission = text.parse::<Permission>().ok();
    let permission = permission.filter(Permission::is_absolute);
    permission.ok_or_else(|| invalid("item in `permissions`", names::escaped(&text), rule))
}

/// Reads a pass. It is skipped if its config key is in `unread`, which has the keys of skipped entries.
fn pass(entry: &Entry<'_>, unread: &[String]) -> Result<ManifestPass, EntryError> {
    let name = pass_name("pass name", entry.required("name")?)?;
    let aliases = entry.optional::<Vec<String>>("aliases")?.into_iter();
    let aliases =
        aliases.map(|alias| pass_name(format_args!("name in `aliases` of `{name}`"), alias));
    let config = entry.get("config")?;
    let config = config.map(|key| dotted(format_args!("`config` of `{name}`"), key));
    let config = config.transpose()?;
    if let Some(key) = config.as_ref().filter(|key| unread.contains(key)) {
        let what = format!("fields of config key `{key}`");
        return Err(EntryError::Unknown(what, None));
    }
    Ok(ManifestPass {
        summary: entry.optional("summary")?,
        kind: entry.required_enum_value("kind")?,
        declaration: PassDeclaration {
            phase: entry.enum_value("phase")?,
            thread_safe: entry.optional("thread_safe")?,
            changes_interface: entry.optional("changes_interface")?,
            aliases: aliases.collect::<Result<_, _>>()?,
            config,
            options: fields(entry, "option", &name, false)?,
            info: info(entry, name)?,
        },
    })
}

/// Reads the level and the requirements of a pass or a Sequential.
fn info(entry: &Entry<'_>, name: String) -> Result<PassInfo, EntryError> {
    let required = entry.optional::<Vec<String>>("required")?.into_iter();
    let owner = &name;
    let required =
        required.map(|name| any_pass_name(format_args!("name in `required` of `{owner}`"), name));
    Ok(PassInfo {
        opt_level: entry.optional("opt_level")?,
        required: required.collect::<Result<_, _>>()?,
        name,
    })
}

/// Reads a Sequential. It is skipped if one of its children needs a newer host.
fn sequential(entry: &Entry<'_>) -> Result<ManifestSequential, EntryError> {
    let (what, name) = ("Sequential name", entry.required("name")?);
    let name = require(names::is_namespaced, what, name, names::SEQUENTIAL_RULE)?;
    let children = entry.value("passes", "a list", |value| value.get_ref().as_array())?;
    let children = children.ok_or_else(|| entry.missing("passes"))?;
    let passes = children.iter().map(|value| match value.get_ref() {
        DeValue::String(child) => child_named(&name, child.clone().into_owned()),
        DeValue::Table(table) => entry.nested("child", table, |child| child_in(&name, child)),
        _ => Err(EntryError::Invalid(Kind::ManifestType {
            what: format!("child in `passes` of `{name}`"),
            got: names::escaped(&described(value)),
            expected: "a pass name, or a table with `name` and `options`".to_owned(),
        })),
    });
    Ok(ManifestSequential {
        passes: passes.collect::<Result<_, _>>()?,
        summary: entry.optional("summary")?,
        declaration: info(entry, name)?.into(),
    })
}

/// Reads a child of a Sequential that is given by its name.
fn child_named(owner: &str, name: String) -> Result<ManifestChild, EntryError> {
    Ok(ManifestChild {
        name: any_pass_name(format_args!("name in `passes` of `{owner}`"), name)?,
        options: BTreeMap::new(),
    })
}

/// Reads a child of a Sequential that is given as a table.
fn child_in(owner: &str, entry: &Entry<'_>) -> Result<ManifestChild, EntryError> {
    let mut child = child_named(owner, entry.required("name")?)?;
    check_host(entry, &format!(" of child `{}`", child.name))?;
    let options = entry.value("options", "a table", as_table)?;
    for (option, value) in options.into_iter().flatten() {
        let option = option.get_ref().clone().into_owned();
        let Some(value) = owned(value).filter(|_| !has_date(value)) else {
            return Err(EntryError::Invalid(Kind::ManifestType {
                what: format!("option `{option}` of `{}` of `{owner}`", child.name),
                got: match has_date(value) {
                    true => "a date".to_owned(),
                    false => described(value),
                },
                expected: "another value, such as a string in quotes".to_owned(),
            }));
        };
        child.options.insert(option, value);
    }
    Ok(child)
}

fn as_table<'t>(value: &'t Item<'t>) -> Option<&'t DeTable<'t>> {
    value.get_ref().as_table()
}

fn config(entry: &Entry<'_>) -> Result<Schema, EntryError> {
    let key = dotted("config key", entry.required("key")?)?;
    Ok(Schema {
        fields: fields(entry, "field", &key, true)?,
        doc: entry.optional("doc")?,
        key,
    })
}

fn op(entry: &Entry<'_>) -> Result<OpSpec, EntryError> {
    let rule = "a domain and a name without whitespace";
    let name = require(names::is_op, "op name", entry.required("name")?, rule)?;
    let since = entry.get("since")?.unwrap_or(1);
    if since < 1 {
        let what = format!("`since` of `{name}`");
        return Err(invalid(what, since, "at least 1").into());
    }
    let extends = entry.optional("extends")?;
    Ok(OpSpec {
        name,
        since,
        extends,
    })
}

fn instrument(entry: &Entry<'_>) -> Result<InstrumentDeclaration, EntryError> {
    let (what, name) = ("instrument name", entry.required("name")?);
    let name = require(names::is_namespaced, what, name, names::INSTRUMENT_RULE)?;
    Ok(InstrumentDeclaration {
        options: fields(entry, "option", &name, false)?,
        summary: entry.optional("summary")?,
        name,
    })
}

/// Reads the options or fields of an entry.
fn fields(
    entry: &Entry<'_>,
    key: &'static str,
    owner: &str,
    may_be_empty: bool,
) -> Result<Vec<Field>, EntryError> {
    let tables = entry.tables(key)?.into_iter();
    let fields = tables.map(|table| entry.nested(key, table, |f| field(f, owner, may_be_empty)));
    fields.collect()
}

fn field(entry: &Entry<'_>, owner: &str, may_be_empty: bool) -> Result<Field, EntryError> {
    let name: String = entry.required("name")?;
    let ty: FieldType = match entry.required_enum_value("type") {
        Err(EntryError::Unknown(what, help)) => {
            let what = format!("{what} of field `{}`", names::escaped(&name));
            return Err(EntryError::Unknown(what, help));
        }
        ty => ty?,
    };
    let name = match name.is_empty() && may_be_empty {
        true => String::new(),
        false => identifier(format_args!("name of an option of `{owner}`"), name)?,
    };
    let default = entry.value("default", ty.name(), |value| ty.accept(&owned(value)?))?;
    let default = default.unwrap_or_else(|| ty.zero());
    let choices: Vec<String> = entry.optional("choices")?;
    let (min, max): (Option<i64>, Option<i64>) = (entry.get("min")?, entry.get("max")?);
    let integer = matches!(ty, FieldType::Int | FieldType::Ints);
    let limits = [
        ("min", min.is_some(), integer),
        ("max", max.is_some(), integer),
        ("choices", !choices.is_empty(), ty == FieldType::String),
    ];
    if let Some((key, ..)) = limits.iter().find(|(_, given, may)| *given && !may) {
        let types = match *key {
            "choices" => "a string",
            _ => "an int or a table of ints",
        };
        return Err(EntryError::Invalid(Kind::ManifestType {
            what: format!("type of `{name}` of `{owner}`"),
            got: ty.name().to_owned(),
            expected: format!("{types} because of `{key}`"),
        }));
    }
    let range = (min.is_some() || max.is_some())
        .then(|| (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX)));
    let field = Field {
        doc: entry.optional("doc")?,
        name,
        ty,
        default,
        mandatory: entry.optional("mandatory")?,
        range,
        choices,
        rest: entry.optional("rest")?,
    };
    let fits = match field.mandatory {
        true => range.is_none_or(|(min, max)| min <= max),
        false => field.accept(&field.default, owner).is_ok(),
    };
    if !fits {
        let what = format!("default of `{}` of `{owner}`", field.name);
        let rule = "a value within `min` and `max`, and among `choices`";
        return Err(invalid(what, toml_text(&field.default), rule).into());
    }
    if field.rest && !ty.is_table() {
        return Err(EntryError::Invalid(Kind::ManifestType {
            what: format!("type of `{}` of `{owner}`", field.name),
            got: ty.name().to_owned(),
            expected: "a table of ints or of values because of `rest`".to_owned(),
        }));
    }
    Ok(field)
}

/// Returns `Unknown` for an entry that needs a newer host. `who` is the part of the entry that needs it, for the
/// message: " of child `NAME`", or an empty string.
fn check_host(entry: &Entry<'_>, suffix: &str) -> Result<(), EntryError> {
    let needed = entry.get("min_host")?;
    match needed.map(|text| version("min_host", text)).transpose()? {
        Some(needed) if (needed.major, needed.minor) > (abi::ABI.major, abi::ABI.minor) => {
            let what = format!("plugin ABI {needed}{suffix}");
            Err(EntryError::Unknown(what, None))
        }
        _ => Ok(()),
    }
}

fn version(key: &str, value: String) -> Result<Ver, Kind> {
    let number = |part: &str| -> Option<u32> {
        let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    };
    let parsed = value.split_once('.').and_then(|(major, minor)| {
        let (major, minor) = (number(major)?, number(minor)?);
        Some(Ver { major, minor })
    });
    let rule = "`major.minor`";
    parsed.ok_or_else(|| invalid(format!("`{key}`"), names::escaped(&value), rule))
}

fn pass_name(what: impl fmt::Display, name: String) -> Result<String, Kind> {
    require(names::is_pass, what, name, names::PASS_RULE)
}

/// Checks the name of a pass, or of a Sequential.
fn any_pass_name(what: impl fmt::Display, name: String) -> Result<String, Kind> {
    require(names::is_namespaced, what, name, names::ANY_PASS_RULE)
}

fn dotted(what: impl fmt::Display, name: String) -> Result<String, Kind> {
    require(names::is_dotted, what, name, names::DOTTED_RULE)
}

fn identifier(what: impl fmt::Display, name: String) -> Result<String, Kind> {
    let rule = "letters, digits, `_` and `-`, at most 256 bytes";
    require(names::is_identifier, what, name, rule)
}

fn require(
    is_valid: fn(&str) -> bool,
    what: impl fmt::Display,
    value: String,
    rule: &'static str,
) -> Result<String, Kind> {
    match is_valid(&value) {
        true => Ok(value),
        false => Err(invalid(what, names::escaped(&value), rule)),
    }
}

/// Returns the error about a value that breaks a rule.
pub(super) fn invalid(what: impl fmt::Display, got: impl ToString, rule: &'static str) -> Kind {
    Kind::ManifestValue {
        what: what.to_string(),
        got: got.to_string(),
        rule,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::manifest::SCHEMA;

    /// Reads a table with `read`, and compares the keys that were read with those of the schema.
    fn check<T>(definition: &str, text: &str, read: impl Fn(&Entry<'_>) -> Result<T, EntryError>) {
        let table = DeTable::parse(text).unwrap().into_inner();
        let entry = Entry::root(&table);
        assert!(read(&entry).is_ok(), "{definition}");
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        let schema = match definition {
            "" => &schema,
            name => &schema["definitions"][name],
        };
        let keys = schema["properties"].as_object().unwrap().keys();
        let keys: BTreeSet<&str> = keys.map(String::as_str).collect();
        assert_eq!(entry.keys(), keys, "{definition}");
        assert_eq!(schema["additionalProperties"], false, "{definition}");
    }

    #[test]
    fn schema_keys_match_the_keys_read() {
        let plugin = "name = 'a'\nabi = '1.0'\nir = '1.0'\npanic = 'none'";
        check("plugin", plugin, plugin_in);
        let whole = format!("[plugin]\n{plugin}");
        check("", &whole, manifest_in);
        let named = |read: fn(&Entry<'_>) -> Result<(), EntryError>| {
            move |entry: &Entry<'_>| {
                check_host(entry, "")?;
                read(entry)
            }
        };
        let pass_entry = |entry: &Entry<'_>| pass(entry, &[]).map(drop);
        check(
            "pass",
            "name = 'a.transform.B'\nkind = 'module'",
            named(pass_entry),
        );
        let sequential_entry = |entry: &Entry<'_>| sequential(entry).map(drop);
        check(
            "sequential",
            "name = 'a.B'\npasses = []",
            named(sequential_entry),
        );
        check("child", "name = 'a.B'", |entry| child_in("a.C", entry));
        check(
            "config",
            "key = 'a.B'",
            named(|entry| config(entry).map(drop)),
        );
        check("op", "name = 'a.B'", named(|entry| op(entry).map(drop)));
        let instrument_entry = |entry: &Entry<'_>| instrument(entry).map(drop);
        check("instrument", "name = 'a.b'", named(instrument_entry));
        check("field", "name = 'n'\ntype = 'int'", |entry| {
            field(entry, "a", false)
        });
    }
}
