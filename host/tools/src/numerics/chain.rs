//! The modules that passes make one from another: each is run once, and compared with the one before.

use passdock_ir::Module;

use super::check::{Checker, NoResults, Reason, SampleOutputs};
use super::compare::Compared;
use super::elements::Overrides;
use super::precision::brought_in;
use super::report::Row;
use super::samples::Sample;

/// Modules that came one from another, on one thread.
pub(super) struct Chain {
    /// The reason why none of them is checked.
    pub(super) broken: Option<Reason>,
    pub(super) samples: Vec<Sample>,
    /// The module that the chain began with, and its results.
    first: Module,
    original: Option<SampleOutputs>,
    /// The last module that ran, and its results.
    last: Option<(Module, SampleOutputs)>,
    /// The last module that didn't, and why.
    unrunnable: Option<(Module, NoResults)>,
    /// The passes since the last module that ran.
    pending: Vec<String>,
    /// The module that the last pass made.
    seen: Module,
    frames: Vec<Frame>,
}

/// A pass that runs.
struct Frame {
    module: Module,
    /// The results of `module`, if they are known.
    results: Option<SampleOutputs>,
    /// Whether another pass ran inside it.
    has_inner: bool,
}

impl Chain {
    pub(super) fn new(checker: &Result<Checker, Reason>, module: &Module) -> Chain {
        let base = checker.as_ref().map_err(Reason::clone);
        let base = base.and_then(|checker| checker.baseline(module));
        let mut chain = Chain {
            broken: None,
            samples: Vec::new(),
            first: module.clone(),
            original: None,
            last: None,
            unrunnable: None,
            pending: Vec::new(),
            seen: module.clone(),
            frames: Vec::new(),
        };
        match base {
            Err(reason) => chain.broken = Some(reason),
            Ok(base) => {
                chain.samples = base.samples;
                chain.original = Some(base.results.clone());
                chain.last = Some((module.clone(), base.results));
            }
        }
        chain
    }

    /// Whether a module may come from another one: no pass runs that it could come from.
    pub(super) fn is_new(&self, module: &Module) -> bool {
        self.frames.is_empty() && !self.seen.is_same(module)
    }

    pub(super) fn begin(&mut self, module: &Module) {
        if let Some(outer) = self.frames.last_mut() {
            outer.has_inner = true;
        }
        let results = self
            .last
            .as_ref()
            .filter(|(known, _)| known.is_same(module));
        self.frames.push(Frame {
            module: module.clone(),
            results: results.map(|(_, results)| results.clone()),
            has_inner: false,
        });
    }

    /// Ends a pass that failed.
    pub(super) fn drop_frame(&mut self) {
        self.frames.pop();
    }

    /// Ends the innermost pass, and says what it did; `None` if those inside it did it.
    pub(super) fn end(
        &mut self,
        checker: Option<&Checker>,
        module: &Module,
        pass: &str,
    ) -> Option<Row> {
        let frame = self.frames.pop()?;
        if frame.has_inner && module.is_same(&self.seen) {
            return None;
        }
        self.seen = module.clone();
        let mut row = Row {
            pass: pass.to_owned(),
            compared: None,
            total: None,
            computed_in: None,
            together: Vec::new(),
        };
        if module.is_same(&frame.module) {
            return Some(row);
        }
        let (None, Some(checker)) = (&self.broken, checker) else {
            let reason = self.broken.as_ref().map(|reason| reason.text.clone());
            row.compared = Some(Compared::NotChecked(reason.unwrap_or_default()));
            return Some(row);
        };
        let before = match frame.results {
            Some(results) => Ok(results),
            None => self.results(checker, &frame.module),
        };
        // Where it can't run, what ran last stands for it.
        let base = before
            .clone()
            .ok()
            .or_else(|| Some(self.last.as_ref()?.1.clone()));
        let after = self.results(checker, module);
        row.computed_in = brought_in(&self.first, module);
        let overrides = Overrides {
            computed_in: row.computed_in,
            ..checker.overrides()
        };
        row.compared = Some(match (base, &after) {
            (Some(base), Ok(after)) => Compared::new(&base, after, overrides),
            (Some(_), Err(NoResults::Failed(error))) if before.is_ok() => {
                Compared::failing(error.clone())
            }
            (_, Err(NoResults::Refused(reason) | NoResults::Failed(reason))) => {
                Compared::NotChecked(reason.clone())
            }
            (None, Ok(_)) => Compared::NotChecked("nothing ran before it".to_owned()),
        });
        match &after {
            Ok(after) => {
                if before.is_err() {
                    row.together = std::mem::take(&mut self.pending);
                }
                let original = self.original.as_ref();
                row.total =
                    original.and_then(|original| Compared::new(original, after, overrides).error());
            }
            Err(_) => self.pending.push(pass.to_owned()),
        }
        Some(row)
    }

    /// The results of a module, which is run if they aren't known.
    fn results(&mut self, checker: &Checker, module: &Module) -> Result<SampleOutputs, NoResults> {
        match (&self.last, &self.unrunnable) {
            (Some((known, results)), _) if known.is_same(module) => return Ok(results.clone()),
            (_, Some((known, reason))) if known.is_same(module) => return Err(reason.clone()),
            _ => {}
        }
        let results = checker.run(module, &self.samples);
        match &results {
            Ok(results) => self.last = Some((module.clone(), results.clone())),
            Err(reason) => self.unrunnable = Some((module.clone(), reason.clone())),
        }
        results
    }
}
