//! Constants in text: exact round trips of every element type, and bytes in other files.

use std::sync::Arc;

use expect_test::expect;
use passdock_abi::{DType, Dim, FunctionKind, LocKind, RegionId, TypeId};
use passdock_ir::constant::string_data;
use passdock_ir::text::{self, Constants, ParseOptions, PrintOptions};
use passdock_ir::{ByteSource, ConstantData, FileRange, Function, Module, Payload, TypeData};

fn module(fill: impl FnOnce(&mut Function)) -> Module {
    let mut module = Module::new();
    let symbols = module.symbols().clone();
    let name = symbols.intern("f");
    let mut f = Function::new(symbols, FunctionKind::GRAPH, name);
    fill(&mut f);
    f.set_results(f.body(), &[], &[]).expect("no results");
    module.insert(f).expect("the name is new");
    module
}

fn vector(f: &mut Function, dtype: DType, len: usize) -> TypeId {
    f.add_type(TypeData::Tensor(dtype, Some(&[Dim::constant(len as i64)])))
}

fn constant(f: &mut Function, dtype: DType, bytes: &[u8], count: usize) {
    let ty = vector(f, dtype, count);
    f.add_constant(ty, ConstantData::inline(bytes), RegionId::NONE, "")
        .expect("valid data");
}

fn bytes_of(module: &Module) -> Vec<Vec<u8>> {
    let f = module.function_named("f").expect("function `f`");
    f.live_constants()
        .map(|(id, _)| f.constant_data(id).bytes().expect("readable").to_vec())
        .collect()
}

#[test]
fn elements_round_trip_bit_for_bit() {
    let module = module(|f| {
        let floats = [
            0_u32,
            1 << 31,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0xffc0_0001,
            1,
            0x7f7f_ffff,
            0x3dcc_cccd,
        ];
        let bytes: Vec<u8> = floats.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        constant(f, DType::F32, &bytes, floats.len());
        let doubles = [0.1_f64, f64::MIN_POSITIVE, f64::NAN, -f64::NAN, 5e-324];
        let bytes: Vec<u8> = doubles
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        constant(f, DType::F64, &bytes, doubles.len());
        let halves = [0x3555_u16, 0x8000, 0x7c00, 0x7e00, 0x7e01, 1];
        let bytes: Vec<u8> = halves.iter().flat_map(|bits| bits.to_le_bytes()).collect();
        constant(f, DType::F16, &bytes, halves.len());
        constant(f, DType::BF16, &bytes, halves.len());
        constant(f, DType::C64, &bytes[..8], 1);
        constant(f, DType::F8E4M3FN, &[0x3c, 0xff], 2);
        constant(f, DType::F4E2M1, &[0x3c, 0x0f], 3);
        constant(f, DType::I4, &[0x8f, 0x07], 3);
        constant(f, DType::U2, &[0b1101_1000], 4);
        constant(f, DType::I2, &[0b10], 1);
        constant(f, DType::F6E2M3, &[0x81, 0x30, 0xfc, 0x2a], 5);
        constant(f, DType::F6E3M2, &[0x7f, 0x0f], 2);
        constant(f, DType::BOOL, &[0, 1, 2], 3);
        constant(f, DType::U64, &u64::MAX.to_le_bytes(), 1);
        constant(f, DType::I64, &i64::MIN.to_le_bytes(), 1);
        constant(
            f,
            DType::STRING,
            &string_data(&[&b"a\"\\\n"[..], b"\xff", b""]),
            3,
        );
        constant(f, DType::F32, &[], 0);
    });
    let printed = text::print(&module);
    expect![[r#"
        module {
          fn @f() {
            %0 = const f32[9] [0.0, -0.0, inf, -inf, nan, 0xffc00001, 1e-45, 3.4028235e38, 0.1]
            %1 = const f64[5] [0.1, 2.2250738585072014e-308, nan, 0xfff8000000000000, 5e-324]
            %2 = const f16[6] [0.33325195, -0.0, inf, nan, 0x7e01, 5.9604645e-8]
            %3 = const bf16[6] [7.9348683e-7, -0.0, 2.658456e36, 4.2535296e37, 4.2867603e37, 9.1835e-41]
            %4 = const c64[1] [-1.9132e-41, 4.2696257e37]
            %5 = const f8e4m3fn[2] [0x3c, 0xff]
            %6 = const f4e2m1[3] [0xc, 0x3, 0xf]
            %7 = const i4[3] [-1, -8, 7]
            %8 = const u2[4] [0, 2, 1, 3]
            %9 = const i2[1] [-2]
            %10 = const f6e2m3[5] [0x1, 0x2, 0x3, 0x3f, 0x2a]
            %11 = const f6e3m2[2] [0x3f, 0x3d]
            %12 = const bool[3] [false, true, 0x2]
            %13 = const u64[1] [18446744073709551615]
            %14 = const i64[1] [-9223372036854775808]
            %15 = const str[3] ["a\"\\\n", "\xff", ""]
            %16 = const f32[0] []
            return
          }
        }
    "#]].assert_eq(&printed);
    let reparsed = text::parse(&printed).expect("printed IR");
    assert_eq!(bytes_of(&reparsed), bytes_of(&module));
}

/// A file in memory.
struct Memory(String, Vec<u8>);

impl ByteSource for Memory {
    fn name(&self) -> &str {
        &self.0
    }

    fn read(&self, offset: u64, len: u64) -> Result<&[u8], String> {
        let range = offset as usize..(offset + len) as usize;
        let message = || format!("{} has only {} bytes.", self.0, self.1.len());
        self.1.get(range).ok_or_else(message)
    }

    fn size(&self) -> Result<u64, String> {
        Ok(self.1.len() as u64)
    }
}

fn large() -> Module {
    module(|f| {
        let bytes: Vec<u8> = (0..70_u8).collect();
        let ty = vector(f, DType::U8, 70);
        let inline = ConstantData::inline(bytes);
        for name in ["a", "b"] {
            f.add_constant(ty, inline.clone(), RegionId::NONE, name)
                .expect("valid data");
        }
        let source = Arc::new(Memory("/models/deep/w.bin".to_owned(), vec![7; 300]));
        let mapped = ConstantData::new(Payload::Mapped(FileRange {
            source,
            offset: 8,
            len: 70,
        }));
        f.add_constant(ty, mapped, RegionId::NONE, "w")
            .expect("valid data");
        let splat = ConstantData::new(Payload::Splat {
            dtype: DType::U8,
            element: [9].into(),
            count: 70,
        });
        f.add_constant(ty, splat, RegionId::NONE, "s")
            .expect("valid data");
    })
}

#[test]
fn large_constants_are_printed_as_blobs_or_files() {
    let module = large();
    let printed = text::print(&module);
    expect![[r#"
        module {
          fn @f() {
            %a = const u8[70] blob(0)
            %b = const u8[70] blob(0)
            %w = const u8[70] external("/models/deep/w.bin", 8, 70)
            %s = const u8[70] splat(9)
            return
          }
          blob 0 = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERQ=="
        }
    "#]].assert_eq(&printed);
    let open = |file: &str| -> Result<Arc<dyn ByteSource>, String> {
        Ok(Arc::new(Memory(file.to_owned(), vec![7; 300])))
    };
    let options = ParseOptions {
        file: None,
        open: Some(&open),
    };
    let reparsed = text::parse_with(&printed, &options).expect("printed IR");
    assert_eq!(text::print(&reparsed), printed);
    assert_eq!(bytes_of(&reparsed), bytes_of(&module));
    let short = |file: &str| -> Result<Arc<dyn ByteSource>, String> {
        Ok(Arc::new(Memory(file.to_owned(), vec![7; 20])))
    };
    let options = ParseOptions {
        file: None,
        open: Some(&short),
    };
    let error = text::parse_with(&printed, &options).expect_err("the file is too short");
    expect!["5:23: /models/deep/w.bin has only 20 bytes."].assert_eq(&error.to_string());
}

#[test]
fn constants_are_embedded_or_elided() {
    let module = large();
    let embed = PrintOptions {
        constants: Constants::Embed,
        ..PrintOptions::default()
    };
    let printed = text::print_with(&module, &embed);
    let reparsed = text::parse(&printed).expect("embedded data");
    assert_eq!(bytes_of(&reparsed), bytes_of(&module));
    let elide = PrintOptions {
        constants: Constants::Elide,
        ..PrintOptions::default()
    };
    let printed = text::print_with(&module, &elide);
    expect![[r#"
        module {
          fn @f() {
            %a = const u8[70] elided(70)
            %b = const u8[70] elided(70)
            %w = const u8[70] elided(70)
            %s = const u8[70] splat(9)
            return
          }
        }
        ; 3 constants are elided, so this text cannot be parsed.
    "#]]
    .assert_eq(&printed);
    assert!(text::parse(&printed).is_err());
}

#[test]
fn file_names_are_relative_to_the_text() {
    let module = large();
    for (directory, name) in [
        ("/models", "external(\"deep/w.bin\", 8, 70)"),
        ("/models/deep", "external(\"w.bin\", 8, 70)"),
        ("/other", "external(\"/models/deep/w.bin\", 8, 70)"),
    ] {
        let options = PrintOptions {
            directory: Some(directory.as_ref()),
            ..PrintOptions::default()
        };
        let printed = text::print_with(&module, &options);
        assert!(printed.contains(name), "{printed}");
    }
}

#[test]
fn unreadable_file_is_an_error() {
    let module = module(|f| {
        let ty = vector(f, DType::U8, 100);
        let source = Arc::new(Memory("w.bin".to_owned(), Vec::new()));
        let mapped = ConstantData::new(Payload::External(FileRange {
            source,
            offset: 0,
            len: 100,
        }));
        f.add_constant(ty, mapped, RegionId::NONE, "w")
            .expect("valid data");
    });
    let options = PrintOptions {
        constants: Constants::Embed,
        ..PrintOptions::default()
    };
    let error = text::write_module(&mut Vec::new(), &module, &options).expect_err("no bytes");
    expect!["w.bin has only 0 bytes."].assert_eq(&error.to_string());
}

#[test]
fn ops_of_a_named_text_have_line_locations() {
    let source = "module {\n  fn @f(%x: ?) {\n    %a = onnx.Relu(%x)\n    \
        onnx.If(%a) region {\n      yield\n    }\n    return\n  }\n}\n";
    let options = ParseOptions {
        file: Some("a.ir"),
        open: None,
    };
    let module = text::parse_with(source, &options).expect("valid IR");
    assert!(!text::print(&module).contains("loc"));
    let f = module.function_named("f").expect("function `f`");
    let locations = f.walk(f.body()).filter_map(|op| f.loc(f.op(op).loc));
    let locations: Vec<_> = locations
        .map(|loc| (loc.kind, f.text(loc.name), loc.a, loc.b))
        .collect();
    let location = |line| (LocKind::TEXT, "a.ir", line, 5);
    assert_eq!(locations, [location(3), location(4)]);
}

/// A position in a text isn't printed, so it doesn't cause an empty terminator to be printed.
#[test]
fn terminator_with_text_location_is_implied() {
    let text = "module {\n  prim @f() {\n    return loc(\"a.ir\":3:5)\n  }\n}\n";
    let module = text::parse(text).expect("valid IR");
    assert_eq!(text::print(&module), "module {\n  prim @f() {\n  }\n}\n");
}
