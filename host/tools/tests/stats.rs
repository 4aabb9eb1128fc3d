//! Statistics of modules, by their JSON keys.
#![allow(missing_docs, reason = "a test crate has no readers of its API")]

use expect_test::{Expect, expect};
use passdock::model_file;
use passdock_tools::stats::{Stats, stats};
use serde_json::{Value, json};

#[track_caller]
fn read(source: &str) -> Stats {
    let module = model_file::parse_text("m.ir", source)
        .unwrap_or_else(|error| panic!("{}", error.to_diagnostic().render(false)));
    stats(&module, 3).unwrap_or_else(|error| panic!("{error}"))
}

/// Prints JSON in lines of limited length, which end between entries.
fn layout(value: &Value, indent: usize) -> String {
    let line = value.to_string();
    if indent + line.len() <= 98 {
        return line;
    }
    let (entries, [open, close]): (Vec<String>, _) = match value {
        Value::Array(list) => {
            let entries = list.iter().map(|entry| layout(entry, indent + 1));
            (entries.collect(), ["[", "]"])
        }
        Value::Object(map) => {
            let entry = |(key, entry)| format!("\"{key}\":{}", layout(entry, indent + 1));
            (map.iter().map(entry).collect(), ["{", "}"])
        }
        _ => return line,
    };
    let (mut text, mut column) = (open.to_owned(), indent + 1);
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        if at > 0 && column + entry.len() > 98 {
            text.push_str(&format!("\n{}", " ".repeat(indent + 1)));
            column = indent + 1;
        }
        text.push_str(entry);
        column += entry.len() + 1;
    }
    text + close
}

/// Checks the values of some keys, with a line for each. A list has a line for each entry.
#[track_caller]
fn check(source: &str, keys: &[&str], expected: Expect) {
    let stats = serde_json::to_value(read(source)).expect("plain data");
    let mut text = String::new();
    for key in keys {
        let value = key.split('.').fold(&stats, |value, key| &value[key]);
        match value {
            Value::Array(list) if list.iter().any(Value::is_object) => {
                text.push_str(&format!("{key}:\n"));
                text.extend(list.iter().map(|entry| format!("  {}\n", layout(entry, 2))));
            }
            value => text.push_str(&format!("{key}: {}\n", layout(value, 0))),
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn header_and_interface() {
    check(
        r#"
module {
  metadata "onnx.ir_version" = "10"
  metadata "onnx.producer_name" = "torch"
  metadata "onnx.producer_version" = "2.9"
  metadata "onnx.domain" = "org.example"
  metadata "onnx.model_version" = "3"
  metadata "license" = "MIT"
  fn @main(%x: f32[n,3,?], %k: i64[] = const i64[] 2, %u, %r: f16[*])
      -> (%y: f32[n,3*h], %z: seq<f32[m]>, %s: sparse<f32[2,2]>, _)
      opset("" = 17, "com.acme" = 2) {
    %y, %z, %s = com.acme.All(%x, %r, %u) : f32[n,3*h], seq<f32[m]>, sparse<f32[2,2]>
    return %y, %z, %s, %x
  }
}"#,
        &[
            "ir_version",
            "producer_name",
            "producer_version",
            "domain",
            "model_version",
            "metadata",
            "entry",
            "inputs",
            "initializer_inputs",
            "outputs",
            "symbols",
            "unknown_dims",
            "opsets",
            "custom_domains",
            "results",
        ],
        expect![[r#"
            ir_version: 10
            producer_name: "torch"
            producer_version: "2.9"
            domain: "org.example"
            model_version: 3
            metadata:
              {"key":"license","value":"MIT"}
            entry: "main"
            inputs:
              {"dtype":"f32","name":"x","overridable":false,"shape":["n",3,null],"type":"f32[n,3,?]"}
              {"dtype":"i64","name":"k","overridable":true,"shape":[],"type":"i64[]"}
              {"dtype":null,"name":"u","overridable":false,"shape":null,"type":"?"}
              {"dtype":"f16","name":"r","overridable":false,"shape":null,"type":"f16[*]"}
            initializer_inputs: 0
            outputs:
              {"dtype":"f32","name":"y","shape":["n","h*3"],"type":"f32[n,h*3]"}
              {"dtype":null,"name":"z","shape":null,"type":"seq<f32[m]>"}
              {"dtype":"f32","name":"s","shape":[2,2],"type":"sparse<f32[2,2]>"}
              {"dtype":"f32","name":"x","shape":["n",3,null],"type":"f32[n,3,?]"}
            symbols: ["n","h","m"]
            unknown_dims: 2
            opsets:
              {"domain":"","version":17}
              {"domain":"com.acme","version":2}
            custom_domains:
              {"domain":"com.acme","operators":1,"ops":1,"versions":[2]}
            results: {"static_shape":1,"total":3,"typed":3}
        "#]],
    );
}

#[test]
fn entry_without_main_is_the_first_function() {
    check(
        "module {}",
        &["entry", "inputs", "ops", "parameters.bytes"],
        expect![[r#"
            entry: null
            inputs: []
            ops: {"inlined":0,"kinds":[],"nested":0,"total":0}
            parameters.bytes: 0
        "#]],
    );
    check(
        r#"
module {
  prim @scale(%a: buffer<f32[128]>, %b: buffer<f32[128]>) {
    for %i in 0..128 unroll {
      %v = tir.load(%a, %i) : f32
      %w = tir.mul(%v, 2.0) : f32
      tir.store(%w, %b, %i)
    }
  }
}"#,
        &[
            "entry",
            "inputs",
            "outputs",
            "ops",
            "subgraphs",
            "functions",
            "parameters.elements",
            "parameters.scalars",
            "custom_domains",
        ],
        expect![[r#"
            entry: "scale"
            inputs:
              {"dtype":"f32","name":"a","overridable":false,"shape":[128],"type":"buffer<f32[128]>"}
              {"dtype":"f32","name":"b","overridable":false,"shape":[128],"type":"buffer<f32[128]>"}
            outputs: []
            ops: {"inlined":4,
             "kinds":[{"count":1,"domain":null,"nested":0,"op":"for","provider":"ir"},
              {"count":1,"domain":"tir","nested":1,"op":"tir.load","provider":"ir"},
              {"count":1,"domain":"tir","nested":1,"op":"tir.mul","provider":"ir"},
              {"count":1,"domain":"tir","nested":1,"op":"tir.store","provider":"ir"}],
             "nested":3,"total":4}
            subgraphs: {"depth":1,"parents":[{"op":"for","ops":1,"regions":1}],"regions":1}
            functions:
              {"calls":0,"inlined_copies":1,"inputs":2,"kind":"prim","name":"scale","ops":4,"opsets":[],
               "outputs":0}
            parameters.elements: 0
            parameters.scalars: {"bytes":20,"elements":3,"tensors":3}
            custom_domains: []
        "#]],
    );
}

#[test]
fn ops_by_kind_and_subgraphs() {
    check(
        r#"
module {
  fn @main(%c: bool[], %x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = onnx.If(%c) : f32[2]
      region then_branch {
        %1 = onnx.Neg(%x) : f32[2]
        %2 = onnx.If(%c)
          region then_branch {
            yield %1
          }
          region else_branch {
            %3 = onnx.Neg(%1) : f32[?]
            %4 = a.b.Relu(%3)
            yield %4
          }
        yield %2
      }
      region else_branch {
        %5 = onnx.Constant() {value_int = ref(k, int)} : i64[]
        yield %x
      }
    %6, _ = ai.onnx.ml.Scaler(%0) : f32[2], ?
    %7 = a.b.Relu(%6) : f32[2]
    return %7
  }
}"#,
        &[
            "ops.total",
            "ops.nested",
            "ops.inlined",
            "ops.kinds",
            "subgraphs.regions",
            "subgraphs.depth",
            "subgraphs.parents",
            "custom_domains",
            "results",
        ],
        expect![[r#"
            ops.total: 8
            ops.nested: 5
            ops.inlined: 8
            ops.kinds:
              {"count":2,"domain":"a.b","nested":1,"op":"a.b.Relu","provider":"custom"}
              {"count":2,"domain":"","nested":1,"op":"onnx.If","provider":"onnx"}
              {"count":2,"domain":"","nested":2,"op":"onnx.Neg","provider":"onnx"}
              {"count":1,"domain":"ai.onnx.ml","nested":0,"op":"ai.onnx.ml.Scaler","provider":"onnx"}
              {"count":1,"domain":"","nested":1,"op":"onnx.Constant","provider":"onnx"}
            subgraphs.regions: 4
            subgraphs.depth: 2
            subgraphs.parents:
              {"op":"onnx.If","ops":2,"regions":4}
            custom_domains:
              {"domain":"a.b","operators":1,"ops":2,"versions":[]}
            results: {"static_shape":5,"total":8,"typed":6}
        "#]],
    );
}

#[test]
fn parameters_by_role_and_dtype() {
    check(
        r#"
module {
  fn @main(%x: f32[2], %d: f32[2] = const f32[2] [1.0, 2.0]) -> (%y: f32[2]) opset("" = 17) {
    %half = const f16[3] [1.0, 2.0, 3.0]
    %text = const str[2] ["ab", "c"]
    %axes = const i64[1] [0] node
    %nibbles = const u4[3] [1, 2, 3]
    %zeros = const f32[1000] splat(0.0)
    %none = const f32[0] []
    %tied = const u8[3] blob(0)
    %tied_too = const u8[3] blob(0)
    %0 = onnx.ConstantOfShape(%axes) {value = tensor f32[1] [0.0]} : f32[*]
    %1 = onnx.Sum(%x, %d, %half, %text, %zeros, %none, %tied_too, %0) : f32[2]
    return %1
  }
  blob 0 = "AQID"
}"#,
        &[
            "parameters.tensors",
            "parameters.elements",
            "parameters.bytes",
            "parameters.initializers",
            "parameters.defaults",
            "parameters.constant_nodes",
            "parameters.shared",
            "parameters.unused",
            "parameters.splats",
            "parameters.attributes",
            "parameters.by_dtype",
            "parameters.largest",
            "external_files",
        ],
        expect![[r#"
            parameters.tensors: 8
            parameters.elements: 1014
            parameters.bytes: 4054
            parameters.initializers: {"bytes":4038,"elements":1011,"tensors":6}
            parameters.defaults: {"bytes":8,"elements":2,"tensors":1}
            parameters.constant_nodes: {"bytes":8,"elements":1,"tensors":1}
            parameters.shared: {"bytes":3,"elements":3,"tensors":1}
            parameters.unused: {"bytes":2,"elements":3,"tensors":1}
            parameters.splats: {"bytes":4000,"elements":1000,"tensors":1}
            parameters.attributes: {"bytes":4,"elements":1,"tensors":1}
            parameters.by_dtype:
              {"bytes":4008,"dtype":"f32","elements":1002,"tensors":3}
              {"bytes":27,"dtype":"str","elements":2,"tensors":1}
              {"bytes":8,"dtype":"i64","elements":1,"tensors":1}
              {"bytes":6,"dtype":"f16","elements":3,"tensors":1}
              {"bytes":3,"dtype":"u8","elements":3,"tensors":1}
              {"bytes":2,"dtype":"u4","elements":3,"tensors":1}
            parameters.largest:
              {"bytes":4000,"elements":1000,"file":null,"function":"main","name":"zeros","storage":"splat",
               "type":"f32[1000]"}
              {"bytes":27,"elements":2,"file":null,"function":"main","name":"text","storage":"inline",
               "type":"str[2]"}
              {"bytes":8,"elements":2,"file":null,"function":"main","name":"d","storage":"inline",
               "type":"f32[2]"}
            external_files: []
        "#]],
    );
}

#[test]
fn sparse_constants_are_measured() {
    let text = |sparse: &str| {
        format!(
            r#"
module {{
  fn @main() -> (%y: sparse<f32[100,10]>) opset("" = 17) {{
    %0 = onnx.Constant() {{sparse_value = opaque("{sparse}")}} : sparse<f32[100,10]>
    return %0
  }}
}}"#
        )
    };
    // Three elements, and an index of two numbers for each.
    let sparse = "0a0c7370617273655f76616c7565b201120a04080310011206080308021007 1864180a";
    check(
        &text(&sparse.replace(' ', "")),
        &["ops.total", "parameters.tensors", "parameters.sparse"],
        expect![[r#"
            ops.total: 1
            parameters.tensors: 0
            parameters.sparse: {"bytes":60,"elements":1000,"stored":3,"tensors":1}
        "#]],
    );
    let module = model_file::parse_text("m.ir", &text("b20109")).expect("a module");
    let error = stats(&module, 1).expect_err("an invalid sparse tensor");
    let expected = expect![[r#"
        error[read]: invalid attribute `sparse_value`: a length exceeds the rest of its message (at byte 2)
         |
         = in function @main, op0 (onnx.Constant)"#]];
    expected.assert_eq(&error.to_diagnostic().render(false));
}

#[test]
fn huge_splat_sizes_saturate() {
    check(
        r#"
module {
  fn @main() -> (%a: f32[2147483648,2147483648], %b: f32[2147483648,2147483648]) opset("" = 17) {
    %a = const f32[2147483648,2147483648] splat(0.0)
    %b = const f32[2147483648,2147483648] splat(1.0)
    return %a, %b
  }
}"#,
        &[
            "parameters.elements",
            "parameters.bytes",
            "parameters.by_dtype",
        ],
        expect![[r#"
            parameters.elements: 9223372036854775808
            parameters.bytes: 18446744073709551615
            parameters.by_dtype:
              {"bytes":18446744073709551615,"dtype":"f32","elements":9223372036854775808,"tensors":2}
        "#]],
    );
}

#[test]
fn calls_are_counted_and_inlined() {
    check(
        r#"
module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = local.Twice(%x) : f32[2]
    %1 = local.Twice(%0) : f32[2]
    %2 = local.Once(%1) : f32[2]
    %3 = onnx.Neg(%2) : f32[2]
    return %3
  }
  fn @local.Twice(%x) -> (%y) opset("" = 18) {
    %0 = local.Once(%x)
    %1 = local.Once(%0)
    return %1
  }
  fn @local.Once(%x) -> (%y) opset("" = 18) {
    %0 = onnx.Relu(%x)
    %1 = onnx.Relu(%0)
    %2 = onnx.Relu(%1)
    return %2
  }
  fn @local.Never(%x) -> (%y) opset("" = 18) {
    %0 = local.Never(%x)
    %1 = local.Once(%0)
    return %1
  }
}"#,
        &[
            "ops.total",
            "ops.inlined",
            "ops.kinds",
            "functions",
            "custom_domains",
        ],
        expect![[r#"
            ops.total: 11
            ops.inlined: 16
            ops.kinds:
              {"count":4,"domain":"local","nested":0,"op":"local.Once","provider":"function"}
              {"count":3,"domain":"","nested":0,"op":"onnx.Relu","provider":"onnx"}
              {"count":2,"domain":"local","nested":0,"op":"local.Twice","provider":"function"}
              {"count":1,"domain":"local","nested":0,"op":"local.Never","provider":"function"}
              {"count":1,"domain":"","nested":0,"op":"onnx.Neg","provider":"onnx"}
            functions:
              {"calls":0,"inlined_copies":1,"inputs":1,"kind":"graph","name":"main","ops":4,
               "opsets":[{"domain":"","version":17}],"outputs":1}
              {"calls":2,"inlined_copies":2,"inputs":1,"kind":"graph","name":"local.Twice","ops":2,
               "opsets":[{"domain":"","version":18}],"outputs":1}
              {"calls":4,"inlined_copies":5,"inputs":1,"kind":"graph","name":"local.Once","ops":3,
               "opsets":[{"domain":"","version":18}],"outputs":1}
              {"calls":1,"inlined_copies":0,"inputs":1,"kind":"graph","name":"local.Never","ops":2,
               "opsets":[{"domain":"","version":18}],"outputs":1}
            custom_domains: []
        "#]],
    );
}

#[test]
fn recursive_calls_have_no_inlined_count() {
    check(
        r#"
module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %0 = local.A(%x) : f32[2]
    return %0
  }
  fn @local.A(%x) -> (%y) {
    %0 = local.B(%x)
    return %0
  }
  fn @local.B(%x) -> (%y) {
    %0 = local.A(%x)
    return %0
  }
}"#,
        &["ops.total", "ops.inlined", "functions"],
        expect![[r#"
            ops.total: 3
            ops.inlined: null
            functions:
              {"calls":0,"inlined_copies":null,"inputs":1,"kind":"graph","name":"main","ops":1,
               "opsets":[{"domain":"","version":17}],"outputs":1}
              {"calls":2,"inlined_copies":null,"inputs":1,"kind":"graph","name":"local.A","ops":1,"opsets":[],
               "outputs":1}
              {"calls":1,"inlined_copies":null,"inputs":1,"kind":"graph","name":"local.B","ops":1,"opsets":[],
               "outputs":1}
        "#]],
    );
}

#[test]
fn inlined_count_above_64_bits_is_null() {
    for (depth, inlined) in [(40, Some(3_u64.pow(40))), (41, None)] {
        let mut text = "module { fn @main(%x) -> (%y) { %0 = f.F0(%x) return %0 }".to_owned();
        for at in 0..depth {
            let next = format!("f.F{}", at + 1);
            text.push_str(&format!(
                "fn @f.F{at}(%x) -> (%y) {{ \
                 %0 = {next}(%x) %1 = {next}(%0) %2 = {next}(%1) return %2 }}"
            ));
        }
        text.push_str(&format!(
            "fn @f.F{depth}(%x) -> (%y) {{ %0 = onnx.Neg(%x) return %0 }} }}"
        ));
        assert_eq!(read(&text).ops.inlined, inlined);
    }
}

#[test]
fn long_call_chains_do_not_overflow_the_stack() {
    let mut text = "module { fn @main(%x) -> (%y) { %0 = f.F0(%x) return %0 }".to_owned();
    for at in 0..20_000 {
        let next = at + 1;
        text.push_str(&format!(
            "fn @f.F{at}(%x) -> (%y) {{ %0 = f.F{next}(%x) return %0 }}"
        ));
    }
    text.push_str("fn @f.F20000(%x) -> (%y) { %0 = onnx.Neg(%x) return %0 } }");
    assert_eq!(read(&text).ops.inlined, Some(1));
}

#[test]
fn nested_regions_are_counted_to_any_depth() {
    let depth = 10_000;
    let mut text = "module { fn @main(%c: bool[]) -> (%y) {".to_owned();
    for at in 0..depth {
        text.push_str(&format!("%r{at} = onnx.If(%c) region then_branch {{ "));
    }
    text.push_str("%n = onnx.Not(%c) yield %n }");
    for at in (1..depth).rev() {
        text.push_str(&format!(" yield %r{at} }}"));
    }
    text.push_str(" return %r0 } }");
    let stats = read(&text);
    assert_eq!(stats.subgraphs.depth, depth);
    assert_eq!(stats.subgraphs.regions, u64::from(depth));
    assert_eq!(stats.ops.nested, u64::from(depth));
    assert_eq!(stats.ops.total, u64::from(depth) + 1);
}

#[test]
fn external_files_are_measured_without_reading() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("w.bin");
    std::fs::write(&path, [0; 300]).expect("a new file");
    let source = r#"
module {
  fn @main(%x: f32[2]) -> (%y: f32[2]) opset("" = 17) {
    %a = const f32[2] external("w.bin", 16, 8)
    %b = const f32[2] external("w.bin", 16, 8)
    %c = const u8[100] external("w.bin", 200, 100)
    %0 = onnx.Sum(%x, %a, %b, %c) : f32[2]
    return %0
  }
}"#;
    let name = dir.path().join("m.ir").display().to_string();
    let module = model_file::parse_text(&name, source).expect("a module");
    let measurements = || {
        let stats = stats(&module, 1).expect("stats");
        let lists = json!([stats.external_files, stats.parameters.largest]).to_string();
        let lists = lists.replace(&dir.path().display().to_string(), "DIR");
        let lists: Value = lists.parse().expect("JSON");
        let [files, largest] = [0, 1].map(|at: usize| layout(&lists[at], 0));
        let shared = stats.parameters.shared.bytes;
        format!("{files}\n{largest}\nshared: {shared} B\n")
    };
    expect![[r#"
        [{"bytes":300,"bytes_needed":300,"bytes_used":108,"path":"DIR/w.bin","problem":null,"tensors":2}]
        [{"bytes":100,"elements":100,"file":"DIR/w.bin","function":"main","name":"c","storage":"external",
          "type":"u8[100]"}]
        shared: 8 B
    "#]]
    .assert_eq(&measurements());
    // Reading a byte of the file would crash the process now.
    std::fs::File::create(&path)
        .and_then(|file| file.set_len(0))
        .expect("an empty file");
    expect![[r#"
        [{"bytes":0,"bytes_needed":300,"bytes_used":108,"path":"DIR/w.bin",
          "problem":"file has 0 bytes, but its tensors end at byte 300","tensors":2}]
        [{"bytes":100,"elements":100,"file":"DIR/w.bin","function":"main","name":"c","storage":"external",
          "type":"u8[100]"}]
        shared: 8 B
    "#]]
    .assert_eq(&measurements());
    std::fs::remove_file(&path).expect("the file");
    expect![[r#"
        [{"bytes":null,"bytes_needed":300,"bytes_used":108,"path":"DIR/w.bin",
          "problem":"could not read external data file `DIR/w.bin`: No such file or directory (os error 2)",
          "tensors":2}]
        [{"bytes":100,"elements":100,"file":"DIR/w.bin","function":"main","name":"c","storage":"external",
          "type":"u8[100]"}]
        shared: 8 B
    "#]].assert_eq(&measurements());
}
