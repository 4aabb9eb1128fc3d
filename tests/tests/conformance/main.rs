//! Tests of the rules of the pass infrastructure, named by rule: `r056_…` tests rule 56.
//!
//! `system.rs` is the vocabulary of scenarios, `ours.rs` implements it with passdock's public API, `tvm.rs` is a
//! reference implementation of TVM's behavior, and `rule.rs` compares the two. Each section of rules has a file.

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
