//! The instruments and passes that the command and the Python package register in addition to the library's.

use crate::numerics;
use passdock_core::instrument::stderr;
use passdock_core::{Registry, printing};

/// Registers the instruments `numerics`, `verify-outputs` and `page`, and the pass `PrintIR`, which prints to standard
/// error. Existing entries of these names aren't replaced.
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
