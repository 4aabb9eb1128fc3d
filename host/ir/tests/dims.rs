//! Dim expressions: canonical forms, which have the same value.

use expect_test::{Expect, expect};
use passdock_abi::{Dim, DimKind, ExprId, ExprKind, FunctionKind, SymbolId};
use passdock_ir::{Function, Symbols};

/// Checks dims of a parameter's type, one per line: as written, and in canonical form.
#[track_caller]
fn check(expected: Expect) {
    let mut text = String::new();
    let lines = expected.data().lines().map(str::trim);
    for (dim, _) in lines.filter_map(|line| line.split_once(" = ")) {
        let source = format!("module {{\n  fn @f(%x: f32[{dim}]) {{\n    return\n  }}\n}}\n");
        let module = passdock_ir::text::parse(&source).expect("a dim");
        let printed = passdock_ir::text::print(&module).to_string();
        let (_, rest) = printed.split_once("f32[").expect("the parameter");
        let (canonical, _) = rest.split_once("])").expect("the parameter");
        text += &format!("{dim} = {canonical}\n");
    }
    expected.assert_eq(&text);
}

#[test]
fn sums_and_products_are_canonical() {
    check(expect![[r#"
            n+n = n*2
            n-n+1 = 1
            m+n-m = n
            (n+1)*2 = n*2+2
            (n+1)*2-n*2 = 2
            a*b+b*a = a*b*2
            (a*2)*(b*3) = a*b*6
            n-m = n-m
            n-m*2-3 = n-m*2-3
            (n+1)*m = (n+1)*m
        "#]]);
}

#[test]
fn quotients_are_canonical() {
    check(expect![[r#"
            n*2/2 = n
            (n*4+3)/2 = n*2+1
            (w-1)/2+1 = (w+1)/2
            ((w-1)/2)/2+1 = (w+3)/4
            (((w-1)/2+1)-1)/2+1 = (w+3)/4
            (n*6+9)/4 = n*3/2+2
            n*6/4 = n*3/2
            a*b/a = b
            a*b*2/(a*b) = 2
            a/b = a/b
            (n*4+n*3+5)%4 = (n*3+1)%4
            n*8%4 = 0
            (sequence-192)/128+1 = (sequence+64)/128-1
        "#]]);
}

#[test]
fn min_max_and_broadcast_are_canonical() {
    check(expect![[r#"
        min(n,min(m,n)) = min(m,n)
        min(min(0,n*-6),m) = min(n*-6,0)
        min(min(n,5),3) = min(n,3)
        max(n,0) = n
        min(n,0) = 0
        max(n+1,n) = n+1
        max(n-1,0) = max(n-1,0)
        min(n,n+2) = n
        max(max(n,2),7) = max(n,7)
        broadcast(n,1) = n
        broadcast(n,7) = 7
        broadcast(n,broadcast(m,n)) = broadcast(m,n)
        broadcast(n,min(n,512)) = n
        broadcast(n,min(n,1)) = broadcast(min(n,1),n)
    "#]]);
}

/// A simple pseudo-random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// An expression as constructed; evaluates to a size for given symbols, or to nothing.
enum Expr {
    Number(i64),
    Symbol(usize),
    Of(ExprKind, Box<(Expr, Expr)>),
}

impl Expr {
    fn random(random: &mut Random, depth: u32) -> Expr {
        if depth == 0 || random.below(4) == 0 {
            return match random.below(2) {
                0 => Expr::Number(random.below(9) as i64 - 2),
                _ => Expr::Symbol(random.below(3) as usize),
            };
        }
        let sides = (
            Expr::random(random, depth - 1),
            Expr::random(random, depth - 1),
        );
        Expr::Of(ExprKind(1 + random.below(7) as u32), Box::new(sides))
    }

    fn add_to(&self, f: &mut Function, symbols: &[Dim]) -> Dim {
        match self {
            Expr::Number(number) => Dim::constant(*number),
            Expr::Symbol(index) => symbols[*index],
            Expr::Of(kind, sides) => {
                let (lhs, rhs) = (sides.0.add_to(f, symbols), sides.1.add_to(f, symbols));
                f.add_expr(*kind, lhs, rhs).expect("valid dims")
            }
        }
    }

    fn value(&self, sizes: &[i64]) -> Option<i64> {
        match self {
            Expr::Number(number) => Some(*number),
            Expr::Symbol(index) => Some(sizes[*index]),
            Expr::Of(kind, sides) => combine(*kind, sides.0.value(sizes)?, sides.1.value(sizes)?),
        }
    }
}

fn combine(kind: ExprKind, a: i64, b: i64) -> Option<i64> {
    match kind {
        ExprKind::ADD => a.checked_add(b),
        ExprKind::MUL => a.checked_mul(b),
        ExprKind::FLOORDIV if b > 0 => Some(a.div_euclid(b)),
        ExprKind::MOD if b > 0 => Some(a.rem_euclid(b)),
        ExprKind::MIN => Some(a.min(b)),
        ExprKind::MAX => Some(a.max(b)),
        // Incompatible sizes have no result, and neither have negative ones.
        ExprKind::BROADCAST if a < 0 || b < 0 => None,
        ExprKind::BROADCAST if a == 1 => Some(b),
        ExprKind::BROADCAST if b == 1 || a == b => Some(a),
        _ => None,
    }
}

fn value_of(f: &Function, dim: Dim, symbols: &[Dim], sizes: &[i64]) -> Option<i64> {
    match dim.kind {
        DimKind::CONST => Some(dim.value),
        DimKind::SYMBOL => Some(sizes[symbols.iter().position(|symbol| *symbol == dim)?]),
        DimKind::EXPR => {
            let expr = *f.expr(ExprId(dim.value as u32));
            let sides = (
                value_of(f, expr.lhs, symbols, sizes)?,
                value_of(f, expr.rhs, symbols, sizes)?,
            );
            combine(expr.kind, sides.0, sides.1)
        }
        _ => None,
    }
}

#[test]
fn canonical_form_has_the_same_value() {
    let mut random = Random(7);
    let table = Symbols::new();
    let name = table.intern("f");
    let (mut compared, mut unknown) = (0, 0);
    for round in 0..20_000 {
        let mut f = Function::new(table.clone(), FunctionKind::GRAPH, name);
        let symbols = ["a", "b", "c"].map(|symbol| Dim::symbol(table.intern(symbol)));
        let expr = Expr::random(&mut random, 4);
        let dim = expr.add_to(&mut f, &symbols);
        if dim.kind == DimKind::UNKNOWN {
            unknown += 1;
            continue;
        }
        for _ in 0..10 {
            let sizes: Vec<i64> = (0..3).map(|_| random.below(7) as i64).collect();
            if let Some(expected) = expr.value(&sizes) {
                let actual = value_of(&f, dim, &symbols, &sizes);
                assert_eq!(actual, Some(expected), "round {round}, sizes {sizes:?}");
                compared += 1;
            }
        }
        // An expression rebuilt from its operands is the same expression.
        if let DimKind::EXPR = dim.kind {
            let record = *f.expr(ExprId(dim.value as u32));
            let rebuilt = f
                .add_expr(record.kind, record.lhs, record.rhs)
                .expect("valid dims");
            assert_eq!(rebuilt, dim, "round {round}");
        }
        assert_eq!(dim.denotation, SymbolId::NONE);
    }
    assert!(compared > 50_000, "only {compared} sizes were compared");
    assert!(unknown < 10_000, "{unknown} dims became unknown");
}
