//! Records with random fields: the verifier never panics.

use passdock_abi::{
    AttrKind, ConstId, LocId, OpId, RegionId, SymbolId, TypeId, TypeKind, UseId, ValueId,
};

use super::SOURCE;
use crate::Function;
use crate::verify::verify;

/// A function from another process may contain anything. Records with random fields are violations or harmless;
/// functions that verify can be printed, edited (with any edit that succeeds) and compacted.
#[test]
fn random_records_do_not_panic() {
    let mut state = 1_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let module = crate::text::parse(SOURCE).expect("valid IR");
    let source = module.functions().next().expect("one function");
    let mut broken = 0;
    for _ in 0..20_000 {
        let mut f = (**source).clone();
        for _ in 0..1 + random(2) {
            let value = match random(4) {
                0 => u32::MAX,
                1 => u32::MAX - random(3) as u32,
                _ => random(40) as u32,
            };
            scramble(&mut f, value, &mut random);
        }
        match verify(&f) {
            Ok(()) => {
                let options = crate::text::PrintOptions::default();
                _ = crate::text::print_function(&f, &options);
                f.compact();
                verify(&f).expect("valid after compaction");
            }
            Err(violations) => {
                broken += 1;
                _ = violations.iter().map(ToString::to_string).count();
            }
        }
    }
    assert!(broken > 10_000, "{broken}");
}

/// Overwrites a random field of a random record.
fn scramble(f: &mut Function, value: u32, random: &mut impl FnMut(usize) -> usize) {
    macro_rules! any {
        ($column:ident) => {{
            let at = random(f.$column.len());
            &mut f.$column[at]
        }};
    }
    let field = random(46);
    match field {
        0 => any!(ops).name = SymbolId(value),
        1 => any!(ops).flags = value & 3,
        2 => any!(ops).operands.start = value,
        3 => any!(ops).operands.len = value,
        4 => any!(ops).results.start = value,
        5 => any!(ops).results.len = value,
        6 => any!(ops).attrs.start = value,
        7 => any!(ops).attrs.len = value,
        8 => any!(ops).regions.start = value,
        9 => any!(ops).regions.len = value,
        10 => any!(ops).parent = RegionId(value),
        11 => any!(ops).prev = OpId(value),
        12 => any!(ops).next = OpId(value),
        13 => any!(ops).loc = LocId(value),
        14 => any!(ops).order = u64::from(value),
        15 => any!(values).ty = TypeId(value),
        16 => any!(values).name = SymbolId(value),
        17 => any!(values).flags = value,
        18 => any!(values).def = value,
        19 => any!(values).index = value,
        20 => any!(values).first_use = UseId(value),
        21 => any!(values).use_count = value,
        22 => any!(values).constant = ConstId(value),
        23 => any!(uses).value = ValueId(value),
        24 => any!(uses).user = OpId(value),
        25 => any!(uses).next = UseId(value),
        26 => any!(uses).prev = UseId(value),
        27 => any!(regions).args.start = value,
        28 => any!(regions).args.len = value,
        29 => any!(regions).ports.start = value,
        30 => any!(regions).first = OpId(value),
        31 => any!(regions).last = OpId(value),
        32 => any!(regions).loc = LocId(value),
        33 => any!(attrs).kind = AttrKind(value),
        34 => any!(attrs).bits = u64::from(value),
        35 => any!(attrs).list.start = value,
        36 => any!(attrs).list.len = value,
        37 => any!(types).kind = TypeKind(value),
        38 => any!(types).aux.start = value,
        39 => any!(types).dims.len = value,
        40 => any!(dims).value = i64::from(value),
        41 => any!(constants).ty = TypeId(value),
        42 => any!(constants).region = RegionId(value),
        43 => any!(locs).a = value,
        44 => *any!(ids) = value,
        _ => f.body = RegionId(value),
    }
}
