//! What a context says of rewriting by rules: the rules that are disabled, and how many rewrites there may be.

use std::sync::{Arc, Mutex};

use passdock_crash::trace_rewrites;

use super::{ContextSettings, Inner, Instruments, PassContext};
use crate::util;

/// What rules did in a call.
#[derive(Default)]
pub(super) struct Rewritten {
    count: u64,
    /// The rule that was allowed to rewrite, or did, last.
    last: Option<String>,
}

impl PassContext {
    /// Whether a rule of this name may rewrite once more.
    pub(super) fn may_rewrite(&self, rule: &str) -> bool {
        let settings = self.settings();
        if !settings.disabled_rule.is_empty() {
            self.meet_rule(rule);
            if settings.disabled_rule.iter().any(|name| name == rule) {
                return false;
            }
        }
        let Some(limit) = settings.rewrite_limit else {
            return true;
        };
        let mut rewritten = util::lock(&self.0.rewritten);
        let may = rewritten.count < limit;
        if may {
            rewritten.last = Some(rule.to_owned());
            trace_rewrites(rewritten.count, rule);
        }
        may
    }

    /// Counts a rewrite, if they are limited.
    pub(super) fn rewrote(&self, rule: &str) {
        if self.settings().rewrite_limit.is_some() {
            let mut rewritten = util::lock(&self.0.rewritten);
            rewritten.count += 1;
            rewritten.last = Some(rule.to_owned());
            trace_rewrites(rewritten.count, rule);
        }
    }

    /// Begins to count, for a call that no pass makes.
    pub(crate) fn count_rewrites_anew(&self) {
        if self.settings().rewrite_limit.is_some() {
            *util::lock(&self.0.rewritten) = Rewritten::default();
        }
    }

    /// The number of rewrites in the last call under a context with a `rewrite_limit`, and the rule
    /// that was the last one to rewrite, or to begin with it.
    pub fn last_rewrite(&self) -> (u64, Option<String>) {
        let rewritten = util::lock(&self.0.rewritten);
        (rewritten.count, rewritten.last.clone())
    }

    /// A context like this one, in which rules stop after so many rewrites. It has the same
    /// instruments, and records nothing.
    pub fn limited(&self, rewrites: u64) -> PassContext {
        let inner = &*self.0;
        let limited = Inner {
            settings: ContextSettings {
                rewrite_limit: Some(rewrites),
                ..inner.settings.clone()
            },
            required: inner.required.clone(),
            disabled: inner.disabled.clone(),
            // The other passes with these names don't run again.
            met: Mutex::new(util::lock(&inner.met).clone()),
            rewritten: Mutex::default(),
            config: inner.config.clone(),
            given: inner.given.clone(),
            watches_input: inner.watches_input,
            registry: inner.registry.clone(),
            instruments: Mutex::new(Instruments::new(self.instrument_list())),
            judges: inner.judges.clone(),
            is_default: false,
            // Rewrites are counted in the order of the functions.
            pool: None,
            renderer: inner.renderer.clone(),
            recorder: None,
            endings: self.0.endings.clone(),
        };
        PassContext(Arc::new(limited), None)
    }
}
