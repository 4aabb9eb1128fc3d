//! Plain data that passes and the host exchange; usable without a host.

mod attr_value;
mod diagnostic;
pub mod element;
mod error;
mod laid_out;
mod op_traits;
mod options;
mod setting;
mod table;

pub use attr_value::AttrValue;
pub use diagnostic::{Diagnostic, OpSpan};
pub(crate) use error::optional;
pub use error::{EditError, PassError, PassResult};
pub use laid_out::LaidOut;
pub use op_traits::OpTraits;
pub use setting::{
    list, option, options_of, table, ChoicesType, OptionDefault, OptionSpec, OptionValue, Options,
    RangeType, RestType, RulesText,
};
pub use table::Table;
