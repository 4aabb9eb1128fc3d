//! The passdock command.

fn main() {}
