//! What a pass needs: `use passdock_plugin_api::prelude::*;`

pub use crate::{attrs, export_plugin, options, plugin};
pub use crate::{
    Analysis, Attr, AttrDef, AttrDefault, AttrValue, ConstId, ConstantSpec, DType, Diagnostic, Dim,
    EditError, Function, FunctionBuilder, FunctionKind, Instrument, Module, MutateResult, Mutated,
    Mutation, Mutator, OpBuilder, OpCall, OpDef, OpId, OpResult, OpTraits, OptionValue, Options,
    PassContext, PassError, PassInfo, PassResult, Place, Position, Refusal, RegionId, SymbolId,
    Table, TypeId, TypeKind, TypeSpec, ValueId, Visit, Visitor,
};
