//! [`CancellationToken`]: ends a run from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A token that cancels the runs of a context, from any thread. Clones share their state.
///
/// A cancelled run fails before its next pass. A pass that takes long may ask for it
/// ([`PassContext::is_cancelled`](passdock_plugin_api::PassContext::is_cancelled)) and fail earlier.
///
/// ```
/// # extern crate passdock_core as passdock;
/// use passdock::{CancellationToken, PassContext};
///
/// let token = CancellationToken::new();
/// let cx = PassContext::builder().cancellation(token.clone()).build()?;
/// token.cancel();
/// assert!(cx.is_cancelled());
/// # Ok::<(), passdock::PassError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancellationToken(pub(super) Arc<AtomicBool>);

impl CancellationToken {
    /// Creates a token that isn't cancelled.
    pub fn new() -> CancellationToken {
        CancellationToken::default()
    }

    /// Cancels the runs of all contexts with this token.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
