#![no_std]
//! The contract.
