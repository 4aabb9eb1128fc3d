//! One name, one thing: types that are seen outside their folder share no name in their crate, and
//! those of the host's crates none in any of these.

use std::collections::BTreeMap;

use crate::structure::Structure;

pub(super) fn offences(crates: &[Structure]) -> Vec<String> {
    let mut offences: Vec<String> = crates.iter().flat_map(offences_of).collect();
    offences.extend(offences_across_host(crates));
    offences
}

fn offences_of(structure: &Structure) -> Vec<String> {
    let shared = structure.shared_names.iter().map(|shared| {
        let places: Vec<&str> = shared.places.iter().map(String::as_str).collect();
        format!(
            "{}: several types are called {}: {}",
            structure.name,
            shared.name,
            places.join(", ")
        )
    });
    shared.collect()
}

/// Names that several crates of the host give to types of their own.
fn offences_across_host(crates: &[Structure]) -> Vec<String> {
    let is_host = |structure: &&Structure| structure.directory.starts_with("host/");
    let mut types: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for structure in crates.iter().filter(is_host) {
        for (name, places) in &structure.seen_types {
            let places = places
                .iter()
                .map(|place| (&*structure.name, place.as_str()));
            types.entry(name).or_default().extend(places);
        }
    }
    let shared = types.into_iter().filter_map(|(name, types)| {
        let (owner, _) = types[0];
        let is_shared = types.iter().any(|(other, _)| *other != owner);
        let places: Vec<&str> = types.into_iter().map(|(_, place)| place).collect();
        let places = places.join(", ");
        is_shared.then(|| format!("several crates of the host have a type {name}: {places}"))
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use super::{offences_across_host, offences_of};
    use crate::structure::{Structure, of_text};

    fn shared(files: &[(&str, &str)]) -> Vec<String> {
        let names = of_text(files).shared_names;
        names.into_iter().map(|shared| shared.name).collect()
    }

    #[test]
    fn types_of_one_name_are_told_with_their_places() {
        let structure = of_text(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod c; pub(crate) struct Options;"),
            ("a/c.rs", ""),
            ("b/mod.rs", "\npub type Options = u8;"),
        ]);
        assert_eq!(
            offences_of(&structure),
            ["krate: several types are called Options: krate/src/a.rs:1, krate/src/b/mod.rs:2"]
        );
    }

    #[test]
    fn crates_of_the_host_share_no_name() {
        let of_crate = |name: &str, directory: &str, file: &str, code: &str| {
            let lib = format!("mod {file}; pub use {file}::*;");
            let path = format!("{file}.rs");
            Structure {
                name: name.to_owned(),
                directory: directory.to_owned(),
                ..of_text(&[("lib.rs", &lib), (&path, code)])
            }
        };
        let code = "pub struct Plan; pub(crate) struct Inner;";
        let crates = |other: &str, code_of_other: &str| {
            offences_across_host(&[
                of_crate("one", "host/one", "a", code),
                of_crate("two", other, "b", code_of_other),
            ])
        };
        assert_eq!(
            crates("host/two", code),
            ["several crates of the host have a type Plan: krate/src/a.rs:1, krate/src/b.rs:1"]
        );
        assert!(crates("plugins/two", code).is_empty());
        assert!(crates("host/two", "struct Plan;").is_empty());
        assert!(crates("host/two", "pub struct NamePlan; pub struct Inner;").is_empty());
    }

    #[test]
    fn what_only_its_folder_sees_may_be_called_anything() {
        let files = |inner: &'static str, door: &'static str| {
            shared(&[
                ("lib.rs", "mod a; mod b;"),
                ("a/mod.rs", door),
                ("a/inner.rs", inner),
                ("b/mod.rs", "pub enum State {}"),
            ])
        };
        assert!(files("struct State;", "mod inner;").is_empty());
        assert!(files("pub(super) struct State;", "mod inner;").is_empty());
        assert!(files("pub struct State;", "mod inner;").is_empty());
        assert_eq!(files("pub struct State;", "pub mod inner;"), ["State"]);
        assert_eq!(
            files(
                "pub struct State;",
                "mod inner; pub(crate) use inner::State;"
            ),
            ["State"]
        );
        assert_eq!(
            files("pub struct State;", "mod inner; pub(super) use inner::*;"),
            ["State"]
        );
        assert_eq!(
            files(
                "pub mod deep { pub struct State; } pub use deep::State;",
                "mod inner; pub use inner::*;"
            ),
            ["State"]
        );
        assert!(
            files(
                "pub struct State;",
                "mod inner; pub use inner::State as Other;"
            )
            .is_empty()
        );
        assert_eq!(
            files(
                "pub struct Other;",
                "mod inner; pub use inner::Other as State;"
            ),
            ["State"]
        );
    }

    #[test]
    fn one_type_for_each_system_is_one() {
        let code = "#[cfg(unix)] pub type Handle = u8;\n#[cfg(not(unix))] pub type Handle = u16;";
        let lib = ("lib.rs", "mod a;");
        assert!(shared(&[lib, ("a/mod.rs", code)]).is_empty());
        let nested = "pub type Handle = u8;\n pub mod b { pub type Handle = u16; }";
        assert_eq!(shared(&[lib, ("a/mod.rs", nested)]), ["Handle"]);
    }

    #[test]
    fn what_other_crates_see_is_seen_outside() {
        let files = |visibility: &str| {
            let code = format!("{visibility} struct Name;");
            shared(&[
                ("lib.rs", "pub mod a; pub mod b;"),
                ("a.rs", &code),
                ("b.rs", &code),
            ])
        };
        assert_eq!(files("pub"), ["Name"]);
        assert!(files("pub(crate)").is_empty());
    }
}
