//! The attributes that an op's definition lists.

use passdock_abi::{AttrEntry, OpId};
use passdock_ir::{Edit, EditFailure};

use super::{Question, definitions};

impl Question<'_> {
    /// The entries, their number and stride. A definition's table lives for good: no library is unloaded.
    pub(in crate::boundary) fn attributes(&self, op: OpId) -> Edit<(*const AttrEntry, u32, u32)> {
        let name = self.name(op)?;
        let entry = definitions::get(self.context, self.session, name)?.entry;
        if entry.attrs.is_null() {
            return Err(EditFailure::not_found("its definition lists no attributes"));
        }
        Ok((entry.attrs, entry.attr_count, entry.attr_stride))
    }
}
