//! The SDK.
