//! Comparison of layouts, cached for each pair, with a description of the difference.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use abi_stable::abi_stability::abi_checking::{
    check_layout_compatibility, AbiInstability, AbiInstabilityErrors, ExpectedFound,
};
use abi_stable::type_layout::{TLField, TLFieldOrFunction, TypeLayout};

/// The addresses of two layouts. They identify the layouts, which are statics of libraries that are never unloaded.
type Pair = (usize, usize);

/// The results of earlier comparisons. An error is the difference.
static COMPARED: Mutex<BTreeMap<Pair, Result<(), String>>> = Mutex::new(BTreeMap::new());

/// Packages whose types' fields aren't named, because they are implementation details.
const INNER: [&str; 2] = ["abi_stable", "std"];

/// Checks that data of the layout `published` may be read as `ours`. An error is the difference.
pub(crate) fn compare(
    own: &'static TypeLayout,
    published: &'static TypeLayout,
) -> Result<(), String> {
    let address = |layout: &'static TypeLayout| layout as *const TypeLayout as usize;
    let pair = (address(own), address(published));
    let compared = || COMPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = compared().get(&pair) {
        return known.clone();
    }
    // Without the lock: two threads may compare the same pair, with the same result.
    let comparison = check_layout_compatibility(own, published).map_err(|errors| describe(&errors));
    compared().entry(pair).or_insert(comparison).clone()
}

/// A difference, and the path of fields to it.
struct Difference<'e> {
    path: &'e [ExpectedFound<TLFieldOrFunction>],
    error: &'e AbiInstability,
}

/// Describes the most specific difference, as a clause.
fn describe(errors: &AbiInstabilityErrors) -> String {
    let all = errors.errors.iter().flat_map(|at| {
        let path = &at.stack_trace[..];
        at.errs.iter().map(move |error| Difference { path, error })
    });
    match all.min_by_key(|difference| rank(difference.error)) {
        Some(difference) => difference.words(errors),
        None => "the layouts differ".to_owned(),
    }
}

/// Returns a lower number for a more specific difference: sizes differ because fields do.
fn rank(error: &AbiInstability) -> u8 {
    match error {
        AbiInstability::Package(_) | AbiInstability::PackageVersion(_) => 0,
        AbiInstability::Name(_) | AbiInstability::MismatchedPrimitive(_) => 1,
        AbiInstability::FieldCountMismatch(_) => 2,
        AbiInstability::UnexpectedField(_) => 3,
        AbiInstability::Size(_) | AbiInstability::Alignment(_) => 5,
        _ => 4,
    }
}

impl Difference<'_> {
    fn words(&self, errors: &AbiInstabilityErrors) -> String {
        let field = self.field();
        let whose = match &field {
            Some(field) => format!("field `{field}`"),
            None => "the type".to_owned(),
        };
        match self.error {
            AbiInstability::Package(packages) => format!(
                "{whose} is from crate `{}`, expected `{}`",
                packages.found, packages.expected
            ),
            AbiInstability::PackageVersion(versions) => format!(
                "{whose} is from version {} of its crate, expected {}",
                versions.found, versions.expected
            ),
            AbiInstability::Name(types) => {
                let verb = if self.path.len() > 1 {
                    "contains"
                } else {
                    "is"
                };
                format!(
                    "{whose} {verb} `{}`, expected `{}`",
                    types.found, types.expected
                )
            }
            AbiInstability::MismatchedPrimitive(types) => format!(
                "{whose} is `{:?}`, expected `{:?}`",
                types.found, types.expected
            ),
            AbiInstability::FieldCountMismatch(_) => {
                let (own, published) = self.layouts(errors);
                let (own, published) = (names(own), names(published));
                let missing_field = |of: &[&str], others: &[&str]| {
                    let missing = others.iter().find(|name| !of.contains(name));
                    missing.map(|name| format!("{whose} lacks field `{name}`"))
                };
                let surplus = published.iter().find(|name| !own.contains(name));
                let surplus =
                    || surplus.map(|name| format!("{whose} has an unexpected field `{name}`"));
                missing_field(&published, &own)
                    .or_else(surplus)
                    .unwrap_or_else(|| format!("{whose} has a different number of fields"))
            }
            AbiInstability::UnexpectedField(fields) => format!(
                "{whose} has field `{}`, expected `{}`",
                fields.found.name(),
                fields.expected.name()
            ),
            AbiInstability::Size(sizes) => format!(
                "{whose} has {} bytes, expected {}",
                sizes.found, sizes.expected
            ),
            error => {
                let words = format!("{error:?}");
                let kind = words.split(['(', ' ', '{']).next().unwrap_or_default();
                format!("{whose} is incompatible (`abi_stable` error: {kind})")
            }
        }
    }

    /// Returns the path of the field that is different: `whole.part`.
    fn field(&self) -> Option<String> {
        let mut names = Vec::new();
        for step in self.path {
            let TLFieldOrFunction::Field(field) = &step.expected else {
                break;
            };
            names.push(field.name());
            if INNER.contains(&field.layout().package().as_str()) {
                break;
            }
        }
        (!names.is_empty()).then(|| names.join("."))
    }

    /// Returns this plugin's layout and the published one of the type at the end of the path.
    fn layouts(&self, errors: &AbiInstabilityErrors) -> (&'static TypeLayout, &'static TypeLayout) {
        match self.path.last() {
            Some(ExpectedFound {
                expected: TLFieldOrFunction::Field(own),
                found: TLFieldOrFunction::Field(published),
            }) => (own.layout(), published.layout()),
            _ => (errors.interface, errors.implementation),
        }
    }
}

fn names(layout: &'static TypeLayout) -> Vec<&'static str> {
    let fields = layout.get_fields().map(|fields| fields.to_vec());
    let names = fields.unwrap_or_default();
    names.iter().map(TLField::name).collect()
}

#[cfg(test)]
mod tests {
    use abi_stable::StableAbi;

    use super::compare;

    /// Declares modules that each have a version of the type `Cost`.
    macro_rules! versions {
        ($($module:ident { $($field:ident: $type:ty),* })*) => {$(
            #[allow(dead_code)] // only the layouts are used
            pub(crate) mod $module {
                #[repr(C)]
                #[derive(abi_stable::StableAbi)]
                pub(crate) struct Cost { $(pub(crate) $field: $type),* }
            }
        )*};
    }

    mod part {
        versions! {
            one { read: u32, written: u32 }
            more { read: u32, written: u32, kept: u32 }
        }
    }

    use abi_stable::std_types::{ROption, RVec};

    versions! {
        first { flops: super::RVec<u64>, peak: u64 }
        same { flops: super::RVec<u64>, peak: u64 }
        element { flops: super::RVec<u32>, peak: u64 }
        primitive { flops: super::RVec<u64>, peak: i64 }
        option { flops: super::RVec<u64>, peak: super::ROption<u64> }
        renamed { flops: super::RVec<u64>, top: u64 }
        swapped { peak: u64, flops: super::RVec<u64> }
        more { flops: super::RVec<u64>, peak: u64, bytes: u64 }
        whole { traffic: super::part::one::Cost }
        whole_of_more { traffic: super::part::more::Cost }
    }

    #[test]
    fn equal_layouts_are_compatible() {
        assert_eq!(compare(first::Cost::LAYOUT, same::Cost::LAYOUT), Ok(()));
        assert_eq!(compare(first::Cost::LAYOUT, same::Cost::LAYOUT), Ok(()));
    }

    #[test]
    fn mismatch_names_the_field() {
        let first = first::Cost::LAYOUT;
        let cases = [
            (
                element::Cost::LAYOUT,
                "field `flops` contains `u32`, expected `u64`",
            ),
            (
                primitive::Cost::LAYOUT,
                "field `peak` is `i64`, expected `u64`",
            ),
            (
                option::Cost::LAYOUT,
                "field `peak` is `ROption`, expected `u64`",
            ),
            (
                renamed::Cost::LAYOUT,
                "the type has field `top`, expected `peak`",
            ),
            (
                swapped::Cost::LAYOUT,
                "the type has field `peak`, expected `flops`",
            ),
            (
                more::Cost::LAYOUT,
                "the type has an unexpected field `bytes`",
            ),
        ];
        for (published, words) in cases {
            // The second result comes from the cache.
            for _ in 0..2 {
                assert_eq!(compare(first, published), Err(words.to_owned()));
            }
        }
        assert_eq!(
            compare(more::Cost::LAYOUT, first),
            Err("the type lacks field `bytes`".to_owned())
        );
        assert_eq!(
            compare(whole::Cost::LAYOUT, whole_of_more::Cost::LAYOUT),
            Err("field `traffic` has an unexpected field `kept`".to_owned())
        );
    }
}
