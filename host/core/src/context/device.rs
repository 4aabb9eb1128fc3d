//! The fallback device: the device of ops without an assigned device.

use super::{ContextBuilder, PassContext};
use crate::config::FALLBACK_DEVICE;

/// A kind of device, as DLPack's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceType(pub i64);

impl DeviceType {
    /// The host's processor.
    pub const CPU: DeviceType = DeviceType(1);
    /// An NVIDIA GPU, through CUDA.
    pub const CUDA: DeviceType = DeviceType(2);
    /// An OpenCL device.
    pub const OPENCL: DeviceType = DeviceType(4);
    /// A Vulkan device.
    pub const VULKAN: DeviceType = DeviceType(7);
    /// An Apple GPU, through Metal.
    pub const METAL: DeviceType = DeviceType(8);
    /// An AMD GPU, through ROCm.
    pub const ROCM: DeviceType = DeviceType(10);
}

impl PassContext {
    /// Returns the device of ops without an assigned device: the CPU, unless `relax.fallback_device_type` is set.
    pub fn fallback_device(&self) -> DeviceType {
        match self.config(FALLBACK_DEVICE).and_then(|value| value.get("")) {
            Some(toml::Value::Integer(number)) => DeviceType(*number),
            _ => DeviceType::CPU,
        }
    }
}

impl ContextBuilder {
    /// Sets `relax.fallback_device_type`, the device of ops without an assigned device.
    pub fn fallback_device(self, device: DeviceType) -> ContextBuilder {
        self.config(FALLBACK_DEVICE, device.0)
    }
}
