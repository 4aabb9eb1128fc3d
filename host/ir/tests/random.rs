//! Random modules: each verifies, prints, parses and prints the same. Randomly corrupted texts never make the parser,
//! the printer or the verifier panic.

mod support;

use passdock_abi::{AttrKind, DType, Dim, ExprKind, FunctionKind, RegionId, TypeId, ValueId};
use passdock_ir::text;
use passdock_ir::verify::verify_module;
use passdock_ir::{
    AttrData, CloneOps, ConstantData, Entity, Extras, Function, Module, NewAttr, NewOp, NewPort,
    NewRegion, Payload, Position, TypeData,
};
use support::{Random, corpus};

const NAMES: &[&str] = &[
    "x", "y", "a/b:0", "1", "nan", "for", "region", "%", "ü\n\"", "",
];
const OPS: &[&str] = &[
    "onnx.Relu",
    "onnx.Add",
    "com.microsoft.Gelu",
    "tir.store",
    "x.\"A.B\"#v2",
    "for",
    "loc",
    "\"not plain\".Op",
    "\"onnx\".Relu",
    "symbol",
];

/// Builds a random function with edits only.
struct Builder<'r> {
    random: &'r mut Random,
    f: Function,
}

impl Builder<'_> {
    fn dim(&mut self, depth: u32) -> Dim {
        let name = *self.random.pick(&["n", "m", "height width", "min"]);
        match self.random.below(if depth > 3 { 3 } else { 6 }) {
            0 => Dim::constant(self.random.below(100) as i64 - 10),
            1 => Dim::UNKNOWN,
            2 => Dim::symbol(self.f.symbols().intern(name)),
            _ => {
                let (lhs, rhs) = (self.dim(depth + 1), self.dim(depth + 1));
                let kind = ExprKind(1 + self.random.below(7) as u32);
                self.f.add_expr(kind, lhs, rhs).expect("valid dims")
            }
        }
    }

    fn dtype(&mut self) -> DType {
        *self.random.pick(DType::ALL)
    }

    fn ty(&mut self, depth: u32) -> TypeId {
        let dtype = self.dtype();
        let dims: Vec<Dim> = (0..self.random.below(4)).map(|_| self.dim(0)).collect();
        let name = self.f.symbols().intern("a.b c");
        match self.random.below(if depth > 2 { 5 } else { 11 }) {
            0 => TypeId(0),
            1 => self.f.add_type(TypeData::Tensor(dtype, None)),
            2 => self
                .f
                .add_type(TypeData::Scalar(dtype, 1 + self.random.below(3) as u32)),
            3 => {
                let spec = TypeData::Tensor(dtype, Some(&dims));
                self.f.add_denoted_type(spec, name)
            }
            4 => self.f.add_type(TypeData::Opaque(name)),
            5 => {
                let items = [self.ty(depth + 1), self.ty(depth + 1)];
                self.f.add_type(TypeData::Tuple(&items))
            }
            6 => {
                let item = self.ty(depth + 1);
                self.f.add_type(TypeData::Sequence(item))
            }
            7 => {
                let item = self.ty(depth + 1);
                self.f.add_type(TypeData::Map(dtype, item))
            }
            8 => {
                let items = [self.ty(depth + 1), self.ty(depth + 1)];
                self.f.add_type(TypeData::Function(&items, &items[..1]))
            }
            9 => self.f.add_type(TypeData::Buffer(passdock_ir::BufferSpec {
                dtype,
                shape: &dims,
                layout: &[],
                scope: name,
                may_alias: self.random.flip(),
            })),
            _ => self.f.add_type(TypeData::Sparse(dtype, Some(&dims))),
        }
    }

    /// Creates a type of a constant, and data for it.
    fn data(&mut self) -> (TypeId, std::sync::Arc<ConstantData>) {
        let dtype = self.dtype();
        let shape: Vec<i64> = (0..self.random.below(3))
            .map(|_| self.random.below(9) as i64)
            .collect();
        let dims: Vec<Dim> = shape.iter().map(|&dim| Dim::constant(dim)).collect();
        let scalar = self.random.below(4) == 0;
        let elements = if scalar {
            1
        } else {
            shape.iter().product::<i64>() as u64
        };
        let ty = self.f.add_type(if scalar {
            TypeData::Scalar(dtype, 1)
        } else {
            TypeData::Tensor(dtype, Some(&dims))
        });
        let splat = self.random.flip();
        let count = if splat { 1 } else { elements };
        let bytes = match dtype.byte_len(count) {
            Some(len) => {
                let mut bytes: Vec<u8> = (0..len).map(|_| self.random.below(256) as u8).collect();
                // The bits after the last element of a packed type are 0.
                let used = (count * u64::from(dtype.bits())) % 8;
                if let (Some(last), true) = (bytes.last_mut(), used > 0) {
                    *last &= (1 << used) - 1;
                }
                bytes
            }
            None => {
                let strings: Vec<String> = (0..count).map(|_| self.text().to_owned()).collect();
                passdock_ir::constant::string_data(&strings)
            }
        };
        let data = if splat {
            ConstantData::new(Payload::Splat {
                dtype,
                element: bytes.into(),
                count: elements,
            })
        } else {
            ConstantData::inline(bytes)
        };
        (ty, data)
    }

    fn text(&mut self) -> &'static str {
        self.random.pick::<&str>(NAMES)
    }

    fn region(&mut self, region: RegionId, visible: &[ValueId], depth: u32) {
        let mut visible = visible.to_vec();
        visible.extend(self.f.args(region));
        for _ in 0..self.random.below(3) {
            let (ty, data) = self.data();
            let name = if self.random.flip() { self.text() } else { "" };
            let value = self
                .f
                .add_constant(ty, data, region, name)
                .expect("valid data");
            visible.push(value);
        }
        for _ in 0..self.random.below(6) {
            self.op(region, &mut visible, depth);
        }
        let most = if visible.is_empty() { 1 } else { 3 };
        let values: Vec<ValueId> = (0..self.random.below(most))
            .map(|_| *self.random.pick(&visible))
            .collect();
        let tys: Vec<TypeId> = values
            .iter()
            .map(|_| {
                if self.random.flip() {
                    TypeId::NONE
                } else {
                    self.ty(0)
                }
            })
            .collect();
        let ports: Vec<NewPort<'_>> = tys
            .iter()
            .map(|&ty| NewPort {
                name: if self.random.flip() { "out" } else { "" },
                ty,
            })
            .collect();
        self.f
            .set_results(region, &values, &ports)
            .expect("visible values");
    }

    fn op(&mut self, region: RegionId, visible: &mut Vec<ValueId>, depth: u32) {
        let operands: Vec<ValueId> = (0..self.random.below(4))
            .map(|_| match self.random.below(4) {
                0 => ValueId::NONE,
                _ if visible.is_empty() => ValueId::NONE,
                _ => *self.random.pick(visible),
            })
            .collect();
        let types: Vec<TypeId> = (0..self.random.below(3)).map(|_| self.ty(0)).collect();
        let name = *self.random.pick(OPS);
        let loc = match self.random.below(3) {
            0 => self.f.add_name_loc("a \"node\""),
            1 => {
                let parts = [self.f.add_name_loc("a"), self.f.add_name_loc("b")];
                self.f.fuse_locs(&parts)
            }
            _ => passdock_abi::LocId::NONE,
        };
        let symbols = self.f.symbols().clone();
        let new = NewOp {
            loc,
            operands: &operands,
            result_types: &types,
            ..NewOp::new(symbols.intern(name))
        };
        let op = self
            .f
            .create_op(&new, Position::end(region))
            .expect("created");
        self.attrs(op);
        for at in 0..self.random.below(if depth > 3 { 1 } else { 3 }) {
            let ty = self.ty(0);
            let args = [NewPort {
                name: self.text(),
                ty,
            }];
            let name = symbols.intern(self.random.pick::<&str>(&["body", "then_branch", "loc"]));
            let nested = NewRegion {
                name,
                args: &args[..self.random.below(2) as usize],
            };
            let created = self.f.add_region(op, &nested).expect("a region");
            if self.random.flip() {
                let key = symbols.intern(self.random.pick::<&str>(&["body", "other"]));
                let attr = NewAttr::new(key, AttrData::Region(created));
                // A region attribute can't be replaced.
                if at == 0 {
                    self.f.set_attr(op, &attr).expect("a region of the op");
                }
            }
            self.region(created, visible, depth + 1);
        }
        for (at, result) in self
            .f
            .results(op)
            .collect::<Vec<_>>()
            .into_iter()
            .enumerate()
        {
            if at > 0 && self.random.below(4) == 0 {
                self.f.import_absent(result);
                continue;
            }
            if self.random.flip() {
                let name = self.text();
                self.f.set_name(result, name).expect("a live value");
            }
            if self.random.below(4) == 0 {
                self.f.import_declared(result);
            }
            visible.push(result);
        }
        if self.random.below(4) == 0 {
            let mut extras = Extras::default();
            if self.random.flip() {
                extras.doc = Some((*self.random.pick::<&str>(&["", "a \"b\"\n"])).into());
            }
            if self.random.flip() {
                extras.metadata =
                    Some(vec![("doc".into(), "".into()), ("a.b".into(), "\\".into())]);
            }
            if self.random.flip() {
                extras.bytes = vec![1, 2, 255];
            }
            self.f.origins_mut().set_extras(Entity::Op(op), extras);
        }
    }

    fn attrs(&mut self, op: passdock_abi::OpId) {
        for _ in 0..self.random.below(3) {
            let key = self
                .f
                .symbols()
                .intern(self.random.pick::<&str>(&["axis", "kind", "a b", "param"]));
            let ty = self.ty(1);
            let number = self.random.next() as i64;
            let float = f32::from_bits(self.random.next() as u32);
            let (tensor_ty, data) = self.data();
            let value = match self.random.below(13) {
                0 => AttrData::Int(number),
                1 => AttrData::Float(float),
                2 => AttrData::String(b"a\xff\"b"),
                3 => AttrData::Ints(&[number, -1]),
                4 => AttrData::Floats(&[float, -0.0]),
                5 => AttrData::Strings(&[b"", b"\\x"]),
                6 => AttrData::Type(ty),
                7 => AttrData::Types(&[ty, ty]),
                8 => AttrData::Opaque(&[0, 255]),
                9 => AttrData::Reference(key, AttrKind::INTS),
                10 => AttrData::Floats(&[]),
                11 => AttrData::None,
                _ => {
                    let body = self.f.body();
                    let id = self
                        .f
                        .add_tensor(tensor_ty, data, body)
                        .expect("valid data");
                    AttrData::Tensor(id)
                }
            };
            self.f
                .set_attr(op, &NewAttr::new(key, value))
                .expect("a valid attribute");
        }
    }
}

fn module(seed: u64) -> Module {
    let mut random = Random::new(seed);
    let mut module = Module::new();
    for at in 0..1 + random.below(3) {
        let symbols = module.symbols().clone();
        let name = symbols.intern(&format!("f{at}"));
        let kind = if random.flip() {
            FunctionKind::GRAPH
        } else {
            FunctionKind::PRIM
        };
        let f = Function::new(symbols, kind, name);
        let mut builder = Builder {
            random: &mut random,
            f,
        };
        for _ in 0..builder.random.below(3) {
            let ty = builder.ty(0);
            let name = builder.text();
            let body = builder.f.body();
            builder
                .f
                .add_arg(body, &NewPort { name, ty })
                .expect("created");
        }
        let body = builder.f.body();
        builder.region(body, &[], 0);
        let f = builder.f;
        module.insert(f).expect("the name is new");
    }
    module
}

fn check_function(module: &Module, seed: u64) {
    for function in module.functions() {
        if let Err(violations) = passdock_ir::verify::verify(function) {
            panic!("seed {seed}: {violations:#?}\n{}", text::print(module));
        }
    }
}

#[test]
fn random_modules_round_trip() {
    for seed in 0..300 {
        let mut module = module(seed);
        check_function(&module, seed);
        let printed = text::print(&module);
        let reparsed =
            text::parse(&printed).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{printed}"));
        check_function(&reparsed, seed);
        assert_eq!(text::print(&reparsed), printed, "seed {seed}");
        for name in module.names().collect::<Vec<_>>() {
            module.function_mut(name).expect("a function").compact();
        }
        check_function(&module, seed);
        assert_eq!(text::print(&module), printed, "seed {seed}");
    }
}

#[test]
fn corrupted_texts_do_not_panic() {
    let corpus = corpus();
    let mut random = Random::new(7);
    let mut read = 0;
    for _ in 0..3_000 {
        let mut bytes = random.pick(&corpus).clone().into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            let end = (at + random.below(20) as usize).min(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.below(256) as u8,
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let piece = bytes[at..end].to_vec();
                    let to = random.below(bytes.len() as u64) as usize;
                    bytes.splice(to..to, piece);
                }
                3 => bytes.insert(at, *random.pick(b"%@(){}[]\"\\:,=;_-0x.<>!?\n")),
                _ => bytes.truncate(at.max(1)),
            }
            if bytes.is_empty() {
                bytes.push(b' ');
            }
        }
        let Ok(source) = String::from_utf8(bytes) else {
            continue;
        };
        match text::parse(&source) {
            Ok(module) => {
                read += 1;
                let printed = text::print(&module);
                let reparsed = text::parse(&printed)
                    .unwrap_or_else(|error| panic!("{error}\nfrom {source}\nto {printed}"));
                assert_eq!(text::print(&reparsed), printed, "from {source}");
                check_function(&module, 0);
                _ = verify_module(&module);
            }
            Err(error) => {
                assert!(source.get(error.span.clone()).is_some(), "{error:?}");
                assert!(!error.message.ends_with('.'), "{error:?}");
            }
        }
    }
    assert!(read > 100, "only {read} texts were parsed");
}

/// Functions stay valid whatever region is inlined.
#[test]
fn randomly_inlined_regions_stay_valid() {
    let mut inlined = 0;
    for seed in 0..300 {
        let mut module = module(seed);
        let mut random = Random::new(seed);
        for name in module.names().collect::<Vec<_>>() {
            for _ in 0..4 {
                let f = module.function_mut(name).expect("a function");
                let parents: Vec<_> = f
                    .walk(f.body())
                    .filter(|&op| f.op(op).regions.len > 0)
                    .collect();
                if parents.is_empty() {
                    break;
                }
                let parent = *random.pick(&parents);
                let regions: Vec<RegionId> = f.regions_of(parent).collect();
                let region = *random.pick(&regions);
                let args = vec![ValueId::NONE; f.args(region).len()];
                f.inline_region(region, &args).expect("inlined");
                inlined += 1;
                check_function(&module, seed);
            }
            let f = module.function_mut(name).expect("a function");
            if random.flip() {
                f.compact();
            }
            check_function(&module, seed);
        }
        let printed = text::print(&module);
        let reparsed = text::parse(&printed).unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(text::print(&reparsed), printed, "seed {seed}");
    }
    assert!(inlined > 300, "{inlined}");
}

/// Functions stay valid whatever ops are outlined or copied; rejected edits change nothing.
#[test]
fn randomly_outlined_and_copied_ops_stay_valid() {
    let (mut outlined, mut copied, mut rejected) = (0, 0, 0);
    for seed in 0..60 {
        let mut module = module(seed);
        let mut random = Random::new(seed);
        for name in module.names().collect::<Vec<_>>() {
            for round in 0..4 {
                let created = module.symbols().intern(&format!("t.Of{}_{round}", name.0));
                let f = module.function_mut(name).expect("a function");
                let regions: Vec<RegionId> = f
                    .walk(f.body())
                    .flat_map(|op| f.regions_of(op).collect::<Vec<_>>())
                    .chain([f.body()])
                    .collect();
                let region = *random.pick(&regions);
                let end = f.terminator(region);
                let mut ops: Vec<_> = f.ops_in(region).filter(|&op| Some(op) != end).collect();
                ops.retain(|_| random.below(3) > 0);
                ops.truncate(4);
                let version = f.version();
                let copy = CloneOps {
                    ops: &ops,
                    source: None,
                    at: Position::end(region),
                    captures: &[],
                };
                if random.flip() {
                    let results = f.clone_ops(&copy).expect("values visible at the end");
                    let count: usize = ops.iter().map(|&op| f.results(op).count()).sum();
                    assert_eq!(results.len(), count);
                    copied += 1;
                } else {
                    match f.outline(&ops, created) {
                        Ok(created) => {
                            module.insert(created.function).expect("a new name");
                            outlined += 1;
                        }
                        Err(error) => {
                            assert_eq!(f.version(), version, "{error}");
                            rejected += 1;
                        }
                    }
                }
            }
            check_function(&module, seed);
        }
        let printed = text::print(&module);
        let reparsed = text::parse(&printed).unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(text::print(&reparsed), printed, "seed {seed}");
    }
    let counts = [outlined, copied, rejected];
    assert!(counts.iter().all(|&count| count > 8), "{counts:?}");
}
