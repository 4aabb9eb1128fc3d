//! `relax.transform.BindParams` with values in files.

use expect_test::expect;

use crate::support;

/// Writes a `.npy` file with this element type, and returns its path.
fn npy(name: &str, descr: &str, shape: &str, data: &[u8]) -> String {
    let header = format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("there is room");
    path.display().to_string()
}

#[test]
fn value_is_read_from_npy_file() {
    let source = r#"module {
  fn @main(%x: i32[n,3], %w: i32[n,m]) -> (%y: i32[n,m]) opset("" = 17) {
    %0 = onnx.Add(%x, %w) : i32[n,m]
    return %0
  }
}"#;
    let run = |path: &str| {
        let options = format!("w = '{path}'");
        let text = support::run_options("relax.transform.BindParams", &options, source);
        text.replace(path, "FILE")
    };
    let columns: Vec<u8> = (1..7_u8).flat_map(|int| [0, 0, 0, int]).collect();
    expect![[r#"
        module {
          fn @main(%x: i32[2,3]) -> (%y: i32[2,3]) opset("" = 17) {
            %w = const i32[2,3] [1, 3, 5, 2, 4, 6]
            %0 = onnx.Add(%x, %w) : i32[2,3]
            return %0
          }
        }
    "#]]
    .assert_eq(&run(&npy("columns.npy", ">i4", "(2, 3)", &columns)));
    expect![[r#"
        error[config]: cannot bind parameter `w` of type i32[n,m] to "FILE": expected element type i32, found i64
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"#]]
    .assert_eq(&run(&npy("wide.npy", "<i8", "(1, 1)", &[0; 8])));
    expect![["
        error[config]: cannot bind parameter `w` of type i32[n,m] to \"FILE\": expected 24 bytes of elements for \
          shape [2, 3], found 8
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"]]
    .assert_eq(&run(&npy("short.npy", "<i4", "(2, 3)", &[0; 8])));
    expect![[r#"
        error[config]: cannot bind parameter `w` of type i32[n,m] to "FILE": the value has shape [2]
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"#]]
    .assert_eq(&run(&npy("list.npy", "<i4", "(2,)", &[0; 8])));
    let missing = run("/there/is/no.npy");
    assert!(missing.contains("to \"FILE\": "), "{missing}");
    expect![["
        error[config]: cannot bind parameter `w` of type i32[n,m] to \"FILE\": expected a tensor of i32 or the path \
          of a `.npy` file
         |
         = in pass relax.transform.BindParams of plugin relax, function @main"]].assert_eq(&run("some text"));
}
