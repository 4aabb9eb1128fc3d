//! External data of tensors.

use std::path::Path;

use passdock_ir::ConstantData;

use super::build::{Msg, graph, model, node};
use super::{main_of, value};
use crate::format::schema::{graph as graphs, tensor};

fn external(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut weights = Msg::new()
        .int(tensor::DIMS, 2)
        .int(tensor::DATA_TYPE, 1)
        .text(tensor::NAME, "w")
        .int(tensor::DATA_LOCATION, 1);
    for (key, value) in entries {
        weights = weights.msg(
            tensor::EXTERNAL_DATA,
            &Msg::new().text(1, key).text(2, value),
        );
    }
    let body = graph(&[node("y = Add(x, w)")], &["x"], &["y"]);
    model(10, &body.msg(graphs::INITIALIZER, &weights)).0
}

/// Reads a model with external data in `directory`. Returns the data, or the error.
fn load(directory: &Path, entries: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    let bytes = external(entries);
    let path = directory.join("model.onnx");
    std::fs::write(&path, &bytes).unwrap();
    let mut module = crate::read(&path).map_err(|error| error.to_string())?;
    assert!(super::bytes_of(&module) == bytes);
    assert!(
        super::real::sorted_fields(&super::fresh_bytes_of(&module))
            == super::real::sorted_fields(&bytes)
    );
    let f = main_of(&mut module);
    let data: &ConstantData = f.constant_data(f.value(value(f, "w")).constant);
    data.bytes().map(<[u8]>::to_vec)
}

#[test]
fn external_data_is_read_on_demand() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("data")).unwrap();
    std::fs::write(
        directory.path().join("data/w.bin"),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    )
    .unwrap();
    let at = |entries: &[_]| load(directory.path(), entries);
    assert_eq!(
        at(&[("location", "data/w.bin")]),
        Ok(vec![1, 2, 3, 4, 5, 6, 7, 8])
    );
    let entries = [
        ("location", "./data/w.bin"),
        ("offset", "2"),
        ("length", "8"),
        ("checksum", "?"),
    ];
    assert_eq!(at(&entries), Ok(vec![3, 4, 5, 6, 7, 8, 9, 10]));
}

#[test]
fn missing_or_forbidden_external_data_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(directory.path().join("secret"), [0; 8]).unwrap();
    std::fs::write(inner.join("short"), [0; 7]).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", inner.join("link")).unwrap();
    let secret = directory.path().join("secret");
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[("location", "../secret")],
            "not inside the model's directory",
        ),
        (
            &[("location", secret.to_str().unwrap())],
            "not inside the model's directory",
        ),
        (&[("location", "")], "not inside the model's directory"),
        #[cfg(unix)]
        (
            &[("location", "link")],
            "a link out of the model's directory",
        ),
        (&[("location", "missing")], "/missing`: "),
        (&[("location", ".")], "could not read"),
        (
            &[("location", "short")],
            "could not read 8 bytes at offset 0 of ",
        ),
        (
            &[("location", "short"), ("offset", "18446744073709551615")],
            "could not read 8 bytes at offset ",
        ),
        (
            &[("location", "short"), ("offset", "-1")],
            "is not a number",
        ),
        (
            &[("location", "short"), ("length", "7")],
            "expected 8 bytes of external data for the tensor's shape, found 7",
        ),
        (&[("offset", "0")], "has no location"),
    ];
    for (entries, expected) in cases {
        let error = load(&inner, entries).unwrap_err();
        assert!(error.contains(expected), "{entries:?}: {error}");
        assert!(!error.ends_with('.'), "{error}");
    }
}

/// Only regular files of the directory are opened; opening a pipe would block.
#[cfg(unix)]
#[test]
fn external_data_must_be_a_regular_file() {
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("inner");
    std::fs::create_dir_all(inner.join("data")).unwrap();
    std::fs::create_dir(directory.path().join("outside")).unwrap();
    std::fs::write(directory.path().join("outside/w.bin"), [0; 8]).unwrap();
    symlink("../outside", inner.join("way")).unwrap();
    symlink("/dev/zero", inner.join("zeros")).unwrap();
    symlink("loop", inner.join("loop")).unwrap();
    let status = std::process::Command::new("mkfifo")
        .arg(inner.join("pipe"))
        .status();
    assert!(status.unwrap().success());
    let cases = [
        "way/w.bin",
        "data/../../outside/w.bin",
        "zeros",
        "pipe",
        "data",
        "loop",
        "w.bin\0",
        "data/w.bin/",
    ];
    let shown = |error: String| {
        let error = error.replace(&inner.display().to_string(), "[inner]");
        error.replace('\0', "\\0")
    };
    let errors = cases.map(|location| shown(load(&inner, &[("location", location)]).unwrap_err()));
    expect_test::expect![["
        could not read external data file `[inner]/way/w.bin`: a link out of the model's directory `[inner]`; pass \
          `--allow-outside-data` to allow it
        could not read external data file `[inner]/data/../../outside/w.bin`: not inside the model's directory \
          `[inner]`; pass `--allow-outside-data` to allow it
        could not read external data file `[inner]/zeros`: a link out of the model's directory `[inner]`; pass \
          `--allow-outside-data` to allow it
        could not read external data file `[inner]/pipe`: not a regular file
        could not read external data file `[inner]/data`: not a regular file
        could not read external data file `[inner]/loop`: Too many levels of symbolic links (os error 40)
        could not read external data file `[inner]/w.bin\\0`: file name contained an unexpected NUL byte
        could not read external data file `[inner]/data/w.bin/`: No such file or directory (os error 2)
    "]].assert_eq(&(errors.join("\n") + "\n"));
}
