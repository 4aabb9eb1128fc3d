//! What the command and the Python package have in their registries beside what the library has.

use crate::numerics;
use passdock_core::instrument::stderr;
use passdock_core::{Registry, printing};

/// Registers the instruments `numerics`, `verify-outputs` and `page`, and the pass `PrintIR`, which prints to standard
/// error. What has such a name stays.
pub fn register(registry: &Registry) {
    let instruments = [
        numerics::instrument(),
        numerics::verify_outputs(),
        super::instrument(),
    ];
    for instrument in instruments {
        let _ = registry.register_instrument(instrument);
    }
    let _ = registry.register(printing(stderr()));
}
