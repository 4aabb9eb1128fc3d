//! End-to-end, boundary and fault tests.
