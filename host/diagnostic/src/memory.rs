//! Memory usage of this process.

/// Memory usage in bytes, as far as the system reports it.
#[derive(Debug, PartialEq)]
pub struct ProcessMemory {
    /// The resident set size.
    pub resident: Option<u64>,
    /// The peak resident set size.
    pub peak: Option<u64>,
}

impl ProcessMemory {
    #[cfg(target_os = "linux")]
    /// Returns the current memory usage.
    pub fn now() -> ProcessMemory {
        let status = std::fs::read_to_string("/proc/self/status");
        ProcessMemory::parse(&status.unwrap_or_default())
    }

    #[cfg(not(target_os = "linux"))]
    /// Returns no values: this system isn't supported.
    pub fn now() -> ProcessMemory {
        ProcessMemory::parse("")
    }

    /// Resets the peak to the current size. Returns `true` if the system supports it.
    #[cfg(target_os = "linux")]
    pub fn reset_peak() -> bool {
        // proc(5): 5 resets "the peak resident set size to the current one".
        std::fs::write("/proc/self/clear_refs", "5").is_ok()
    }

    /// Returns `false`: this system isn't supported.
    #[cfg(not(target_os = "linux"))]
    pub fn reset_peak() -> bool {
        false
    }

    /// Parses `/proc/self/status`, where "kB" means 1024 bytes.
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
    fn linux_status_file_is_parsed() {
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
