//! [`LaidOut`]: an op in other layouts.

/// An op in other layouts, as its definition says. A layout is `NCHW->NHWC`: the axes in the order in which the op has
/// them, then in the order in which they lie; `NCHW->NCHW4c` has the axis C in blocks of 4. Empty: as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaidOut {
    /// The layout of each operand.
    pub operands: Vec<String>,
    /// The layout of each result.
    pub results: Vec<String>,
    /// The op in these layouts: the IR text of one function, for
    /// [`PassContext::insert_text`](crate::PassContext::insert_text).
    pub body: String,
}
