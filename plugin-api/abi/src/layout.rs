//! The fingerprint of the contract's layout.

use core::mem::size_of;

use crate::{analysis, desc, host, instrument, op, plugin, record, view};

/// A fingerprint of the sizes of records and structs, for messages: two builds that differ in it
/// don't fit, even if their versions say so.
pub const LAYOUT: u32 = {
    let sizes = [
        size_of::<record::Op>(),
        size_of::<record::Value>(),
        size_of::<record::Use>(),
        size_of::<record::Region>(),
        size_of::<record::Port>(),
        size_of::<record::Attr>(),
        size_of::<record::Type>(),
        size_of::<record::Dim>(),
        size_of::<record::DimExpr>(),
        size_of::<record::Constant>(),
        size_of::<record::Loc>(),
        size_of::<record::Opset>(),
        size_of::<view::FunctionView>(),
        size_of::<view::ModuleView>(),
        size_of::<desc::OpDesc>(),
        size_of::<desc::AttrDesc>(),
        size_of::<desc::TypeDesc>(),
        size_of::<desc::PortDesc>(),
        size_of::<desc::RegionDesc>(),
        size_of::<desc::ResultsDesc>(),
        size_of::<host::Setting>(),
        size_of::<host::Label>(),
        size_of::<plugin::PassEntry>(),
        size_of::<plugin::OpEntry>(),
        size_of::<host::Host>(),
        size_of::<instrument::PassInfo>(),
        size_of::<instrument::InstrumentEntry>(),
        size_of::<plugin::AttrEntry>(),
        size_of::<plugin::Attach>(),
        size_of::<plugin::Plugin>(),
        size_of::<desc::CloneDesc>(),
        size_of::<desc::CloneOpsDesc>(),
        size_of::<desc::ConstantDesc>(),
        size_of::<desc::FunctionDesc>(),
        size_of::<desc::OutlineDesc>(),
        size_of::<desc::TextDesc>(),
        size_of::<desc::LaidOut>(),
        size_of::<desc::RunDesc>(),
        size_of::<desc::EvaluateDesc>(),
        size_of::<desc::RewriteDesc>(),
        size_of::<host::Diagnostic>(),
        size_of::<host::Failure>(),
        size_of::<host::SettingItem>(),
        size_of::<host::SymbolApi>(),
        size_of::<host::FunctionApi>(),
        size_of::<host::ModuleApi>(),
        size_of::<host::ContextApi>(),
        size_of::<op::OpApi>(),
        size_of::<op::DefinitionApi>(),
        size_of::<analysis::AnalysisApi>(),
    ];
    // FNV-1a.
    let mut hash: u32 = 0x811c_9dc5;
    let mut i = 0;
    while i < sizes.len() {
        hash = (hash ^ sizes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
};
