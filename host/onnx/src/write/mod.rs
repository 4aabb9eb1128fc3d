//! stub
use crate::wire::*;
pub struct Output; pub struct WriteOptions; pub fn write() {}
/// The attribute that a sparse initializer is as a `Constant`'s value.
pub(crate) fn put_sparse_value(to: &mut Vec<u8>, sparse: &[u8]) {
    use crate::schema::{attr, attr_type};
    put_bytes(to, attr::NAME, b"sparse_value");
    put_int(to, attr::TYPE, attr_type::SPARSE_TENSOR.into());
    put_bytes(to, attr::SPARSE_TENSOR, sparse);
}
