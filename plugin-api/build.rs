//! Determines the compiler's name and version, for the manifests of plugins and for attributes that old compilers don't
//! have. The compiler of the SDK is that of the plugin.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).arg("--version").output();
    let output = match output {
        Ok(output) if output.status.success() => output.stdout,
        // The manifest says `rustc` then.
        _ => return,
    };
    let line: String = String::from_utf8_lossy(&output)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    // Attributes `diagnostic::…` are errors before this version.
    let minor = line.split('.').nth(1).and_then(|minor| minor.parse().ok());
    if minor.map_or(false, |minor: u32| minor >= 78) {
        println!("cargo:rustc-check-cfg=cfg(has_diagnostics)");
        println!("cargo:rustc-cfg=has_diagnostics");
    }
    if !line.is_empty() && !line.chars().any(char::is_control) {
        println!("cargo:rustc-env=PASSDOCK_PLUGIN_COMPILER={}", line);
    }
}
