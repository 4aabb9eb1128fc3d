//! The contract between a passdock host and its pass plugins.
//!
//! Only C crosses: `#[repr(C)]` records, fixed-width integers, `{pointer, length}` UTF-8 strings,
//! kinds as integer newtypes that have room for values a reader doesn't know, and
//! `Option<extern "C" fn>`. The normative text (who owns a pointer, how long it lives, whether it
//! may be null, which thread may use it, what a status asks of the caller) is the C header
//! `include/passdock.h`; the doc comments here only say what a field is.
//!
//! How it grows, and never breaks:
//! - tables and argument structs that are passed by pointer start with `struct_size`: a reader uses
//!   the prefix that both sides know;
//! - arrays of such structs, and of a table's entries, carry a stride;
//! - records in columns ([`Column`]) are final, and so is what crosses by value: new data comes as a
//!   new column, a new field of a struct with a size, a new function of a table; nothing is reordered,
//!   retyped or reused;
//! - two versions are negotiated on their own: the layout ([`ABI`]) and the meaning ([`IR`]).
//!
//! Reading order: [`ids`], [`record`] (the arena), [`view`] (how a plugin sees it), [`desc`] (what
//! it hands over to edit), [`host`] and [`analysis`] (what it may call), [`instrument`] and
//! [`plugin`] (what it offers), [`version`], [`layout`].
#![no_std]
#![deny(missing_docs)]

pub mod analysis;
pub mod desc;
pub mod dtype;
pub mod grow;
pub mod host;
pub mod ids;
pub mod instrument;
pub mod layout;
pub mod op;
pub mod plugin;
pub mod record;
pub mod status;
pub mod version;
pub mod view;

pub use analysis::{AnalysisApi, DropAnalysis, Liveness, NameUse, OpEffects, OpOrder};
pub use desc::{
    AttrDesc, CloneDesc, CloneOpsDesc, ConstantDesc, EvaluateDesc, FunctionDesc, LaidOut, OpDesc,
    OutlineDesc, PortDesc, Position, RegionDesc, ResultsDesc, RewriteDesc, RunDesc, TextDesc,
    TypeDesc,
};
pub use dtype::DType;
pub use grow::Grows;
pub use host::{
    Context, ContextApi, Diagnostic, Failure, FunctionApi, Host, Label, ModuleApi, OpPart,
    PassKind, Setting, SettingItem, SettingKind, Severity, SymbolApi,
};
pub use ids::{symbol, ConstId, ExprId, LocId, OpId, RegionId, SymbolId, TypeId, UseId, ValueId};
pub use instrument::{
    CreateInstrument, DestroyInstrument, InstrumentEntry, PassInfo, Report, ShouldRun,
    WatchContext, WatchPass,
};
pub use layout::LAYOUT;
pub use op::{DefinitionApi, OpApi, OpCall};
pub use plugin::{
    Attach, AttrEntry, DecomposeOp, Entry, EvaluateOp, InferOp, LayoutOp, LegalizeOp, OpEntry,
    PassEntry, Plugin, RunFunctionPass, RunModulePass, SupportsOp, ENTRY_SYMBOL, MANIFEST_SYMBOL,
};
pub use record::{
    Attr, AttrKind, Constant, Dim, DimExpr, DimKind, ExprKind, Loc, LocKind, Op, Opset, Port,
    Range, Region, Storage, Type, TypeKind, Use, Value,
};
pub use status::Status;
pub use version::{Version, ABI, IR, OLDEST_MINOR};
pub use view::{
    Bytes, Column, Function, FunctionEntry, FunctionKind, FunctionRef, FunctionView, Module,
    ModuleRef, ModuleView, Str, Symbols,
};
