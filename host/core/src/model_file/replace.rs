//! Files that are replaced when they are whole, all or none.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Files that are being written beside their places.
#[derive(Default)]
pub(crate) struct Replacement {
    files: Vec<(PathBuf, NamedTempFile)>,
}

/// What was at a place before.
enum Before {
    Nothing,
    /// It is here now.
    Kept(tempfile::TempPath),
}

impl Replacement {
    /// A new file that will be at `path`, with the rights of what is there. The directory has to exist.
    pub(crate) fn file(&mut self, path: PathBuf) -> io::Result<&mut File> {
        let mut builder = builder();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let known = fs::metadata(&path).map(|known| known.permissions().mode() & 0o777);
            builder.permissions(fs::Permissions::from_mode(known.unwrap_or(0o666)));
        }
        let dir = directory(&path);
        if !dir.is_dir() {
            let message = format!("there is no directory `{}`", dir.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        // Its own error names the temporary file, which means nothing to anybody.
        let made = builder.tempfile_in(dir);
        let made = made.map_err(|error| io::Error::from(error.kind()))?;
        self.files.push((path, made));
        self.last()
    }

    /// The file that was made last.
    pub(crate) fn last(&mut self) -> io::Result<&mut File> {
        match self.files.last_mut() {
            Some((_, file)) => Ok(file.as_file_mut()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// Puts all files in their places, in order. If one can't be, those before it are taken back.
    pub(crate) fn commit(self) -> io::Result<()> {
        let several = self.files.len() > 1;
        let mut done: Vec<(PathBuf, Before)> = Vec::new();
        for (path, file) in self.files {
            let put = match several {
                true => keep(&path).and_then(|before| {
                    done.push((path.clone(), before));
                    file.persist(&path).map_err(|error| error.error)
                }),
                false => file.persist(&path).map_err(|error| error.error),
            };
            if let Err(error) = put {
                for (path, before) in done.into_iter().rev() {
                    // The first error is the one to tell.
                    let _ = match before {
                        Before::Nothing => fs::remove_file(&path),
                        Before::Kept(kept) => kept.persist(&path).map_err(|error| error.error),
                    };
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".passdock-").suffix(".part");
    builder
}

fn directory(path: &Path) -> &Path {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    dir.unwrap_or(Path::new("."))
}

/// Gives what is at a place a second name, for as long as it may have to come back.
fn keep(path: &Path) -> io::Result<Before> {
    if path.symlink_metadata().is_err() {
        return Ok(Before::Nothing);
    }
    let link = |to: &Path| fs::hard_link(path, to);
    let kept = builder().make_in(directory(path), link);
    // Not every file system has links; a copy is as good.
    let copy = |to: &Path| fs::copy(path, to).map(drop);
    let kept = kept.or_else(|_| builder().make_in(directory(path), copy))?;
    Ok(Before::Kept(kept.into_temp_path()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn all_files_are_replaced_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        fs::write(&a, "old").unwrap();
        let fill = |second: &Path| {
            let mut replacement = Replacement::default();
            for path in [&a, second] {
                let file = replacement.file(path.to_path_buf()).unwrap();
                file.write_all(b"new").unwrap();
            }
            replacement
        };
        // Given up before the end.
        drop(fill(&b));
        assert_eq!(names(dir.path()), ["a"]);
        // A directory can't be replaced by a file.
        let full = dir.path().join("full");
        fs::create_dir(&full).unwrap();
        fs::write(full.join("x"), "x").unwrap();
        fill(&full).commit().unwrap_err();
        assert_eq!(fs::read_to_string(&a).unwrap(), "old");
        assert_eq!(names(dir.path()), ["a", "full"]);
        fill(&b).commit().unwrap();
        assert_eq!(names(dir.path()), ["a", "b", "full"]);
        assert_eq!(fs::read_to_string(&a).unwrap(), "new");
        assert_eq!(fs::read_to_string(&b).unwrap(), "new");
    }
}
