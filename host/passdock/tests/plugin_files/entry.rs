//! The entry of a plugin, and reserved fields of its table.

use expect_test::expect;
use passdock::plugin::{Plugin, host};

use super::{check_load, library, parts, temp_dir};

#[test]
fn nonzero_reserved_field_is_rejected() {
    let mut parts = parts("c.transform.One");
    parts.table = "{ sizeof(Plugin), 7, passes, 1, sizeof(Pass), 0, 0, 0 }";
    check_load(
        &parts,
        &expect![
            "cannot load plugin `DIR/plugin.so`: malformed table of the entry function: `reserved` must be 0; build \
                the plugin again"
        ],
    );
}

/// Registries of one program that load the same library concurrently.
#[test]
fn entry_is_called_by_one_thread_at_a_time() {
    let mut parts = parts("c.transform.One");
    parts.more += "static volatile int inside;\n";
    parts.entry = "if (inside) return 0;\n\
        inside = 1; for (volatile long i = 0; i < 50000000; i++); inside = 0;\n\
        return &plugin;";
    let dir = temp_dir();
    let lib = library(dir.path(), "plugin");
    if !parts.build(&lib) {
        return;
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let plugin = Plugin::open(&lib).expect("the file is fine");
                let loaded = plugin.load(host()).map(|loaded| loaded.passes().len());
                assert_eq!(loaded.expect("no concurrent call"), 1);
            });
        }
    });
}

#[cfg(unix)]
#[test]
fn entry_receives_the_absolute_path() {
    let mut parts = parts("c.transform.One");
    parts.entry = "if (attach->path.ptr[0] == '/') return &plugin;\n\
        attach->reason = attach->path; return 0;";
    let dir = temp_dir();
    let lib = library(dir.path(), "plugin");
    if !parts.build(&lib) {
        return;
    }
    let current = std::env::current_dir().expect("a current directory");
    let up: std::path::PathBuf = current.components().skip(1).map(|_| "..").collect();
    let relative = up.join(lib.strip_prefix("/").expect("an absolute path"));
    let plugin = Plugin::open(&relative).expect("the file is fine");
    let loaded = plugin.load(host()).map(|loaded| loaded.passes().len());
    assert_eq!(loaded.map_err(|error| error.to_string()), Ok(1));
}
