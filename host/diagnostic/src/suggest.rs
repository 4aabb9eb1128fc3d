//! "Did you mean" hints: the valid name nearest to a misspelled one.

/// Minimum similarity of a suggested name, from 0 to 1.
const NEAR: f64 = 0.6;

/// Returns the candidate nearest to `name`, if one is similar enough.
///
/// Names with dots are compared mainly by their last part. So `FoldConstants` finds `relax.transform.FoldConstant`, and
/// an equal namespace alone makes no name similar. If the last parts are equal, the namespaces may differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name_lower = name.to_ascii_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        let have = candidate.to_ascii_lowercase();
        let last = strsim::normalized_damerau_levenshtein(last_part(&name_lower), last_part(&have));
        if last < NEAR {
            continue;
        }
        // The whole name breaks ties between namespaces.
        let whole = strsim::normalized_damerau_levenshtein(&name_lower, &have);
        let score = last * 0.9 + whole * 0.1;
        let better = match best {
            Some((top, text)) => score > top || (score == top && candidate < text),
            None => true,
        };
        if better {
            best = Some((score, candidate));
        }
    }
    best.map(|(_, text)| text)
}

/// Returns the hint "did you mean `…`?", if a candidate is similar enough.
pub fn help<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(name, candidates).map(|found| format!("did you mean `{found}`?"))
}

/// Returns the hint "did you mean `…`?", or the list of all candidates: "`head`: `a`, `b`".
pub fn help_or_list<'a, C: IntoIterator<Item = &'a str>>(
    name: &str,
    candidates: impl Fn() -> C,
    head: &str,
) -> String {
    help(name, candidates()).unwrap_or_else(|| format!("{head}: {}", listed(candidates())))
}

/// Returns the end of a message "; did you mean `…`?", or an empty string.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    help(name, candidates).map_or(String::new(), |help| format!("; {help}"))
}

/// Formats a list of names for a sentence.
pub fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|n| format!("`{n}`")).collect();
    match quoted.is_empty() {
        true => "none".to_owned(),
        false => quoted.join(", "),
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_similar_names() {
        let names = [
            "relax.transform.FoldConstant",
            "relax.transform.DeadCodeElimination",
            "tir.transform.UnrollLoop",
        ];
        for (typed, expected) in [
            ("relax.transform.FoldConstants", Some(names[0])),
            ("FoldConstant", Some(names[0])),
            ("foldconstant", Some(names[0])),
            ("tir.transform.UnrolLoop", Some(names[2])),
            ("tir.transfrom.UnrollLoop", Some(names[2])),
            ("acme.UnrollLoop", Some(names[2])),
            ("relax.transform.DeadCode", None),
            ("tir.transform.Missing", None),
            ("acme.transform.Xyzzy", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, names), expected, "{typed}");
        }
    }
}
