//! What breaks the rules of structure today, and how often: it may shrink, and may not grow.

/// A rule of structure, and what is counted against it in a crate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Folders that stand in circles of folders.
    Circles,
    /// Lines without tests, when there are too many.
    Lines,
    /// Files more than a folder may have, of all folders.
    Crowded,
    /// Names that stand for several types.
    Names,
}

/// Crates that break a rule, with what is counted. An entry goes when its crate keeps the rule.
const NOT_YET: &[(&str, Rule, usize)] = &[
    ("passdock", Rule::Circles, 22),
    ("passdock", Rule::Lines, 33_500),
    ("passdock", Rule::Crowded, 7),
    ("passdock", Rule::Names, 16),
];

/// Offences of one crate against one rule, given what is counted: none if that is known.
pub(super) fn judge(name: &str, rule: Rule, count: usize, offences: Vec<String>) -> Vec<String> {
    judge_by(NOT_YET, name, rule, count, offences)
}

/// Whether the crate is known to break the rule.
pub(super) fn is_known(name: &str, rule: Rule) -> bool {
    NOT_YET
        .iter()
        .any(|entry| (entry.0, entry.1) == (name, rule))
}

fn judge_by(
    known: &[(&str, Rule, usize)],
    name: &str,
    rule: Rule,
    count: usize,
    mut offences: Vec<String>,
) -> Vec<String> {
    let entry = known
        .iter()
        .find(|entry| (entry.0, entry.1) == (name, rule));
    match entry {
        None => offences,
        Some(_) if count == 0 => {
            vec![format!(
                "{name} keeps the rule {rule:?} now: take it out of NOT_YET"
            )]
        }
        Some((.., most)) if count <= *most => Vec::new(),
        Some((.., most)) => {
            offences.push(format!(
                "{name}: NOT_YET knows of {most} for {rule:?}, and now it's {count}"
            ));
            offences
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Rule, judge_by};

    #[test]
    fn what_is_known_may_not_grow_and_goes_when_it_is_mended() {
        let judge = |name, count| {
            judge_by(
                &[("a", Rule::Lines, 2)],
                name,
                Rule::Lines,
                count,
                vec!["long".to_owned()],
            )
        };
        assert!(judge("a", 1).is_empty());
        assert!(judge("a", 2).is_empty());
        assert_eq!(
            judge("a", 3),
            ["long", "a: NOT_YET knows of 2 for Lines, and now it's 3"]
        );
        assert_eq!(
            judge("a", 0),
            ["a keeps the rule Lines now: take it out of NOT_YET"]
        );
        assert_eq!(judge("b", 1), ["long"]);
    }
}
