//! The check of pass options with values at the limits of their schema.

use passdock_core::{Field, FieldType, ManifestPass, toml};

use super::CheckResult;
use super::subject::{Subject, described, mandatory};

/// Checks that passes run with all values that their options allow.
pub(super) fn options(subject: &Subject<'_>) -> CheckResult {
    let has_options = |pass: &&ManifestPass| !pass.declaration.options.is_empty();
    let passes: Vec<&ManifestPass> = subject.passes().iter().filter(has_options).collect();
    if passes.is_empty() {
        return CheckResult::skipped("no pass has options");
    }
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for pass in passes {
        let name = pass.name();
        // A fault with the default options is reported by another check.
        let Ok(runs_at_all) = runs(subject, pass, &toml::Table::new()) else {
            continue;
        };
        for field in &pass.declaration.options {
            for value in values(field) {
                let options = toml::Table::from_iter([(field.name.clone(), value.clone())]);
                let mut all = mandatory(&pass.declaration.options);
                all.extend(options.clone());
                // The schema may restrict the entries of a list.
                if subject.registry.get_pass_with_options(name, &all).is_err() {
                    continue;
                }
                let option = format!("`{} = {value}`", field.name);
                match runs(subject, pass, &options) {
                    Ok(false) if runs_at_all => {
                        notes.push(format!("`{name}` rejects every module with {option}"));
                    }
                    Ok(_) => {}
                    Err(fault) => findings.push(format!("with {option}: {fault}")),
                }
            }
        }
    }
    CheckResult::new(findings, notes)
}

/// Whether a pass runs on any sample with these options.
///
/// # Errors
/// The first fault.
fn runs(subject: &Subject<'_>, pass: &ManifestPass, options: &toml::Table) -> Result<bool, String> {
    let mut any = false;
    for sample in &subject.samples {
        match subject.run(pass, options, sample, |context| context) {
            Ok(_) => any = true,
            Err(error) if subject.is_fault(&error) => {
                return Err(described(pass.name(), &sample.name, &error));
            }
            Err(_) => {}
        }
    }
    Ok(any)
}

/// Returns the default of an option, its limits, its choices, and lists and tables with no entry and with one.
fn values(field: &Field) -> Vec<toml::Value> {
    let mut values: Vec<toml::Value> = Vec::new();
    if !field.mandatory {
        values.push(field.default.clone());
    }
    let choices = field.choices.iter();
    let choices = choices.map(|choice| toml::Value::from(choice.as_str()));
    let table = |entry: toml::Value| toml::Table::from_iter([("a".to_owned(), entry)]);
    match (field.ty, field.range) {
        (FieldType::Bool, _) => values.extend([false.into(), true.into()]),
        (FieldType::Int, Some((min, max))) => {
            // The range may have only one limit.
            let ends = [min, max].into_iter();
            let ends = ends.filter(|end| ![i64::MIN, i64::MAX].contains(end));
            values.extend(ends.map(toml::Value::from));
        }
        (FieldType::String, _) => values.extend(choices),
        (FieldType::Strings, _) => {
            let entry = choices.into_iter().next().unwrap_or_else(|| "a".into());
            values.extend([toml::Value::Array(Vec::new()), vec![entry].into()]);
        }
        (FieldType::Rules, _) => {
            let rules = vec!["rule a { onnx.Relu(%x) }"];
            values.extend([toml::Value::Array(Vec::new()), rules.into()]);
        }
        (FieldType::Ints, range) => {
            let (min, max) = range.unwrap_or((i64::MIN, i64::MAX));
            let one = table(1.clamp(min, max).into());
            values.extend([toml::Table::new().into(), one.into()]);
        }
        (FieldType::Values, _) => {
            values.extend([toml::Table::new().into(), table("a".into()).into()]);
        }
        _ => {}
    }
    let mut unique = Vec::new();
    for value in values {
        if !unique.contains(&value) {
            unique.push(value);
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_values_include_the_limits() {
        let check = |field: Field, expected: &[&str]| {
            let values = values(&field).into_iter();
            let texts: Vec<String> = values.map(|value| value.to_string()).collect();
            assert_eq!(texts, expected, "{}", field.name);
        };
        let with_range = |name: &str, default: i64, range: (i64, i64)| Field {
            range: Some(range),
            default: default.into(),
            ..Field::new(name, FieldType::Int)
        };
        check(with_range("bits", 8, (1, 64)), &["8", "1", "64"]);
        check(with_range("ops", 0, (0, i64::MAX)), &["0"]);
        let choice = Field {
            choices: vec!["a".to_owned(), "b".to_owned()],
            default: "a".into(),
            ..Field::new("how", FieldType::String)
        };
        check(choice, &["\"a\"", "\"b\""]);
        let list = Field {
            default: vec!["x"].into(),
            ..Field::new("names", FieldType::Strings)
        };
        check(list, &["[\"x\"]", "[]", "[\"a\"]"]);
        check(Field::new("sizes", FieldType::Ints), &["{}", "{ a = 1 }"]);
        let all = Field {
            default: true.into(),
            ..Field::new("all", FieldType::Bool)
        };
        check(all, &["true", "false"]);
    }
}
