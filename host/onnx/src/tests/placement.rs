//! Placement of the data of initializers.

use std::fs::{self, File};
use std::path::Path;

use passdock_ir::{ConstantData, FileRange, Function, Module, Payload, TypeData};

use super::build::{Msg, graph, model, node};
use super::{main_of, op, value};
use crate::format::schema::{graph as graphs, tensor};
use crate::{EncodeOptions, ExternalData, OnnxError};

fn floats(name: &str, count: u64) -> Msg {
    Msg::new()
        .int(tensor::DIMS, count as i64)
        .int(tensor::DATA_TYPE, 1)
        .text(tensor::NAME, name)
}

fn inline(name: &str, count: u64, fill: u8) -> Msg {
    floats(name, count).bytes(tensor::RAW_DATA, &vec![fill; 4 * count as usize])
}

fn external(name: &str, count: u64, entries: &[(&str, &str)]) -> Msg {
    let tensor = floats(name, count).int(tensor::DATA_LOCATION, 1);
    entries.iter().fold(tensor, |tensor, (key, value)| {
        let entry = Msg::new().text(1, key).text(2, value);
        tensor.msg(tensor::EXTERNAL_DATA, &entry)
    })
}

/// Creates a model with two initializers in `data/w.bin`, the second with a checksum, and an inline one.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("data")).unwrap();
    let data: Vec<u8> = (0..16384_u32).map(|at| (at % 251) as u8).collect();
    fs::write(directory.path().join("data/w.bin"), data).unwrap();
    let at = |offset| [("location", "data/w.bin"), ("offset", offset)];
    let b = [&at("8192")[..], &[("length", "2048"), ("checksum", "?")]].concat();
    let body = graph(&[node("y = Sum(x, a, b, c)")], &["x"], &["y"])
        .msg(graphs::INITIALIZER, &external("a", 512, &at("4096")))
        .msg(graphs::INITIALIZER, &external("b", 512, &b))
        .msg(graphs::INITIALIZER, &inline("c", 512, 7));
    fs::write(directory.path().join("m.onnx"), model(10, &body).0).unwrap();
    directory
}

/// Writes a module as `m.onnx` to a directory, and returns a list of the written files.
fn save(module: &Module, to: &Path, external: ExternalData) -> Result<Vec<String>, OnnxError> {
    let options = EncodeOptions {
        external,
        data_file: Some("m.onnx.data"),
        ..EncodeOptions::default()
    };
    let output = crate::write(module, options)?;
    let mut log = Vec::new();
    for file in output.data_files() {
        let path = to.join(file.location());
        if file.is_at(&path).unwrap() {
            log.push(format!("{} stays", file.location()));
            continue;
        }
        let path = crate::resolve_external(to, file.location())?;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let part = to.join("part");
        file.write_file(&mut File::create(&part).unwrap()).unwrap();
        log.push(format!(
            "{} {}",
            file.location(),
            part.metadata().unwrap().len()
        ));
        fs::rename(part, path).unwrap();
    }
    let part = to.join("part");
    let mut file = File::create(&part).unwrap();
    output.write_file(&mut file).unwrap();
    assert!(fs::read(&part).unwrap() == output.to_bytes().unwrap());
    assert_eq!(file.metadata().unwrap().len(), output.len());
    fs::rename(part, to.join("m.onnx")).unwrap();
    Ok(log)
}

/// Returns the location and the bytes of each initializer's data.
fn locations(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let module = crate::read(&directory.join("m.onnx")).unwrap();
    assert_eq!(crate::check_external(&module), []);
    let f = module.function_named(crate::MAIN).unwrap();
    f.live_constants()
        .map(|(id, record)| {
            let data: &ConstantData = f.constant_data(id);
            let name = f.text(f.value(record.value).name);
            let location = match data.payload() {
                Payload::External(FileRange { source, offset, .. }) => {
                    let root = directory.display().to_string() + "/";
                    let file = source.name().strip_prefix(&root).unwrap_or("?");
                    format!("{name}: {file} {offset}")
                }
                _ => format!("{name}: inline"),
            };
            (location, data.bytes().unwrap().to_vec())
        })
        .collect()
}

fn names(locations: &[(String, Vec<u8>)]) -> Vec<&str> {
    locations
        .iter()
        .map(|location| location.0.as_str())
        .collect()
}

fn bytes(locations: &[(String, Vec<u8>)]) -> Vec<&[u8]> {
    locations
        .iter()
        .map(|location| location.1.as_slice())
        .collect()
}

/// Replaces the operand `x` of `y` with a new constant.
fn add_constant(f: &mut Function, name: &str, len: usize) {
    let ty = f.add_type(TypeData::Tensor(
        passdock_abi::DType::U8,
        Some(&[passdock_abi::Dim::constant(len as i64)]),
    ));
    let data = ConstantData::inline(vec![9; len]);
    let new = f.add_constant(ty, data, f.body(), name).unwrap();
    f.set_operand(op(f, "y"), 0, new).unwrap();
}

#[test]
fn data_files_are_copied_unchanged() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let module = crate::read(&from.path().join("m.onnx")).unwrap();
    let model = fs::read(from.path().join("m.onnx")).unwrap();
    // Existing data isn't moved.
    let log = save(&module, from.path(), ExternalData::Keep).unwrap();
    assert_eq!(log, ["data/w.bin stays"]);
    for _ in 0..2 {
        let log = save(&module, to.path(), ExternalData::Keep).unwrap();
        assert_eq!(log, ["data/w.bin 16384"]);
    }
    assert!(fs::read(to.path().join("m.onnx")).unwrap() == model);
    assert_eq!(locations(from.path()), locations(to.path()));
}

#[test]
fn unused_data_is_not_copied() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let mut module = crate::read(&from.path().join("m.onnx")).unwrap();
    let f = main_of(&mut module);
    for (slot, name) in [(1, "a"), (2, "b")] {
        let (x, old) = (value(f, "x"), value(f, name));
        f.set_operand(op(f, "y"), slot, x).unwrap();
        f.erase_constant(f.value(old).constant).unwrap();
    }
    let none: [&str; 0] = [];
    assert_eq!(save(&module, to.path(), ExternalData::Keep).unwrap(), none);
}

#[test]
fn all_data_is_packed_into_one_file() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let before = locations(from.path());
    let module = crate::read(&from.path().join("m.onnx")).unwrap();
    let log = save(&module, to.path(), ExternalData::All).unwrap();
    assert_eq!(log, ["m.onnx.data 6144"]);
    let after = locations(to.path());
    expect_test::expect![[r#"
        [
            "a: m.onnx.data 0",
            "b: m.onnx.data 2048",
            "c: m.onnx.data 4096",
        ]
    "#]]
    .assert_debug_eq(&names(&after));
    assert_eq!(bytes(&before), bytes(&after));
    // Other entries than the location are kept.
    let text = String::from_utf8_lossy(&fs::read(to.path().join("m.onnx")).unwrap()).into_owned();
    assert_eq!(text.matches("checksum").count(), 1);
    assert_eq!(text.matches("location").count(), 3);
    // Writing over the input: the file doesn't grow, and existing data isn't written.
    let reread = crate::read(&to.path().join("m.onnx")).unwrap();
    let log = save(&reread, to.path(), ExternalData::All).unwrap();
    assert_eq!(log, ["m.onnx.data stays"]);
    assert_eq!(locations(to.path()), after);
    // Back into the model file.
    let log = save(&reread, from.path(), ExternalData::None).unwrap();
    assert!(log.is_empty());
    let back = locations(from.path());
    assert_eq!(names(&back), ["a: inline", "b: inline", "c: inline"]);
    assert_eq!(bytes(&before), bytes(&back));
}

#[test]
fn large_new_data_goes_to_a_data_file() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let mut module = crate::read(&from.path().join("m.onnx")).unwrap();
    add_constant(main_of(&mut module), "small", 1000);
    let log = save(&module, to.path(), ExternalData::Keep).unwrap();
    assert_eq!(log, ["data/w.bin 16384"]);
    add_constant(main_of(&mut module), "n", 100_000);
    let log = save(&module, to.path(), ExternalData::Keep).unwrap();
    assert_eq!(log, ["m.onnx.data 100000", "data/w.bin 16384"]);
    let all = [
        "a: data/w.bin 4096",
        "b: data/w.bin 8192",
        "c: inline",
        "n: m.onnx.data 0",
    ];
    assert_eq!(names(&locations(to.path())), all);
}

#[test]
fn new_data_is_merged_into_the_existing_file() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let first = crate::read(&from.path().join("m.onnx")).unwrap();
    save(&first, to.path(), ExternalData::All).unwrap();
    let before = locations(to.path());
    // Over the input, twice: the file that is being read is replaced, and doesn't grow.
    for _ in 0..2 {
        let mut module = crate::read(&to.path().join("m.onnx")).unwrap();
        let f = main_of(&mut module);
        if f.live_constants().count() == 3 {
            add_constant(f, "n", 100_000);
        } else {
            add_constant(f, "m", 70_000);
        }
        let constants = f.live_constants().map(|(id, _)| id);
        let unused = constants.filter(|&id| f.value(f.constant(id).value).use_count == 0);
        for id in unused.collect::<Vec<_>>() {
            f.erase_constant(id).unwrap();
        }
        save(&module, to.path(), ExternalData::Keep).unwrap();
    }
    let after = locations(to.path());
    expect_test::expect![[r#"
        [
            "a: m.onnx.data 0",
            "b: m.onnx.data 2048",
            "c: m.onnx.data 4096",
            "m: m.onnx.data 6144",
        ]
    "#]]
    .assert_debug_eq(&names(&after));
    assert_eq!(bytes(&before), bytes(&after)[..3]);
    let data = to.path().join("m.onnx.data");
    assert_eq!(data.metadata().unwrap().len(), 6144 + 70_000);
}

/// Erases a constant, which is operand `slot` of `y`.
fn erase(f: &mut Function, slot: usize, name: &str) {
    let (x, old) = (value(f, "x"), value(f, name));
    f.set_operand(op(f, "y"), slot, x).unwrap();
    f.erase_constant(f.value(old).constant).unwrap();
}

#[test]
fn partially_dead_file_is_repacked() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let before = locations(from.path());
    let mut module = crate::read(&from.path().join("m.onnx")).unwrap();
    erase(main_of(&mut module), 1, "a");
    for directory in [to.path(), from.path()] {
        let log = save(&module, directory, ExternalData::Keep).unwrap();
        assert_eq!(log, ["m.onnx.data 2048"]);
        let after = locations(directory);
        assert_eq!(names(&after), ["b: m.onnx.data 0", "c: inline"]);
        assert_eq!(bytes(&after), bytes(&before)[1..]);
    }
    let dropped = crate::DroppedData {
        location: "data/w.bin".to_owned(),
        bytes: 2048,
        stays: false,
    };
    let options = EncodeOptions {
        data_file: Some("m.onnx.data"),
        ..EncodeOptions::default()
    };
    assert_eq!(crate::write(&module, options).unwrap().dropped(), [dropped]);
    // A model that is read right away, and one without a data file, keep the whole file.
    for options in [
        EncodeOptions {
            whole_files: true,
            ..options
        },
        EncodeOptions::default(),
    ] {
        let output = crate::write(&module, options).unwrap();
        let files: Vec<&str> = output.data_files().iter().map(|f| f.location()).collect();
        assert_eq!(files, ["data/w.bin"]);
        assert_eq!(output.dropped(), []);
    }
}

#[test]
fn new_data_is_packed_with_live_data() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let mut module = crate::read(&from.path().join("m.onnx")).unwrap();
    let f = main_of(&mut module);
    erase(f, 2, "b");
    add_constant(f, "n", 100_000);
    let log = save(&module, to.path(), ExternalData::Keep).unwrap();
    assert_eq!(log, ["m.onnx.data 102048"]);
    let all = ["a: m.onnx.data 0", "c: inline", "n: m.onnx.data 2048"];
    assert_eq!(names(&locations(to.path())), all);
}

#[test]
fn detached_module_tracks_dead_data() {
    let (from, to) = (directory(), tempfile::tempdir().unwrap());
    let module = crate::read(&from.path().join("m.onnx")).unwrap();
    let mut module = crate::detach(&module).unwrap();
    let log = save(&module, to.path(), ExternalData::Keep).unwrap();
    assert_eq!(log, ["data/w.bin 16384"]);
    erase(main_of(&mut module), 1, "a");
    let log = save(&module, to.path(), ExternalData::Keep).unwrap();
    assert_eq!(log, ["m.onnx.data 2048"]);
}

/// The data of a `Constant` node can't move to another offset, so its file stays unchanged.
#[test]
fn file_of_a_constant_node_is_not_repacked() {
    let to = tempfile::tempdir().unwrap();
    fs::write(to.path().join("w.bin"), [1; 4096]).unwrap();
    let at = |offset| [("location", "w.bin"), ("offset", offset)];
    let attribute = Msg::new()
        .text(1, "value")
        .msg(
            crate::format::schema::attr::T,
            &external("", 512, &at("2048")),
        )
        .int(crate::format::schema::attr::TYPE, 4);
    let parent_node =
        node("k = Constant()").msg(crate::format::schema::node::ATTRIBUTE, &attribute);
    let body = graph(&[parent_node, node("y = Sum(x, a, k)")], &["x"], &["y"])
        .msg(graphs::INITIALIZER, &external("a", 512, &at("0")));
    fs::write(to.path().join("m.onnx"), model(10, &body).0).unwrap();
    let mut module = crate::read(&to.path().join("m.onnx")).unwrap();
    erase(main_of(&mut module), 1, "a");
    let log = save(&module, to.path(), ExternalData::Keep).unwrap();
    assert_eq!(log, ["w.bin stays"]);
    assert_eq!(names(&locations(to.path())), ["k: w.bin 2048"]);
    let options = EncodeOptions {
        data_file: Some("m.onnx.data"),
        ..EncodeOptions::default()
    };
    let stays = crate::DroppedData {
        location: "w.bin".to_owned(),
        bytes: 2048,
        stays: true,
    };
    assert_eq!(crate::write(&module, options).unwrap().dropped(), [stays]);
}

#[test]
fn copied_constant_shares_its_data() {
    let directory = directory();
    let mut module = crate::read(&directory.path().join("m.onnx")).unwrap();
    let f = main_of(&mut module);
    let a = f.constant(f.value(value(f, "a")).constant);
    let (ty, data) = (
        a.ty,
        f.constant_data(f.value(value(f, "a")).constant).clone(),
    );
    let copy = f.add_constant(ty, data, f.body(), "copy").unwrap();
    f.set_operand(op(f, "y"), 0, copy).unwrap();
    save(&module, directory.path(), ExternalData::Keep).unwrap();
    let locations = locations(directory.path());
    assert_eq!(locations[3].0, "copy: data/w.bin 4096");
    assert_eq!(locations[3].1, locations[0].1);
}

#[test]
fn data_of_nested_graphs_and_defaults_moves() {
    let to = tempfile::tempdir().unwrap();
    let inner = graph(&[node("t = Add(x, w)")], &[], &["t"]);
    let inner = inner.msg(graphs::INITIALIZER, &inline("w", 512, 3));
    let parent_node = node("y = If(x)").msg(
        crate::format::schema::node::ATTRIBUTE,
        &Msg::new()
            .text(1, "then_branch")
            .msg(crate::format::schema::attr::G, &inner)
            .int(crate::format::schema::attr::TYPE, 5),
    );
    let body = graph(&[parent_node], &["x", "d"], &["y"]);
    let body = body.msg(graphs::INITIALIZER, &inline("d", 512, 4));
    let bytes_in = model(10, &body).0;
    let module = crate::read_bytes(Path::new("m.onnx"), bytes_in.clone()).unwrap();
    let log = save(&module, to.path(), ExternalData::All).unwrap();
    assert_eq!(log, ["m.onnx.data 4096"]);
    assert_eq!(
        names(&locations(to.path())),
        ["d: m.onnx.data 2048", "w: m.onnx.data 0"]
    );
    // Inline again, the model is the same as before, except for the order of fields.
    let reread = crate::read(&to.path().join("m.onnx")).unwrap();
    save(&reread, to.path(), ExternalData::None).unwrap();
    let back = fs::read(to.path().join("m.onnx")).unwrap();
    assert!(super::real::sorted_fields(&back) == super::real::sorted_fields(&bytes_in));
}

#[test]
fn model_above_the_size_limit_gets_a_data_file() {
    let body = graph(&[node("y = Identity(x)")], &["x"], &["y"]);
    let mut module = crate::read_bytes(Path::new("m.onnx"), model(10, &body).0).unwrap();
    let f = main_of(&mut module);
    // 3 GiB that are never in memory.
    let shape = [passdock_abi::Dim::constant(3 << 30)];
    let ty = f.add_type(TypeData::Tensor(passdock_abi::DType::U8, Some(&shape)));
    let data = ConstantData::new(Payload::Splat {
        dtype: passdock_abi::DType::U8,
        element: vec![1].into(),
        count: 3 << 30,
    });
    let large = f.add_constant(ty, data, f.body(), "large").unwrap();
    f.set_operand(op(f, "y"), 0, large).unwrap();
    let with = |data_file| {
        let options = EncodeOptions {
            data_file,
            ..EncodeOptions::default()
        };
        crate::write(&module, options)
    };
    let output = with(Some("m.onnx.data")).unwrap();
    assert!(output.len() < 1000);
    assert_eq!(output.data_files().len(), 1);
    let error = with(None).err().unwrap().to_string();
    assert!(
        error.contains("the limit of the format is 2147483647"),
        "{error}"
    );
}
