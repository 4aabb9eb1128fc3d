//! The host's own config options, which every registry has.

use passdock_loader::{Field, FieldValue, Schema};

/// The key of the fallback device: the device of ops that no device is named for, by its number in
/// DLPack.
pub(crate) const FALLBACK_DEVICE: &str = "relax.fallback_device_type";

/// The key of the check that no pass changes the module that it was given.
pub(crate) const IMMUTABLE_MODULE: &str = "testing.immutable_module";

pub(super) fn schemas() -> [Schema; 2] {
    [
        scalar(
            IMMUTABLE_MODULE,
            FieldValue::Bool(false),
            None,
            "Check that no pass changes the module that it was given: it may only make another one.",
        ),
        scalar(
            FALLBACK_DEVICE,
            FieldValue::Int(1),
            Some((1, i64::from(i32::MAX))),
            "The device of ops that no device is named for, by its number in DLPack; 1 is the CPU.",
        ),
    ]
}

fn scalar(key: &str, default: FieldValue, range: Option<(i64, i64)>, doc: &str) -> Schema {
    let field = Field {
        doc: doc.to_owned(),
        range,
        ..Field::new("", default)
    };
    Schema::new(key, vec![field])
}
