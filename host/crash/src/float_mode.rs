//! How a thread computes with floating-point numbers: rounding, and whether small numbers count as zero.
//!
//! A library that was compiled with `-ffast-math` may change it when it is loaded.

/// The mode of a thread; where it isn't known how to ask for it, there is only one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct FloatMode {
    #[cfg(target_arch = "x86_64")]
    sse: u32,
    #[cfg(target_arch = "x86_64")]
    x87: u16,
    #[cfg(target_arch = "aarch64")]
    control: u64,
}

/// The bits of the SSE register that say what happened, and not what is to.
#[cfg(target_arch = "x86_64")]
const EXCEPTIONS: u32 = 0x3f;

impl FloatMode {
    /// The mode of this thread.
    pub(crate) fn now() -> FloatMode {
        #[cfg(target_arch = "x86_64")]
        {
            let (mut sse, mut x87) = (0u32, 0u16);
            // SAFETY: the instructions write to these two and do nothing else.
            unsafe {
                std::arch::asm!(
                    "stmxcsr [{sse}]", "fnstcw [{x87}]",
                    sse = in(reg) &mut sse, x87 = in(reg) &mut x87,
                    options(nostack, preserves_flags),
                );
            }
            let sse = sse & !EXCEPTIONS;
            FloatMode { sse, x87 }
        }
        #[cfg(target_arch = "aarch64")]
        {
            let control;
            // SAFETY: the instruction reads a register.
            unsafe {
                std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags));
            }
            FloatMode { control }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        FloatMode {}
    }

    /// Makes it the mode of this thread.
    pub(crate) fn set(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the values were read from these registers, so that no bit is set that they don't have. Compiled code relies
        // on the mode that it began with, which this one is.
        unsafe {
            std::arch::asm!(
                "ldmxcsr [{sse}]", "fldcw [{x87}]",
                sse = in(reg) &self.sse, x87 = in(reg) &self.x87,
                options(nostack, preserves_flags, readonly),
            );
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            std::arch::asm!("msr fpcr, {}", in(reg) self.control, options(nomem, nostack, preserves_flags));
        }
    }
}
