//! Entities that passes create without names.

use expect_test::expect;
use passdock_abi::{TypeId, ValueId};
use passdock_ir::{Function, NewOp, NewPort, NewRegion, Position};

use super::edits::{chain, check};
use super::{op, value};

/// A pass needn't name anything that it creates: graphs, inputs and outputs get names.
#[test]
fn created_regions_get_names() {
    check(
        &chain(),
        |f| {
            let name = |f: &Function, name: &str| f.symbols().intern(name);
            let unnamed = NewPort {
                name: "",
                ty: TypeId::NONE,
            };
            let existing = op(f, "b");
            let outer = value(f, "a");
            let regions = [NewRegion {
                name: name(f, "body"),
                args: &[unnamed, unnamed, unnamed],
            }];
            let new = NewOp {
                operands: &[ValueId::NONE, ValueId::NONE, outer],
                result_types: &[TypeId(0); 5],
                regions: &regions,
                ..NewOp::new(name(f, "onnx.Loop"))
            };
            let created = f.create_op(&new, Position::before(existing)).unwrap();
            let body = f.regions_of(created).next().unwrap();
            let args: Vec<ValueId> = f.args(body).collect();
            let neg = NewOp {
                operands: &[args[2]],
                result_types: &[TypeId(0)],
                ..NewOp::new(name(f, "onnx.Neg"))
            };
            let neg = f.create_op(&neg, Position::end(body)).unwrap();
            let neg = f.result(neg, 0).unwrap();
            // An input, one value twice, and an outer value three times.
            let results = [args[1], neg, neg, outer, outer, outer];
            f.set_results(body, &results, &[unnamed; 6]).unwrap();
        },
        expect![[r#"
            g(x) -> (y)
              a = Relu(x) #first field 6
              Loop_9, Loop_10, Loop_11, Loop_12, Loop_13 = Loop(, , a) body
                body(constant_6, constant_7, constant_8) -> (constant_7, Neg_14, Neg_14_15, a_16, a_17, a_18)
                  Neg_14 = Neg(constant_8)
                  Neg_14_15 = Identity(Neg_14) #Identity_Neg_14_15
                  a_16 = Identity(a) #Identity_a_16
                  a_17 = Identity(a) #Identity_a_17
                  a_18 = Identity(a) #Identity_a_18
              b = Softmax(a) #second axis=1 field 9
              y = Neg(b) #third
              info a
              info b
        "#]],
    );
}
