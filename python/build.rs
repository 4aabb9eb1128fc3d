//! Links the module with the unwinder that it is told of, `PASSDOCK_UNWINDER`, a library's path.
//!
//! zig links one of its own into each library. CPython before 3.14 ends threads by the system's, which unwinds through
//! the module's frames: by what both make of a frame, the program ends.

fn main() {
    println!("cargo::rerun-if-env-changed=PASSDOCK_UNWINDER");
    if let Ok(library) = std::env::var("PASSDOCK_UNWINDER") {
        println!("cargo::rustc-link-arg-cdylib={library}");
    }
}
