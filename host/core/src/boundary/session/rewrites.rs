//! [`Rewrites`]: the numbers of rewrites by rule.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// The applied rules and their numbers of rewrites. Serialized and displayed by decreasing number, then by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Rewrites(BTreeMap<String, u64>);

impl Rewrites {
    /// Counts a rewrite by a rule.
    pub(in crate::boundary) fn count(&mut self, rule: &str) {
        match self.0.get_mut(rule) {
            Some(times) => *times += 1,
            None => _ = self.0.insert(rule.to_owned(), 1),
        }
    }

    /// Adds the rewrites of another function.
    pub(crate) fn add(&mut self, others: Rewrites) {
        for (rule, times) in others.0 {
            *self.0.entry(rule).or_default() += times;
        }
    }

    /// Whether no rule was applied.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of rewrites by all rules.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the number of rewrites by one rule.
    pub fn of(&self, rule: &str) -> u64 {
        self.0.get(rule).copied().unwrap_or(0)
    }

    /// Iterates over the rules and their numbers, by decreasing number, then by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        let mut all: Vec<_> = self.0.iter().map(|(rule, n)| (rule.as_str(), *n)).collect();
        // The sort is stable, so equal numbers stay sorted by name.
        all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        all.into_iter()
    }
}

impl Serialize for Rewrites {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl fmt::Display for Rewrites {
    /// Formats as `add_zero ×12, neg_neg ×3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (rule, times)) in self.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{rule} ×{times}")?;
        }
        Ok(())
    }
}
