//! The arena IR, its text form and its verifier.
