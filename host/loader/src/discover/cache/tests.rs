//! Cached manifests are found again for unchanged files, and damaged cache files are ignored.

use std::collections::HashSet;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::{SearchDir, discover};

const MANIFEST: &str = r#"
[plugin]
name = "acme"
version = "1.2.0"
abi = "0.4"
ir = "0.1"
panic = "unwind"
compiler = "rustc"

[[pass]]
name = "acme.transform.Fuse"
kind = "prim_function"
opt_level = 2
required = ["relax.transform.FoldConstant"]
summary = "Fuses."
thread_safe = true
phase = "late"
needs = ["opset >= 13", "acme.seen"]
breaks = ["no-tuples"]
config = "acme.Fuse"
option = [
    { name = "a", type = "int", default = -3, min = -4, max = 8 },
    { name = "b", type = "string", default = "x\t\"", choices = ["x\t\"", "y"] },
    { name = "c", type = "float", default = 0.5, doc = "A number." },
    { name = "d", type = "strings", default = ["one", "two"] },
    { name = "e", type = "ints", default = { n = 4 }, rest = true },
    { name = "f", type = "values", default = { x = [1, 2.5, "three", [true]], "ü" = nan } },
    { name = "g", type = "bool", mandatory = true },
]

[[pass]]
name = "acme.transform.All"
kind = "module"

[[sequential]]
name = "acme.Cleanup"
opt_level = 1
required = ["relax.transform.InferType"]
summary = "Cleans up."
passes = [
    "acme.transform.All",
    { name = "acme.transform.Fuse", options = { a = 4, c = 1.5, d = ["x"], e = { n = 1 }, f = { "a b" = [1] } } },
]

[[config]]
key = "acme.Fuse"
field = [{ name = "a", type = "int" }]

[[config]]
key = "acme.Target"
field = [{ name = "", type = "string" }]

[[op]]
name = "acme.Gelu"
since = 3

[[instrument]]
name = "acme.watch"
summary = "Watches."
option = [{ name = "limit", type = "int" }]
"#;

/// A directory with a file that says `content`, and one for what is kept.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new(content: &str) -> Place {
        let dir = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(dir.path().join("plugins")).expect("a new directory");
        let place = Place { dir };
        fs::write(place.file(), content).expect("writes");
        place
    }

    fn plugins(&self) -> PathBuf {
        self.dir.path().join("plugins")
    }

    fn file(&self) -> PathBuf {
        let file = self.plugins().join("acme");
        file.with_extension(file::EXTENSION)
    }

    fn cache(&self) -> ManifestCache {
        ManifestCache::new(self.dir.path().join("kept"))
    }

    /// The file in which it is kept.
    fn kept(&self) -> PathBuf {
        self.cache().of(&self.plugins()).path
    }

    /// Keeps what the file is said to be, some time after it was written.
    fn keep(&self) {
        let mut kept = self.cache().of(&self.plugins());
        kept.at += Duration::from_secs(10);
        kept.keep(&[self.plugin()]);
    }

    fn plugin(&self) -> Arc<Plugin> {
        let manifest = Manifest::parse(MANIFEST).expect("a good manifest");
        let meta = fs::metadata(self.file()).expect("it is there");
        let plugin = Plugin::known(&self.file(), manifest, Identity::of(&meta));
        Arc::new(plugin)
    }

    fn found(&self) -> Option<Plugin> {
        self.cache().of(&self.plugins()).plugin(&self.file())
    }
}

#[test]
fn all_of_a_manifest_comes_back() {
    let manifest = Manifest::parse(MANIFEST).expect("a good manifest");
    let mut bytes = Vec::new();
    manifest.put(&mut bytes);
    let mut rest = &bytes[..];
    let back = Manifest::get(&mut rest).expect("it was just written");
    // Not a number isn't itself.
    assert_eq!(format!("{back:?}"), format!("{manifest:?}"));
    assert!(rest.is_empty());
    for len in 0..bytes.len() {
        assert_eq!(Manifest::get(&mut &bytes[..len]), None);
    }
}

#[test]
fn it_is_found_again_for_the_file_in_the_same_state() {
    let place = Place::new("1");
    assert!(place.found().is_none());
    place.keep();
    let found = place.found().expect("it was kept");
    assert_eq!(found.name(), "acme");
    // As long, and as old as far as anybody can say.
    let before = fs::metadata(place.file()).expect("it is there");
    let modified = before.modified().expect("a time");
    fs::write(place.file(), "2").expect("writes");
    let written = fs::File::options().write(true).open(place.file());
    let touched = written.and_then(|file| file.set_modified(modified));
    touched.expect("sets the time");
    assert!(place.found().is_none());
    place.keep();
    assert!(place.found().is_some());
    fs::copy(place.file(), place.plugins().join("copy")).expect("copies");
    fs::rename(place.plugins().join("copy"), place.file()).expect("renames");
    assert!(place.found().is_none());
}

/// The plugin is known without its file being opened: no host can read this one.
#[test]
fn a_search_takes_what_is_kept() {
    let place = Place::new("no library");
    let search = || {
        let dirs = [SearchDir {
            mixed: false,
            path: place.plugins(),
            required: true,
        }];
        discover(&dirs, Some(&place.cache())).expect("the directory is there")
    };
    assert_eq!(search().unreadable.len(), 1);
    place.keep();
    let found = search();
    assert!(found.unreadable.is_empty());
    assert_eq!(found.plugins[0].name(), "acme");
    // What was found is what is kept, so that nothing is written.
    fs::write(place.kept(), "spoilt").expect("writes");
    assert_eq!(search().unreadable.len(), 1);
}

#[test]
fn what_changed_just_now_is_not_kept() {
    let place = Place::new("1");
    let kept = place.cache().of(&place.plugins());
    kept.keep(&[place.plugin()]);
    assert!(place.found().is_none() && !place.kept().exists());
    let settled = |changed: i128, now: u64| {
        let mut identity = *place.plugin().file().expect("a file");
        identity.changed = changed;
        identity.is_settled(SystemTime::UNIX_EPOCH + Duration::from_secs(now))
    };
    assert!(settled(5_000_000_001, 8));
    assert!(!settled(5_000_000_001, 7));
    assert!(!settled(5_000_000_001, 2), "from the future");
    assert!(!settled(5_000_000_000, 100), "a clock of whole seconds");
}

#[test]
fn a_spoilt_file_is_none() {
    let place = Place::new("1");
    place.keep();
    let good = fs::read(place.kept()).expect("it is there");
    for at in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(place.kept(), &bad).expect("writes");
        assert!(place.found().is_none(), "byte {at}");
    }
    for len in (0..good.len()).step_by(7) {
        fs::write(place.kept(), &good[..len]).expect("writes");
        assert!(place.found().is_none(), "{len} bytes");
    }
    // Even if the sum is right.
    let header = header();
    for len in (0..good.len() - header.len() - 8).step_by(7) {
        let body = &good[header.len() + 8..][..len];
        let sum = checksum(body).to_le_bytes();
        let bytes = [header.as_bytes(), &sum, body].concat();
        fs::write(place.kept(), bytes).expect("writes");
        assert!(place.found().is_none(), "{len} bytes");
    }
    place.keep();
    assert!(place.found().is_some());
}

#[test]
fn a_file_that_others_may_write_is_none() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new("1");
    place.keep();
    let allow = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(place.kept(), permissions).expect("it is ours");
    };
    let mode = fs::metadata(place.kept()).expect("there").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    allow(0o622);
    assert!(place.found().is_none());
    allow(0o644);
    assert!(place.found().is_some());
}

#[test]
fn a_directory_that_cannot_be_written_is_no_matter() {
    let place = Place::new("1");
    fs::write(place.dir.path().join("kept"), "no directory").expect("writes");
    place.keep();
    assert!(place.found().is_none());
}

/// Each directory of plugins has a file of its own; the oldest go.
#[test]
fn there_are_only_so_many_files() {
    let place = Place::new("1");
    for number in 0..MAX_FILES + 6 {
        let mut kept = place.cache().of(&place.plugins().join(number.to_string()));
        kept.at += Duration::from_secs(10);
        kept.keep(&[place.plugin()]);
    }
    place.keep();
    let files = fs::read_dir(place.dir.path().join("kept")).expect("there");
    assert_eq!(files.count(), MAX_FILES);
    assert!(place.found().is_some(), "the newest stays");
}

/// A plugin that is gone, and one that came, are noticed.
#[test]
fn what_is_kept_is_what_is_there() {
    let place = Place::new("1");
    place.keep();
    let before = fs::read(place.kept()).expect("there");
    let mut kept = place.cache().of(&place.plugins());
    kept.at += Duration::from_secs(10);
    kept.keep(&[]);
    assert!(place.found().is_none());
    place.keep();
    assert_eq!(fs::read(place.kept()).expect("there"), before);
}

#[test]
fn several_processes_at_once_read_and_write_whole_files() {
    let place = Place::new("1");
    place.keep();
    let whole: HashSet<Vec<u8>> = [fs::read(place.kept()).expect("there")].into();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let _ = fs::remove_file(place.kept());
                    place.keep();
                    if let Ok(bytes) = fs::read(place.kept()) {
                        assert!(whole.contains(&bytes));
                    }
                }
            });
        }
    });
    place.keep();
    let left = fs::read_dir(place.dir.path().join("kept")).expect("there");
    assert_eq!(left.count(), 1, "nothing temporary is left");
}
