//! The options of passes, and the layers that their values come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Pass, PassDeclaration, PassRef, Sequential, Work};
use crate::config::{ConfigValue, Field, GivenConfig, OptionSource, Schema};
use crate::error::{ErrorKind, PassError, Provider};

/// A pass with options set by a pipeline.
struct WithOptions {
    pass: PassRef,
    given: ConfigValue,
}

/// Returns the pass with some of its options set, after checking them.
///
/// # Errors
/// If the pass has no such option, or the value is invalid for it.
pub(crate) fn with_options(pass: PassRef, options: &toml::Table) -> Result<PassRef, PassError> {
    if options.is_empty() {
        return Ok(pass);
    }
    let schema = Schema::new(&pass.info().name, pass.declaration().options.clone());
    let given = schema.accept_part(&toml::Value::Table(options.clone()))?;
    Ok(Arc::new(WithOptions { pass, given }))
}

impl Pass for WithOptions {
    fn declaration(&self) -> &PassDeclaration {
        self.pass.declaration()
    }

    fn work(&self) -> Result<Work<'_>, PassError> {
        self.pass.work()
    }

    fn provider(&self) -> Option<&Provider> {
        self.pass.provider()
    }

    fn given_options(&self) -> Option<&ConfigValue> {
        Some(&self.given)
    }

    fn as_sequential(&self) -> Option<&Sequential> {
        self.pass.as_sequential()
    }
}

/// Computes the values of a pass's options. The layers are the defaults, the context's config, and the pipeline's
/// entry.
pub(super) fn sources(
    declared: &PassDeclaration,
    given: Option<&ConfigValue>,
    config: &GivenConfig,
) -> BTreeMap<String, (toml::Value, OptionSource)> {
    let fields = &declared.options;
    let with_default = fields.iter().filter(|field| !field.mandatory);
    let default = |field: &Field| {
        let value = (field.default.clone(), OptionSource::Default);
        (field.name.clone(), value)
    };
    let mut options: BTreeMap<_, _> = with_default.map(default).collect();
    let set = declared.config.as_ref().and_then(|key| config.get(key));
    let set = set.into_iter().flatten();
    let own = set.filter(|(name, _)| fields.iter().any(|field| field.name == **name));
    let own = own.map(|(name, value)| (name, value, OptionSource::Config));
    let given = given.into_iter().flatten();
    let given = given.map(|(name, value)| (name, value, OptionSource::Options));
    for (name, value, source) in own.chain(given) {
        match options.get_mut(name) {
            Some((current, from)) => {
                passdock_loader::overlay(current, value.clone());
                *from = source;
            }
            None => _ = options.insert(name.clone(), (value.clone(), source)),
        }
    }
    options
}

/// Returns the error about a mandatory option that isn't set.
pub(super) fn missing_option(declared: &PassDeclaration, option: &Field) -> PassError {
    let message = format!(
        "missing required option `{}` of pass `{}`",
        option.name, declared.info.name
    );
    let help = match &declared.config {
        Some(key) => format!("set `{key}.{}` in the context's config", option.name),
        None => format!(
            "set it where the pipeline lists the pass: `options = {{ {} = … }}`",
            option.name
        ),
    };
    PassError::new(ErrorKind::Config, message).help(help)
}
