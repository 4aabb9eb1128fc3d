//! What a call across the boundary answers.

/// The outcome of a call. On anything but [`Status::OK`] nothing was changed, and the sentence
/// that explains it is at hand (`last_error` of the table that was called).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub u32);

impl Status {
    /// The call was done.
    pub const OK: Status = Status(0);
    /// An id names nothing, or something erased.
    pub const STALE: Status = Status(1);
    /// The edit would break an invariant of the IR.
    pub const REFUSED: Status = Status(2);
    /// An argument is malformed: a null pointer, text that isn't UTF-8, a length over the limit.
    pub const INVALID: Status = Status(3);
    /// There is no such thing: a symbol, an option, a function, a definition.
    pub const NOT_FOUND: Status = Status(4);
    /// The host doesn't do this (too old, or not here).
    pub const UNSUPPORTED: Status = Status(5);
    /// The pass failed and said why (`ContextApi::fail`).
    pub const FAILED: Status = Status(6);
    /// The plugin panicked; its gate caught it and said where (`ContextApi::fail`).
    pub const PANICKED: Status = Status(7);
    /// Bytes couldn't be read from the file that holds them.
    pub const IO: Status = Status(8);
    /// An option of the pass is wrong for this model, and the pass said why (`ContextApi::fail`): a mistake of the user.
    pub const CONFIG: Status = Status(9);

    /// Whether this is [`Status::OK`].
    #[inline]
    pub const fn is_ok(self) -> bool {
        self.0 == Status::OK.0
    }
}
