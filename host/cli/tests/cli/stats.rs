//! What is in a model: `stats`.

use expect_test::{Expect, expect};
use serde_json::Value;

use crate::support::{Bench, RELUS};

/// Something of everything.
const ALL: &str = r#"module {
  metadata "onnx.ir_version" = "10"
  metadata "onnx.producer_name" = "by \u{1b}[31mhand"
  metadata "onnx.producer_version" = "1.2"
  metadata "onnx.model_version" = "7"
  metadata "class names" = "{0: 'cat',\n 1: 'dog'}"
  fn @main(%x: f32[batch,3], %"go on": bool[], %scale: f16[] = const f16[] 0.5)
      -> (%y: f32[batch,?], %"z\u{7}": seq<str[k]>) opset("" = 17, "com.acme" = 2, "local" = 1) {
    %w = const f32[3,4] [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    %zeros = const f32[1000,256] splat(0.0)
    %words = const str[2] ["a", "bc"]
    %axes = const i64[1] [1] node
    %left_over = const i64[3] [1, 2, 3]
    %0 = onnx.MatMul(%x, %w) : f32[batch,4]
    %1 = com.acme.Fuse(%0, %scale, %zeros) : f32[batch,4]
    %2 = onnx.ConstantOfShape(%axes) {value = tensor f32[1] [0.0]}
    %3 = onnx.If(%"go on") : f32[batch,?]
      region then_branch {
        %4 = local.Twice(%1) : f32[batch,4]
        yield %4
      }
      region else_branch {
        %5 = local.Twice(%2) : f32[batch,4]
        %6 = local.Twice(%5) : f32[batch,4]
        yield %6
      }
    %7 = onnx.SequenceConstruct(%words) : seq<str[k]>
    return %3, %7
  }
  fn @local.Twice(%a) -> (%b) opset("" = 18) {
    %0 = onnx.Add(%a, %a)
    %1 = org.other.Round(%0)
    return %1
  }
}
"#;

#[track_caller]
fn check(bench: &Bench, words: &str, expected: Expect) {
    let ran = bench.passdock(words);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let dir = bench.path("").display().to_string();
    expected.assert_eq(&ran.stdout.replace(&dir, "DIR/"));
}

#[test]
fn a_model_on_one_screen() {
    let bench = Bench::new();
    bench.write("m.ir", ALL);
    check(
        &bench,
        "stats m.ir",
        expect![[r#"
            model           m.ir, 1.3 kB, ONNX IR version 10
            producer        by \u{1b}[31mhand 1.2
            model version   7
            metadata        "class names" = {0: 'cat',\n 1: 'dog'}
            opsets          ai.onnx 17, com.acme 2, local 1
            ops             10 of 8 kinds, 3 in subgraphs; 11 with all calls inlined
            custom domains  com.acme, version 2: 1 op of 1 kind
                            org.other, without a declared version: 1 op of 1 kind
            results         10: 7 typed, 0 of static shape
            subgraphs       2, 1 level deep: 2 in 1 onnx.If
            parameters      256,019 elements, 1.0 MB: 4 initializers, 1 default, 1 Constant node
              unused        1 tensor, 24 B
              splats        1 tensor, 1.0 MB spread out
            attributes      1 tensor, 4 B, not parameters
            dynamic dims    batch, k, 1 without a name

            input    type
            x        f32[batch,3]
            "go on"  bool[]
            scale    f16[]         has a default

            output    type
            y         f32[batch,?]
            "z\u{7}"  seq<str[k]>

            op                      count  in subgraphs
            local.Twice                 3             3  function
            com.acme.Fuse               1                custom
            onnx.Add                    1
            onnx.ConstantOfShape        1
            onnx.If                     1
            onnx.MatMul                 1
            onnx.SequenceConstruct      1
            org.other.Round             1                custom

            dtype  tensors  elements   bytes    share
            f32          2   256,012  1.0 MB  100.0 %
            i64          2         4    32 B    0.0 %
            str          1         2    27 B    0.0 %
            f16          1         1     2 B    0.0 %

            largest constants  type            bytes    share
            zeros              f32[1000,256]  1.0 MB  100.0 %  splat
            w                  f32[3,4]         48 B    0.0 %
            words              str[2]           27 B    0.0 %
            left_over          i64[3]           24 B    0.0 %
            axes               i64[1]            8 B    0.0 %

            function      ops  calls  inlined  opsets
            @main           8      0      × 1  ai.onnx 17, com.acme 2, local 1
            @local.Twice    2      3      × 3  ai.onnx 18
        "#]],
    );
}

#[test]
fn a_small_model_says_little() {
    let bench = Bench::new();
    let ran = bench.run(["stats", "-"], RELUS);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    expect![[r#"
        model       standard input
        opsets      ai.onnx 17
        ops         2 of 1 kind
        results     2: 2 typed, 2 of static shape
        parameters  none

        input  type
        x      f32[2]

        output  type
        y       f32[2]

        op         count
        onnx.Relu      2
    "#]]
    .assert_eq(&ran.stdout);
}

#[test]
fn long_lists_are_cut() {
    let bench = Bench::new();
    let mut text =
        "module {\n  fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {\n".to_owned();
    for at in 0..60 {
        let of = if at == 0 {
            "x".to_owned()
        } else {
            (at - 1).to_string()
        };
        text.push_str(&format!(
            "    %c{at} = const f32[2] [{at}.0, 0.0]\n    %{at} = onnx.Op{at}(%{of}, %c{at}) : f32[2]\n"
        ));
    }
    text.push_str("    return %59\n  }\n}\n");
    bench.write("m.ir", text);
    let rows = |words: &str, first: &str| {
        let ran = bench.passdock(words);
        let rows = ran
            .stdout
            .lines()
            .skip_while(|line| !line.starts_with(first));
        let rows: Vec<String> = rows
            .take_while(|line| !line.is_empty())
            .map(str::to_owned)
            .collect();
        (rows.len(), rows.last().cloned().unwrap_or_default())
    };
    let more = "… and 20 more (--json has all)".to_owned();
    assert_eq!(rows("stats m.ir", "op "), (42, more));
    assert_eq!(rows("stats m.ir", "largest").0, 6);
    assert_eq!(rows("stats m.ir --top 50", "largest").0, 51);
    assert_eq!(rows("stats m.ir --top 0", "largest").0, 0);
    let json = bench.passdock("stats m.ir --json --top 2").json();
    assert_eq!(json["ops"]["kinds"].as_array().map(Vec::len), Some(60));
    assert_eq!(
        json["parameters"]["largest"].as_array().map(Vec::len),
        Some(2)
    );
}

#[test]
fn json_has_the_same() {
    let bench = Bench::new();
    bench.write("m.ir", ALL);
    let ran = bench.passdock("stats m.ir --json --top 1");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
    let json = ran.json();
    let Value::Object(object) = &json else {
        panic!("an object is printed");
    };
    let lines: Vec<String> = object
        .iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    expect![[r#"
        custom_domains: [{"domain":"com.acme","kinds":1,"ops":1,"versions":[2]},{"domain":"org.other","kinds":1,"ops":1,"versions":[]}]
        diagnostics: []
        domain: ""
        entry: "main"
        exit_status: 0
        external_files: []
        functions: [{"calls":0,"copies":1,"inputs":3,"kind":"graph","name":"main","ops":8,"opsets":[{"domain":"","version":17},{"domain":"com.acme","version":2},{"domain":"local","version":1}],"outputs":2},{"calls":3,"copies":3,"inputs":1,"kind":"graph","name":"local.Twice","ops":2,"opsets":[{"domain":"","version":18}],"outputs":1}]
        initializer_inputs: 0
        inputs: [{"dtype":"f32","name":"x","overridable":false,"shape":["batch",3],"type":"f32[batch,3]"},{"dtype":"bool","name":"go on","overridable":false,"shape":[],"type":"bool[]"},{"dtype":"f16","name":"scale","overridable":true,"shape":[],"type":"f16[]"}]
        ir_version: 10
        json_version: 1
        metadata: [{"key":"class names","value":"{0: 'cat',\n 1: 'dog'}"}]
        model: {"bytes":1299,"format":"ir","in":"m.ir"}
        model_version: 7
        ok: true
        ops: {"inlined":11,"kinds":[{"count":3,"domain":"local","nested":3,"op":"local.Twice","provider":"function"},{"count":1,"domain":"com.acme","nested":0,"op":"com.acme.Fuse","provider":"custom"},{"count":1,"domain":"","nested":0,"op":"onnx.Add","provider":"onnx"},{"count":1,"domain":"","nested":0,"op":"onnx.ConstantOfShape","provider":"onnx"},{"count":1,"domain":"","nested":0,"op":"onnx.If","provider":"onnx"},{"count":1,"domain":"","nested":0,"op":"onnx.MatMul","provider":"onnx"},{"count":1,"domain":"","nested":0,"op":"onnx.SequenceConstruct","provider":"onnx"},{"count":1,"domain":"org.other","nested":0,"op":"org.other.Round","provider":"custom"}],"nested":3,"total":10}
        opsets: [{"domain":"","version":17},{"domain":"com.acme","version":2},{"domain":"local","version":1}]
        outputs: [{"dtype":"f32","name":"y","shape":["batch",null],"type":"f32[batch,?]"},{"dtype":null,"name":"z\u0007","shape":null,"type":"seq<str[k]>"}]
        parameters: {"attributes":{"bytes":4,"elements":1,"tensors":1},"by_dtype":[{"bytes":1024048,"dtype":"f32","elements":256012,"tensors":2},{"bytes":32,"dtype":"i64","elements":4,"tensors":2},{"bytes":27,"dtype":"str","elements":2,"tensors":1},{"bytes":2,"dtype":"f16","elements":1,"tensors":1}],"bytes":1024109,"constant_nodes":{"bytes":8,"elements":1,"tensors":1},"defaults":{"bytes":2,"elements":1,"tensors":1},"elements":256019,"initializers":{"bytes":1024099,"elements":256017,"tensors":4},"largest":[{"bytes":1024000,"elements":256000,"file":null,"function":"main","name":"zeros","storage":"splat","type":"f32[1000,256]"}],"scalars":{"bytes":0,"elements":0,"tensors":0},"shared":{"bytes":0,"elements":0,"tensors":0},"sparse":{"bytes":0,"elements":0,"stored":0,"tensors":0},"splats":{"bytes":1024000,"elements":256000,"tensors":1},"tensors":6,"unused":{"bytes":24,"elements":3,"tensors":1}}
        producer_name: "by \u001b[31mhand"
        producer_version: "1.2"
        results: {"static_shape":0,"total":10,"typed":7}
        subgraphs: {"depth":1,"holders":[{"op":"onnx.If","ops":1,"regions":2}],"regions":2}
        symbols: ["batch","k"]
        unknown_dims: 1"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn errors_are_diagnostics() {
    let bench = Bench::new();
    bench
        .write("m.ir", RELUS)
        .write("no.onnx", "no model at all");
    assert_eq!(bench.passdock("convert m.ir whole.onnx").status, 0);
    let whole = std::fs::read(bench.path("whole.onnx")).expect("a model");
    bench.write("cut.onnx", &whole[..whole.len() / 2]);
    bench.write("cut.ir", &RELUS[..RELUS.len() / 2]);
    let mut all = String::new();
    for (model, status) in [
        ("gone.onnx", 1),
        ("gone.ir", 1),
        ("no.onnx", 1),
        ("cut.onnx", 1),
        ("cut.ir", 1),
        ("m.txt", 2),
    ] {
        let ran = bench.passdock(&format!("stats {model}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (status, ""), "{model}");
        all.push_str(&ran.stderr);
        let ran = bench.passdock(&format!("stats {model} --json"));
        let json = ran.json();
        assert_eq!(ran.status, status, "{model}");
        assert_eq!(json["ok"], false, "{model}");
        assert_eq!(json["exit_status"], status, "{model}");
        assert_eq!(json["model"]["in"], *model, "{model}");
        assert_eq!(json["ops"], Value::Null, "{model}");
        let message = json["diagnostics"][0]["message"].as_str();
        assert!(ran.stderr.contains(message.expect("a sentence")), "{model}");
    }
    expect![[r#"
        error[read]: The model gone.onnx: it can't be read: No such file or directory (os error 2).
        error[read]: The model `gone.ir` can't be read: No such file or directory (os error 2).
        error[read]: The model no.onnx: it isn't a binary ONNX model: it is a text file.
        error[read]: The model cut.onnx: it is truncated, or it isn't an ONNX model: a length goes beyond the end of its message (at byte 9).
        error[read]: Expected an op, found the end of the text.
         --> cut.ir:3:9
          |
        3 |     %0 = 
          |         ^
        error[usage]: The file `m.txt` is neither `.onnx` nor `.ir`.
         |
         = help: The extension says what a model file holds; `-` is IR text.
    "#]].assert_eq(&all);
    assert_eq!(bench.passdock("stats").status, 2);
    assert_eq!(bench.passdock("stats m.ir --top many").status, 2);
}

/// A protobuf field that holds bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    let mut len = bytes.len();
    while len >= 0x80 {
        field.push(len as u8 | 0x80);
        len >>= 7;
    }
    field.push(len as u8);
    field.extend(bytes);
    field
}

/// An `f32[2]` that says it is in a file.
fn external(name: &str, file: &str, offset: &str) -> Vec<u8> {
    let entry = |key: &str, value: &str| {
        field(
            13,
            &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat(),
        )
    };
    let tensor = [
        vec![1 << 3, 2, 2 << 3, 1, 14 << 3, 1],
        field(8, name.as_bytes()),
        entry("location", file),
        entry("offset", offset),
    ];
    field(5, &tensor.concat())
}

/// A model of IR version 3 with these tensors, one of them also an input, and metadata.
fn model(tensors: &[Vec<u8>]) -> Vec<u8> {
    let ty = [10, 9, 8, 1, 18, 5, 10, 3, 18, 1, b'n'];
    let info = |name: &str| [field(1, name.as_bytes()), field(2, &ty)].concat();
    let node = [
        field(1, b"x"),
        field(1, b"a"),
        field(2, b"y"),
        field(4, b"Add"),
    ]
    .concat();
    let graph = [
        field(1, &node),
        tensors.concat(),
        field(11, &info("x")),
        field(11, &info("a")),
        field(12, &info("y")),
    ];
    let opset = vec![2 << 3, 9];
    let property = [field(1, b"author"), field(2, b"nobody")].concat();
    [
        vec![1 << 3, 3],
        field(7, &graph.concat()),
        field(8, &opset),
        field(14, &property),
    ]
    .concat()
}

#[test]
fn external_files_are_looked_for() {
    let bench = Bench::new();
    let tensors = [
        external("a", "here.bin", "0"),
        external("b", "here.bin", "64"),
        external("c", "short.bin", "4096"),
        external("d", "gone.bin", "0"),
        external("e", "../secret.bin", "0"),
    ];
    std::fs::create_dir(bench.path("models")).expect("a directory");
    bench
        .write("models/here.bin", [0; 72])
        .write("models/short.bin", [0; 4100])
        .write("secret.bin", [0; 8])
        .write("models/m.onnx", model(&tensors));
    check(
        &bench,
        "stats models/m.onnx",
        expect![[r#"
            model         models/m.onnx, 337 B, ONNX IR version 3
            metadata      author = nobody
            opsets        ai.onnx 9
            ops           1 of 1 kind
            results       1: 1 typed, 0 of static shape
            parameters    10 elements, 40 B: 5 initializers
              unused      4 tensors, 32 B
            inputs        1, and 1 initializer listed as inputs (IR version below 4)
            dynamic dims  n

            input  type
            x      f32[n]

            output  type
            y       f32[n]

            op        count
            onnx.Add      1

            dtype  tensors  elements  bytes    share
            f32          5        10   40 B  100.0 %

            largest constants  type    bytes   share
            a                  f32[2]    8 B  20.0 %  here.bin
            b                  f32[2]    8 B  20.0 %  here.bin
            c                  f32[2]    8 B  20.0 %  short.bin
            d                  f32[2]    8 B  20.0 %  gone.bin
            e                  f32[2]    8 B  20.0 %  ../secret.bin

            external file  tensors  used    size
            ../secret.bin        1   8 B          The external data file "models/../secret.bin" can't be read: it isn't inside the model's directory, `models`; `--allow-outside-data` reads data from outside of it.
            gone.bin             1   8 B          The external data file "models/gone.bin" can't be read: No such file or directory (os error 2).
            here.bin             2  16 B    72 B
            short.bin            1   8 B  4.1 kB  The file has 4100 bytes, and its tensors reach to byte 4104.
        "#]],
    );
    let allowed = bench.passdock("stats models/m.onnx --allow-outside-data --json");
    assert_eq!(allowed.json()["external_files"][0]["bytes"], 8);
    let files = bench.passdock("stats models/m.onnx --json").json()["external_files"].clone();
    let here = &files[2];
    assert_eq!(
        here["path"],
        bench.path("models/here.bin").display().to_string()
    );
    assert_eq!(
        (here["bytes"].as_u64(), here["bytes_needed"].as_u64()),
        (Some(72), Some(72))
    );
    assert_eq!(here["problem"], Value::Null);
}
