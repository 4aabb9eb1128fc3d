//! Links the module with the unwinder library in `PASSDOCK_UNWINDER`, if set.
//!
//! zig links its own unwinder into each library. CPython before 3.14 terminates threads with the system's, which
//! unwinds through the module's frames. The two disagree on the frames, and the program aborts.

fn main() {
    println!("cargo::rerun-if-env-changed=PASSDOCK_UNWINDER");
    if let Ok(library) = std::env::var("PASSDOCK_UNWINDER") {
        println!("cargo::rustc-link-arg-cdylib={library}");
    }
}
