//! The host's own config options, which are in every registry.

use passdock_loader::{Field, FieldType, Schema};

/// The config key of the fallback device: the device of ops without an assigned device, as DLPack's number.
pub(crate) const FALLBACK_DEVICE: &str = "relax.fallback_device_type";

/// The config key of the check that no pass changes its input module.
pub(crate) const IMMUTABLE_MODULE: &str = "testing.immutable_module";

pub(super) fn schemas() -> [Schema; 2] {
    let immutable = Field {
        doc:
            "Whether to check that no pass changes its input module; passes may only create another module."
                .to_owned(),
        ..Field::new("", FieldType::Bool)
    };
    let device = Field {
        default: 1.into(),
        range: Some((1, i64::from(i32::MAX))),
        doc: "The device of ops without an assigned device, as DLPack's device type; 1 is the CPU."
            .to_owned(),
        ..Field::new("", FieldType::Int)
    };
    [
        Schema::new(IMMUTABLE_MODULE, vec![immutable]),
        Schema::new(FALLBACK_DEVICE, vec![device]),
    ]
}
