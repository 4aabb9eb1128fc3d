//! The figures passdock promises, measured.
