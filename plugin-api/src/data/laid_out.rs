//! [`LaidOut`]: an op in other layouts.

/// The form of an op in other layouts, as its definition describes it.
///
/// A layout such as `NCHW->NHWC` lists the axes in the operator's order, then in memory order. In `NCHW->NCHW4c` the
/// axis C is split into blocks of 4. An empty string is the unchanged layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaidOut {
    /// The layout of each operand.
    pub operands: Vec<String>,
    /// The layout of each result.
    pub results: Vec<String>,
    /// The op in these layouts, as IR text of one function for
    /// [`PassContext::insert_text`](crate::PassContext::insert_text).
    pub body: String,
}
