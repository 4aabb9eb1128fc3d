//! What the models make of the samples, output by output.

use serde::Serialize;

use super::elements::{self, Apart, Overrides};
use super::ort::{ModelOutput, OutputValue, Tensor};

/// An output, over all runs.
#[derive(Clone, Debug, Serialize)]
pub struct OutputComparison {
    /// Its name; of a sequence or a map, each tensor in it with where it stands.
    pub name: String,
    /// Whether it is the same.
    pub same: bool,
    /// The number of elements that were compared; two for a complex one.
    pub elements: u64,
    /// The number of elements that are further apart than is allowed.
    pub differing: u64,
    /// The largest distance as a part of what is allowed; `null` in JSON: no number.
    pub ratio: f64,
    /// The largest distance; `None`: all are equal, or they are no numbers.
    pub absolute: Option<Largest>,
    /// The largest distance as a part of the larger of two elements.
    pub relative: Option<Largest>,
    /// The element that is furthest beyond what is allowed.
    pub worst: Option<Largest>,
    /// The types, where these differ, or that it can't be looked into.
    pub what: Option<String>,
}

/// The largest distance, and where it is.
#[derive(Clone, Debug, Serialize)]
pub struct Largest {
    /// The distance; `null` in JSON: an infinite one, or only equality counts.
    pub value: f64,
    /// The run, from 0.
    pub run: usize,
    /// The index of the element.
    pub index: Vec<u64>,
    /// The element before.
    pub before: String,
    /// The element after.
    pub after: String,
}

impl Largest {
    fn of(apart: Apart, run: usize) -> Largest {
        Largest {
            value: apart.by,
            run,
            index: apart.index,
            before: apart.before,
            after: apart.after,
        }
    }

    /// `[0, 3]`.
    pub(super) fn place(&self) -> String {
        let index: Vec<String> = self.index.iter().map(u64::to_string).collect();
        format!("[{}]", index.join(", "))
    }

    /// `0.5 → 0.25`.
    pub(super) fn values(&self) -> String {
        format!("{} → {}", self.before, self.after)
    }
}

impl OutputComparison {
    fn new(name: String) -> OutputComparison {
        OutputComparison {
            name,
            same: true,
            elements: 0,
            differing: 0,
            ratio: 0.0,
            absolute: None,
            relative: None,
            worst: None,
            what: None,
        }
    }

    fn differ(&mut self, what: String) {
        self.same = false;
        self.ratio = f64::INFINITY;
        self.what.get_or_insert(what);
    }

    fn add(&mut self, run: usize, before: &Tensor, after: &Tensor, overrides: Overrides) {
        if (before.dtype, &before.shape) != (after.dtype, &after.shape) {
            return self.differ(format!("was {} and is {}", before.ty(), after.ty()));
        }
        let measured = elements::measure(before, after, overrides);
        self.elements += measured.of;
        self.differing += measured.beyond;
        self.same &= measured.beyond == 0;
        if measured.beyond > 0 && (self.worst.is_none() || measured.ratio > self.ratio) {
            self.worst = measured.worst.map(|(apart, _)| Largest::of(apart, run));
        }
        self.ratio = self.ratio.max(measured.ratio);
        for (known, found) in [
            (&mut self.absolute, measured.absolute),
            (&mut self.relative, measured.relative),
        ] {
            let Some(found) = found else { continue };
            if known.as_ref().is_none_or(|known| found.by > known.value) {
                *known = Some(Largest::of(found, run));
            }
        }
    }

    /// The difference in a sentence.
    pub(super) fn sentence(&self) -> String {
        let name = &self.name;
        if let Some(what) = &self.what {
            return format!("output `{name}` {what}");
        }
        let counted = format!("{} of {} elements differ", self.differing, self.elements);
        let Some(worst) = &self.worst else {
            return format!("output `{name}`: {counted}");
        };
        let by = match worst.value.is_finite() {
            true => format!(", {:.3e} apart", worst.value),
            false => String::new(),
        };
        let largest = match &self.absolute {
            Some(largest) if largest.value.is_finite() && largest.value > worst.value => format!(
                "; the largest difference is {:.3e}, at {}",
                largest.value,
                largest.place()
            ),
            _ => String::new(),
        };
        format!(
            "output `{name}`{} was {} and is {} now{by}{largest}; {counted}",
            worst.place(),
            worst.before,
            worst.after
        )
    }
}

/// The outputs of runs, as they come.
pub(super) struct Outputs {
    overrides: Overrides,
    all: Vec<OutputComparison>,
}

impl Outputs {
    pub(super) fn new(overrides: Overrides) -> Outputs {
        Outputs {
            overrides,
            all: Vec::new(),
        }
    }

    pub(super) fn done(self) -> Vec<OutputComparison> {
        self.all
    }

    /// Compares what one run made. Outputs that only one model has are the interface's business.
    pub(super) fn add(&mut self, run: usize, before: &[ModelOutput], after: &[ModelOutput]) {
        for old in before {
            let Some(new) = after.iter().find(|new| new.name == old.name) else {
                continue;
            };
            match (&old.value, &new.value) {
                (OutputValue::Tensors(from), OutputValue::Tensors(to)) => {
                    self.add_tensors(run, &old.name, from, to);
                }
                // An optional value that isn't there.
                (OutputValue::Opaque("nothing"), OutputValue::Opaque("nothing")) => {
                    self.named(&old.name);
                }
                (OutputValue::Opaque(kind), _) | (_, OutputValue::Opaque(kind)) => {
                    let what = format!("is {kind} in one of the models, which can't be compared");
                    self.named(&old.name).differ(what);
                }
            }
        }
    }

    fn add_tensors(
        &mut self,
        run: usize,
        name: &str,
        before: &[(String, Tensor)],
        after: &[(String, Tensor)],
    ) {
        let places = |parts: &[(String, Tensor)]| {
            parts
                .iter()
                .map(|(place, _)| place.clone())
                .collect::<Vec<_>>()
        };
        if places(before) != places(after) {
            let what = format!("had {} tensors and has {}", before.len(), after.len());
            return self.named(name).differ(what);
        }
        let overrides = self.overrides;
        for ((place, before), (_, after)) in before.iter().zip(after) {
            self.named(&format!("{name}{place}"))
                .add(run, before, after, overrides);
        }
    }

    fn named(&mut self, name: &str) -> &mut OutputComparison {
        let known = self.all.iter().position(|output| output.name == name);
        let at = known.unwrap_or_else(|| {
            self.all.push(OutputComparison::new(name.to_owned()));
            self.all.len() - 1
        });
        &mut self.all[at]
    }
}
