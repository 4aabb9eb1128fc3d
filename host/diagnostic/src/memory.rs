//! The memory of this process.

/// The process's memory in bytes, as far as the system tells.
#[derive(Debug, PartialEq)]
pub struct ProcessMemory {
    /// What is in memory now.
    pub resident: Option<u64>,
    /// The most that was.
    pub peak: Option<u64>,
}

impl ProcessMemory {
    #[cfg(target_os = "linux")]
    /// Reads what the system says now.
    pub fn now() -> ProcessMemory {
        let status = std::fs::read_to_string("/proc/self/status");
        ProcessMemory::parse(&status.unwrap_or_default())
    }

    #[cfg(not(target_os = "linux"))]
    /// Nothing: the system isn't asked.
    pub fn now() -> ProcessMemory {
        ProcessMemory::parse("")
    }

    /// Resets the peak to the resident memory; whether the system could do that.
    #[cfg(target_os = "linux")]
    pub fn reset_peak() -> bool {
        // proc(5): 5 resets "the peak resident set size to the current one".
        std::fs::write("/proc/self/clear_refs", "5").is_ok()
    }

    /// Nothing: the system can't.
    #[cfg(not(target_os = "linux"))]
    pub fn reset_peak() -> bool {
        false
    }

    /// The values in `/proc/self/status`, whose "kB" are 1024 bytes.
    fn parse(status: &str) -> ProcessMemory {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kib: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
            Some(kib * 1024)
        };
        ProcessMemory {
            resident: field("VmRSS:"),
            peak: field("VmHWM:"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_is_read() {
        let status =
            "Name:\tpassdock\nVmPeak:\t    9000 kB\nVmHWM:\t    2000 kB\nVmRSS:\t    1500 kB\n";
        let process = ProcessMemory {
            resident: Some(1500 * 1024),
            peak: Some(2000 * 1024),
        };
        assert_eq!(ProcessMemory::parse(status), process);
        let nothing = ProcessMemory {
            resident: None,
            peak: None,
        };
        assert_eq!(ProcessMemory::parse(""), nothing);
        assert_eq!(ProcessMemory::parse("VmRSS: many\n"), nothing);
    }
}
