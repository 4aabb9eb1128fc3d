//! A pass of the program in the place of another one, when the program says so.

use super::entries::Entry;
use super::{Registry, check_info};
use crate::error::PassError;
use crate::pass::PassRef;

impl Registry {
    /// Registers a pass instead of the one that has its name: the program's own, which is removed, or a plugin's,
    /// which is hidden.
    ///
    /// # Errors
    /// If the name is none that a pass can have or an alias of the program.
    pub fn replace(&self, pass: impl Into<PassRef>) -> Result<(), PassError> {
        let pass = pass.into();
        check_info(pass.info())?;
        let name = pass.info().name.clone();
        let mut inner = self.write();
        if !inner.passes.contains_key(&name) {
            inner.check_free(&name, false)?;
        }
        inner.aliases.check_declared(pass.declaration())?;
        inner.aliases.add_declared(pass.declaration(), None);
        inner.passes.replace(name, Entry::Own(pass));
        Ok(())
    }
}
