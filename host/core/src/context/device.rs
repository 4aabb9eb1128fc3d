//! The fallback device: the device of ops that no device is named for.

use super::{ContextBuilder, PassContext};
use crate::config::FALLBACK_DEVICE;

/// A kind of device, by its number in DLPack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceType(pub i64);

impl DeviceType {
    /// The processor that the host runs on.
    pub const CPU: DeviceType = DeviceType(1);
    /// A GPU of NVIDIA, through CUDA.
    pub const CUDA: DeviceType = DeviceType(2);
    /// A device of OpenCL.
    pub const OPENCL: DeviceType = DeviceType(4);
    /// A device of Vulkan.
    pub const VULKAN: DeviceType = DeviceType(7);
    /// A GPU of Apple, through Metal.
    pub const METAL: DeviceType = DeviceType(8);
    /// A GPU of AMD, through ROCm.
    pub const ROCM: DeviceType = DeviceType(10);
}

impl PassContext {
    /// The device of ops that no device is named for: the CPU, unless `relax.fallback_device_type`
    /// is set to another one.
    pub fn fallback_device(&self) -> DeviceType {
        match self.config(FALLBACK_DEVICE).and_then(|value| value.get("")) {
            Some(toml::Value::Integer(number)) => DeviceType(*number),
            _ => DeviceType::CPU,
        }
    }
}

impl ContextBuilder {
    /// Sets `relax.fallback_device_type`, the device of ops that no device is named for.
    pub fn fallback_device(self, device: DeviceType) -> ContextBuilder {
        self.config(FALLBACK_DEVICE, device.0)
    }
}
