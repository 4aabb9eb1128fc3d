//! The rules of the pass infrastructure, one test each: `r056_…` shows rule 56.
//!
//! `system.rs` is the vocabulary, `ours.rs` speaks it through passdock's public API, `tvm.rs` is a
//! double of TVM, `rule.rs` compares them. Then one file for each section of rules.

mod list;
mod ours;
mod rule;
mod system;
mod tvm;

mod a_pass_info;
mod b_registry;
mod c_context;
mod d_config;
mod e_enable;
mod f_required;
mod g_sequential;
mod h_kinds;
mod i_instruments;
mod j_override_instruments;
mod k_built_in;
mod l_diagnostics;
mod m_printing;
