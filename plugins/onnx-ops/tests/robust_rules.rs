//! For any op, a type rule returns types, an error or nothing, and
//! never panics. Operands and attributes are random, and the same in each run.

use std::sync::{Arc, Mutex};

use passdock::{PassInfo, Registry, create_function_pass};
use passdock_plugin_api::AttrKind;
use passdock_plugin_api::prelude::*;
use passdock_plugins_onnx_ops::ops::{self, Operator};

/// A small random generator (xorshift) for choosing cases.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len())].clone()
    }

    /// Returns a mostly small, sometimes extreme number.
    fn int(&mut self) -> i64 {
        let small = self.roll(7) as i64 - 3;
        self.pick(&[
            small,
            small,
            small,
            small,
            i64::MIN,
            i64::MAX,
            1 << 31,
            1 << 62,
        ])
    }

    fn ints(&mut self) -> Vec<i64> {
        (0..self.roll(5)).map(|_| self.int()).collect()
    }

    fn dim(&mut self, f: &mut Function) -> Result<Dim, EditError> {
        Ok(match self.roll(8) {
            0 => Dim::UNKNOWN,
            1 => Dim::symbol(f.intern("n")?),
            2 => Dim::symbol(f.intern("m")?),
            3 => Dim::constant(self.pick(&[0, 7, i64::MAX, 1 << 40])),
            _ => Dim::constant(self.roll(4) as i64),
        })
    }

    fn dtype(&mut self) -> DType {
        let any = self.pick(DType::ALL);
        self.pick(&[
            DType::F32,
            DType::F32,
            DType::I64,
            DType::I64,
            DType::STRING,
            any,
        ])
    }

    /// Returns mostly a tensor type; else a sequence, optional or unknown type.
    fn ty(&mut self, f: &mut Function) -> Result<TypeId, EditError> {
        let dtype = self.dtype();
        let dims: Result<Vec<Dim>, _> = (0..self.roll(6)).map(|_| self.dim(f)).collect();
        let tensor = match self.roll(8) {
            0 => TypeSpec::unranked(dtype),
            _ => TypeSpec::tensor(dtype, dims?),
        };
        let tensor = f.add_type(&tensor)?;
        match self.roll(12) {
            0 => f.add_type(&TypeSpec::sequence(tensor)),
            1 => f.add_type(&TypeSpec::optional(tensor)),
            2 => f.add_type(&TypeSpec::unknown()),
            _ => Ok(tensor),
        }
    }

    /// Returns no value, a value of a random type, or a list of numbers.
    fn operand(&mut self, f: &mut Function, at: Position) -> Result<ValueId, EditError> {
        match self.roll(8) {
            0 => Ok(ValueId::NONE),
            1 | 2 => {
                let ints = self.ints();
                let ty = f.add_type(&TypeSpec::shaped(DType::I64, &[ints.len() as i64]))?;
                let bytes: Vec<u8> = ints.into_iter().flat_map(i64::to_le_bytes).collect();
                f.add_constant(&ConstantSpec::new(ty, &bytes))
            }
            3 => {
                let float = self.pick(&[0.0f32, 0.5, 3.0, -2.5, 1e30, f32::NAN, f32::INFINITY]);
                let ty = f.add_type(&TypeSpec::shaped(DType::F32, &[]))?;
                f.add_constant(&ConstantSpec::new(ty, &float.to_le_bytes()))
            }
            _ => {
                let ty = self.ty(f)?;
                let source = f.create_op(OpBuilder::new("test.Source").result(ty), at)?;
                Ok(f.result(source, 0))
            }
        }
    }

    /// Returns a valid or invalid value of an attribute.
    fn attr(&mut self, attr: &AttrDef) -> Option<AttrValue> {
        let words: &[&[u8]] = &[
            b"SAME_UPPER",
            b"VALID",
            b"none",
            b"not_larger",
            b"bidirectional",
            b"ab,b->a",
            b"...a->a...",
            b".",
            b"->",
            b"",
            b"\xff",
            b"TO_FLOAT",
        ];
        let kind = match self.roll(10) {
            0 => self.pick(&[
                AttrKind::INT,
                AttrKind::INTS,
                AttrKind::STRING,
                AttrKind::FLOATS,
            ]),
            _ => attr.kind,
        };
        Some(match kind {
            AttrKind::INT => AttrValue::Int(self.int()),
            AttrKind::FLOAT => AttrValue::Float(0.5),
            AttrKind::INTS => AttrValue::Ints(self.ints()),
            AttrKind::STRING => AttrValue::String(self.pick(words).to_vec()),
            AttrKind::FLOATS => {
                let floats =
                    (0..self.roll(5)).map(|_| self.pick(&[0.5, 2.0, -1.0, f32::NAN, 1e30]));
                AttrValue::Floats(floats.collect())
            }
            AttrKind::STRINGS => AttrValue::Strings(vec![b"a".to_vec(); self.roll(3)]),
            _ => return None,
        })
    }
}

/// The numbers of ops by result.
#[derive(Default)]
struct Tally {
    inferred: usize,
    rejected: usize,
    unknown: usize,
    failures: Vec<String>,
}

#[test]
fn type_rules_of_random_ops_do_not_panic() {
    let tally = Arc::new(Mutex::new(Tally::default()));
    let shared = tally.clone();
    let registry = Registry::new();
    registry
        .load_static(passdock_plugins_onnx_ops::PLUGIN)
        .expect("the plugin is well made");
    let pass = create_function_pass(PassInfo::new("test.transform.Ask"), move |f, cx| {
        let version = f.opset("").unwrap_or(0);
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ version as u64);
        let mut tally = shared.lock().expect("the lock is not poisoned");
        for operator in ops::all() {
            for _ in 0..24 {
                ask(f, cx, operator, &mut dice, &mut tally)?;
            }
        }
        Ok(())
    });
    registry.register(pass).expect("the name is free");
    let domains = "\"ai.onnx.ml\" = 5, \"ai.onnx.preview\" = 1, \"ai.onnx.preview.training\" = 1";
    let function =
        |version| format!("fn @v{version}() opset(\"\" = {version}, {domains}) {{ return }}\n");
    let functions: String = [7, 11, 13, 17, 20, 22, 28].map(function).concat();
    let source = format!("module {{\n{functions}}}");
    let text = passdock::testing::run_on_text(&registry, &["test.transform.Ask"], &source, |cx| cx);
    assert!(text.starts_with("module"), "{text}");
    let tally = tally.lock().expect("the pass is done");
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    let counts = [tally.inferred, tally.rejected, tally.unknown];
    assert!(
        counts.iter().all(|&count| count > 1000),
        "the ops are too much alike: {counts:?}"
    );
}

/// Creates an op and infers its types.
fn ask(
    f: &mut Function,
    cx: &PassContext,
    operator: &Operator,
    dice: &mut Dice,
    tally: &mut Tally,
) -> Result<(), EditError> {
    let at = Position {
        region: f.body(),
        before: OpId::NONE,
    };
    let (fewest, most) = operator.operands;
    let count = fewest as usize + dice.roll((most.min(fewest + 3) - fewest) as usize + 1);
    let mut op = OpBuilder::new(operator.name);
    let mut last = None;
    for _ in 0..count {
        // Most operators need operands of one type.
        let value = match last {
            Some(last) if dice.roll(2) == 0 => last,
            _ => dice.operand(f, at)?,
        };
        last = Some(value);
        op = op.operand(value);
    }
    for attr in operator.attrs.into_iter().flatten() {
        if dice.roll(2) == 0
            && let Some(value) = dice.attr(attr)
        {
            op = op.attr(attr.name, value);
        }
    }
    let op = f.create_op(op.untyped_results(1 + dice.roll(4)), at)?;
    match cx.infer(f, op) {
        Err(error) if error.message.contains("panicked") => tally.failures.push(error.message),
        Err(error) if error.message.contains("is invalid: ") => tally.rejected += 1,
        // The host must accept the types that a rule returns.
        Err(error) => tally
            .failures
            .push(format!("{}: {}", operator.name, error.message)),
        Ok(()) if f.type_of(f.result(op, 0)).kind() == TypeKind::UNKNOWN => tally.unknown += 1,
        Ok(()) => tally.inferred += 1,
    }
    Ok(())
}
