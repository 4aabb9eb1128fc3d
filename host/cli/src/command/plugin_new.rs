//! `passdock plugin new`: stub.
use passdock::PassError;

use crate::plugin_args::NewArgs;

pub(super) fn new(args: NewArgs) -> Result<u8, PassError> {
    let _ = (args.dir, args.name, args.c, args.cpp);
    Ok(0)
}
