//! `passdock lock` and `passdock verify-provenance`.

pub(super) mod lock;
pub(super) mod verify_provenance;
