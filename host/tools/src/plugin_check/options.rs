//! The options of passes: their values at the edges, and values that the host has to refuse.

use passdock_core::{Field, FieldType, ManifestPass, toml};

use super::CheckAnswer;
use super::subject::{Fault, Subject, as_toml, mandatory, told};

/// Passes run with what their options allow.
pub(super) fn options(subject: &Subject<'_>) -> CheckAnswer {
    let with_options = |pass: &&ManifestPass| !pass.declaration.options.is_empty();
    let passes: Vec<&ManifestPass> = subject.passes().iter().filter(with_options).collect();
    if passes.is_empty() {
        return CheckAnswer::skipped("No pass has options.");
    }
    let mut findings = Vec::new();
    let mut notes = Vec::new();
    for pass in passes {
        let runs_at_all = runs(subject, pass, &toml::Table::new());
        for field in &pass.declaration.options {
            let edges = allowed(field).into_iter();
            let lists = lists(field).into_iter().filter(|value| {
                // What the schema has to say of entries, it says here.
                let mut options = mandatory(&pass.declaration.options);
                options.insert(field.name.clone(), value.clone());
                let made = subject
                    .registry
                    .get_pass_with_options(pass.name(), &options);
                made.is_ok()
            });
            for value in edges.chain(lists) {
                let options = toml::Table::from_iter([(field.name.clone(), value.clone())]);
                match (runs(subject, pass, &options), &runs_at_all) {
                    (Ok(true), _) | (Ok(false), Ok(false)) => {}
                    (Ok(false), _) => notes.push(format!(
                        "`{}` refuses every module with `{} = {value}`.",
                        pass.name(),
                        field.name
                    )),
                    (Err(said), _) => {
                        findings.push(format!("With `{} = {value}`: {said}", field.name));
                    }
                }
            }
            for value in refused(field) {
                let mut options = mandatory(&pass.declaration.options);
                options.insert(field.name.clone(), value.clone());
                let taken = subject
                    .registry
                    .get_pass_with_options(pass.name(), &options);
                if taken.is_ok() {
                    findings.push(format!(
                        "The host takes `{} = {value}` for `{}`, which the manifest doesn't allow.",
                        field.name,
                        pass.name()
                    ));
                }
            }
        }
    }
    CheckAnswer::of(findings, notes)
}

/// Whether a pass runs on any sample with these options; what goes wrong if it does more than refuse.
fn runs(subject: &Subject<'_>, pass: &ManifestPass, options: &toml::Table) -> Result<bool, String> {
    let mut any = false;
    for sample in &subject.samples {
        match subject.run(pass, options, sample, |context| context) {
            Ok(_) => any = true,
            Err(error) => match subject.fault(&error) {
                Fault::Refusal | Fault::Unfit | Fault::Names => {}
                _ => return Err(told(pass.name(), &sample.name, &error)),
            },
        }
    }
    Ok(any)
}

/// The values of an option that are worth a try.
fn allowed(field: &Field) -> Vec<toml::Value> {
    let mut values = Vec::new();
    if !field.mandatory {
        values.extend(as_toml(&field.default));
    }
    if field.ty == FieldType::Bool {
        values.extend([false, true].map(toml::Value::from));
    }
    if let (FieldType::Int, Some((min, max))) = (field.ty, field.range) {
        // One end may be open.
        let ends = [min, max].into_iter();
        let ends = ends.filter(|end| ![i64::MIN, i64::MAX].contains(end));
        values.extend(ends.map(toml::Value::from));
    }
    let choices = field.choices.iter();
    values.extend(choices.map(|choice| toml::Value::from(choice.as_str())));
    let mut tried = Vec::new();
    for value in values {
        if !tried.contains(&value) {
            tried.push(value);
        }
    }
    tried
}

/// Lists and tables without and with an entry, beside the default.
fn lists(field: &Field) -> Vec<toml::Value> {
    let table = |value: toml::Value| toml::Table::from_iter([("a".to_owned(), value)]);
    let one = match field.ty {
        FieldType::Strings => {
            let choice = field.choices.first().map_or("a", String::as_str);
            toml::Value::from(vec![choice])
        }
        FieldType::Ints => {
            let (min, max) = field.range.unwrap_or((i64::MIN, i64::MAX));
            table(1.clamp(min, max).into()).into()
        }
        FieldType::Rules => toml::Value::from(vec!["rule a { onnx.Relu(%x) }"]),
        FieldType::Values => table("a".into()).into(),
        _ => return Vec::new(),
    };
    let none = match &one {
        toml::Value::Array(_) => toml::Value::Array(Vec::new()),
        _ => toml::Table::new().into(),
    };
    let default = as_toml(&field.default).filter(|_| !field.mandatory);
    let mut values = vec![none, one];
    values.retain(|value| Some(value) != default.as_ref());
    values
}

/// Values that an option may not have.
fn refused(field: &Field) -> Vec<toml::Value> {
    let mut values = vec![match field.ty {
        FieldType::Bool => toml::Value::from(1),
        _ => toml::Value::from(true),
    }];
    if let (FieldType::Int, Some((min, max))) = (field.ty, field.range) {
        let beyond = [min.checked_sub(1), max.checked_add(1)];
        values.extend(beyond.into_iter().flatten().map(toml::Value::from));
    }
    let is_other = |choices: &[String]| !choices.iter().any(|choice| choice == NO_CHOICE);
    if !field.choices.is_empty() && is_other(&field.choices) {
        values.push(NO_CHOICE.into());
    }
    values
}

const NO_CHOICE: &str = "none of the choices";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use passdock_core::FieldValue;

    use super::*;

    fn texts(values: Vec<toml::Value>) -> Vec<String> {
        values.iter().map(toml::Value::to_string).collect()
    }

    #[test]
    fn values_at_the_edges_and_beyond() {
        let int = Field {
            range: Some((1, 64)),
            ..Field::new("bits", FieldValue::Int(8))
        };
        assert_eq!(texts(allowed(&int)), ["8", "1", "64"]);
        assert_eq!(texts(refused(&int)), ["true", "0", "65"]);
        let open = Field {
            range: Some((0, i64::MAX)),
            ..Field::new("ops", FieldValue::Int(0))
        };
        assert_eq!(texts(allowed(&open)), ["0"]);
        assert_eq!(texts(refused(&open)), ["true", "-1"]);
        let choice = Field {
            choices: vec!["a".to_owned(), "b".to_owned()],
            ..Field::new("how", FieldValue::String("a".to_owned()))
        };
        assert_eq!(texts(allowed(&choice)), ["\"a\"", "\"b\""]);
        assert_eq!(texts(refused(&choice)), ["true", "\"none of the choices\""]);
        let list = Field::new("names", FieldValue::Strings(vec!["x".to_owned()]));
        assert_eq!(texts(lists(&list)), ["[]", "[\"a\"]"]);
        let table = Field::new("sizes", FieldValue::Ints(BTreeMap::new()));
        assert_eq!(texts(lists(&table)), ["{ a = 1 }"]);
        assert_eq!(texts(lists(&choice)), [""; 0]);
        let bool = Field::new("all", FieldValue::Bool(true));
        assert_eq!(texts(allowed(&bool)), ["true", "false"]);
        assert_eq!(texts(refused(&bool)), ["1"]);
    }
}
