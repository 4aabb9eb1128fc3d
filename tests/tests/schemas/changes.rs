//! Files that differ from a valid one in one value.

use passdock::toml::{Table, Value};

/// Replacements of a value: some of each type.
fn others() -> Vec<Value> {
    let text = "
        values = [true, -1, 0, 1, 4294967295, 4294967296, 1.0, nan, '', 'x', 'late', 'a.b', 'a.transform.B',
            '1.0', \"a\\u0007b\", ' x', [], [''], ['a.b'], [1], [[]], {}, { a = 1 },
            { name = 'a.b' }, { phase = 'late' }, [{}], [{ name = 'a.b' }], [{ phase = 'late' }],
            [{ name = 'a', type = 'int' }], [{ passes = [] }], [{ passes = 1 }], { late = {} }, { late = [] }]
    ";
    let mut table: Table = text.parse().expect("TOML");
    match table.remove("values") {
        Some(Value::Array(values)) => values,
        other => panic!("{other:?} is no list"),
    }
}

/// A file with one change.
pub(crate) struct Change {
    /// The path of keys and indices, and the new value.
    pub(crate) what: String,
    pub(crate) file: Table,
}

/// Returns all files that differ from this one in one value: replaced, removed, or added.
pub(crate) fn changes(file: &Table) -> Vec<Change> {
    let mut places = Vec::new();
    places_of(&Value::Table(file.clone()), &mut Vec::new(), &mut places);
    let others = others();
    let mut changes = Vec::new();
    for place in &places {
        let shown = place.join(".");
        let values = others.iter().map(Some).chain([None]);
        for value in values {
            let mut root = Value::Table(file.clone());
            put(&mut root, place, value);
            if let Value::Table(file) = root {
                let value = value.map_or("nothing".to_owned(), Value::to_string);
                let what = format!("{shown} = {value}");
                changes.push(Change { what, file });
            }
        }
    }
    changes
}

/// Collects the paths of all values, and for each table those of keys that it lacks.
fn places_of(value: &Value, path: &mut Vec<String>, places: &mut Vec<Vec<String>>) {
    if !path.is_empty() {
        places.push(path.clone());
    }
    let mut below = |key: String, value: &Value| {
        path.push(key);
        places_of(value, path, places);
        path.pop();
    };
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                below(at.to_string(), item);
            }
        }
        Value::Table(table) => {
            for (key, value) in table {
                below(key.clone(), value);
            }
            // An unknown key, and keys of other kinds of tables.
            for key in ["unknown", "name", "options", "opt_level", "disabled"] {
                if !table.contains_key(key) {
                    places.push([&**path, &[key.to_owned()]].concat());
                }
            }
        }
        _ => {}
    }
}

fn put(value: &mut Value, path: &[String], new: Option<&Value>) {
    let Some((key, rest)) = path.split_first() else {
        return;
    };
    match value {
        Value::Array(items) => {
            let at: usize = key.parse().expect("an index");
            match (rest, new) {
                ([], Some(new)) => items[at] = new.clone(),
                ([], None) => drop(items.remove(at)),
                _ => put(&mut items[at], rest, new),
            }
        }
        Value::Table(table) => match (rest, new) {
            ([], Some(new)) => drop(table.insert(key.clone(), new.clone())),
            ([], None) => drop(table.remove(key)),
            _ => put(&mut table[key], rest, new),
        },
        _ => panic!("{key} stands in no table"),
    }
}
