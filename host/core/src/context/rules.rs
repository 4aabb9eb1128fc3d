//! The settings of a context for rewrite rules: disabled rules, and the rewrite limit.

use std::sync::{Arc, Mutex};

use passdock_crash::trace_rewrites;

use super::{ContextSettings, Inner, Instruments, PassContext};
use crate::util;

/// The rewrites in a call.
#[derive(Default)]
pub(super) struct Rewritten {
    count: u64,
    /// The last rule that rewrote, or was allowed to.
    last: Option<String>,
}

impl PassContext {
    /// Whether a rule may rewrite again.
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

    /// Counts a rewrite, if there is a limit.
    pub(super) fn rewrote(&self, rule: &str) {
        if self.settings().rewrite_limit.is_some() {
            let mut rewritten = util::lock(&self.0.rewritten);
            rewritten.count += 1;
            rewritten.last = Some(rule.to_owned());
            trace_rewrites(rewritten.count, rule);
        }
    }

    /// Resets the count, for a call from outside of passes.
    pub(crate) fn reset_rewrite_count(&self) {
        if self.settings().rewrite_limit.is_some() {
            *util::lock(&self.0.rewritten) = Rewritten::default();
        }
    }

    /// Returns the number of rewrites in the last call under a context with a `rewrite_limit`, and the last rule that
    /// rewrote or started to.
    pub fn last_rewrite(&self) -> (u64, Option<String>) {
        let rewritten = util::lock(&self.0.rewritten);
        (rewritten.count, rewritten.last.clone())
    }

    /// Returns a copy of this context with another `rewrite_limit`. It has the same instruments and no recorder.
    pub fn limited(&self, rewrites: u64) -> PassContext {
        let inner = &*self.0;
        let limited = Inner {
            settings: ContextSettings {
                rewrite_limit: Some(rewrites),
                ..inner.settings.clone()
            },
            required: inner.required.clone(),
            disabled: inner.disabled.clone(),
            // Names that occurred remain: their passes don't run again.
            met: Mutex::new(util::lock(&inner.met).clone()),
            rewritten: Mutex::default(),
            config: inner.config.clone(),
            given: inner.given.clone(),
            watches_input: inner.watches_input,
            registry: inner.registry.clone(),
            instruments: Mutex::new(Instruments::new(self.instrument_list())),
            checking_instruments: inner.checking_instruments.clone(),
            is_default: false,
            // Rewrites are counted in the order of the functions.
            pool: None,
            renderer: inner.renderer.clone(),
            recorder: None,
            cancellation: self.0.cancellation.clone(),
            endings: self.0.endings.clone(),
        };
        PassContext(Arc::new(limited), None)
    }
}
