//! One name, one thing: types that are seen outside their folder share no name in their crate.

use crate::structure::Structure;

pub(super) fn offences(crates: &[Structure]) -> Vec<String> {
    crates.iter().flat_map(offences_of).collect()
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

#[cfg(test)]
mod tests {
    use super::offences_of;
    use crate::structure::of_text;

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
