//! Tests of the partitions, as IR text, and of the files that the plugin writes.
use std::path::PathBuf;

use passdock_plugin_api::testing::Check;

const BEFORE: &str = "module {
  fn @main(%x: f32[1,2,4,4], %s: f32[n]) -> (%y: f32[1,1,2,2], %t: f32[n]) opset(\"\" = 17) {
    %w = const f32[1,2,3,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    %a = onnx.Conv(%x, %w) {kernel_shape = [3, 3]} : f32[1,1,2,2]
    %b = onnx.Relu(%a) : f32[1,1,2,2]
    %c = onnx.Softmax(%b) {axis = 1} : f32[1,1,2,2]
    %y = onnx.Add(%c, %b) : f32[1,1,2,2]
    %t = onnx.Relu(%s) : f32[n]
    return %y, %t
  }
}";
const AFTER: &str = "module {
  fn @main(%x: f32[1,2,4,4], %s: f32[n]) -> (%y: f32[1,1,2,2], %t: f32[n]) opset(\"\" = 17, \"npu\" = 1) {
    %b = npu.npu_main_0(%x) : f32[1,1,2,2]
    %c = onnx.Softmax(%b) {axis = 1} : f32[1,1,2,2]
    %y = npu.npu_main_1(%c, %b) : f32[1,1,2,2]
    %t = onnx.Relu(%s) : f32[n]
    return %y, %t
  }
  fn @npu.npu_main_0(%x: f32[1,2,4,4]) -> (%b: f32[1,1,2,2]) opset(\"\" = 17, \"npu\" = 1)
    attributes {Codegen = \"npu\", global_symbol = \"npu_main_0\"} {
    %w = const f32[1,2,3,3] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
    %a = onnx.Conv(%x, %w) {kernel_shape = [3, 3]} : f32[1,1,2,2]
    %b = onnx.Relu(%a) : f32[1,1,2,2]
    return %b
  }
  fn @npu.npu_main_1(%c: f32[1,1,2,2], %b: f32[1,1,2,2]) -> (%y: f32[1,1,2,2]) opset(\"\" = 17, \"npu\" = 1)
    attributes {Codegen = \"npu\", global_symbol = \"npu_main_1\"} {
    %y = onnx.Add(%c, %b) : f32[1,1,2,2]
    return %y
  }
}";

/// Creates an empty directory for a test.
fn directory(name: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = std::fs::remove_dir_all(&dir);
    dir
}

fn partition(dir: &std::path::Path) -> Check {
    let setting = format!("npu.WritePartitions.dir={:?}", dir.display().to_string());
    let permission = format!("npu=write:{}", dir.display());
    Check::new()
        .passes(&["npu.transform.Partition"])
        .args(["--config".to_owned(), setting])
        .args(["--allow".to_owned(), permission])
}

#[test]
fn supported_ops_are_partitioned_and_written() {
    let dir = directory("written");
    partition(&dir).run(BEFORE, AFTER);
    let mut files: Vec<_> = (std::fs::read_dir(&dir).expect("the directory"))
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    files.sort();
    assert_eq!(files, ["npu_main_0.onnx", "npu_main_1.onnx"]);
    let model = std::fs::read(dir.join("npu_main_0.onnx")).expect("the file");
    assert_eq!(&model[..2], [8, 8], "it begins with the `ir_version`");
}

#[test]
fn model_without_supported_ops_is_unchanged() {
    let text = "module {
      fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {
        %y = onnx.Softmax(%x) : f32[2]
        return %y
      }
    }";
    let dir = directory("nothing");
    partition(&dir).run(text, text);
    let files = std::fs::read_dir(&dir).expect("the granted directory");
    assert_eq!(files.count(), 0);
}
