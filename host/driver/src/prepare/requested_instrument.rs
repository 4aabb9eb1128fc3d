//! Instruments that a request adds with `--instrument`, or with a shorthand flag.

use passdock_core::{ErrorKind, PassError};
use serde::{Deserialize, Serialize};

use crate::pipeline_file::parse_value;

/// A requested instrument with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RequestedInstrument {
    /// The registered name.
    pub name: String,
    /// The given options.
    pub options: toml::Table,
    /// The argument that requests it, for errors.
    pub by: RequestSource,
}

/// The argument that requests an instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestSource {
    /// `--instrument` with this text.
    Instrument(String),
    /// A shorthand flag, such as `--timing`.
    Flag(String),
}

impl RequestedInstrument {
    /// Parses the argument of `--instrument`: `NAME`, or `NAME={OPTION=VALUE, …}` in TOML.
    ///
    /// # Errors
    /// If the options aren't a TOML table.
    pub fn parse(text: &str) -> Result<RequestedInstrument, PassError> {
        let (name, options) = text.split_once('=').unwrap_or((text, "{}"));
        let Some(toml::Value::Table(options)) = parse_value(options) else {
            let message = format!("invalid options in `--instrument {text}`: not a TOML table");
            let error = PassError::new(ErrorKind::Config, message);
            return Err(error.help("write `--instrument 'NAME={OPTION=VALUE}'`"));
        };
        Ok(RequestedInstrument {
            name: name.trim().to_owned(),
            options,
            by: RequestSource::Instrument(text.to_owned()),
        })
    }

    /// Creates the instrument of a shorthand flag, without options.
    pub fn by_flag(flag: &str, name: &str) -> RequestedInstrument {
        RequestedInstrument {
            name: name.to_owned(),
            options: toml::Table::new(),
            by: RequestSource::Flag(flag.to_owned()),
        }
    }

    /// Sets an option.
    pub fn option(mut self, name: &str, value: impl Into<toml::Value>) -> RequestedInstrument {
        self.options.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the shorthand flag, if one was used.
    fn flag(&self) -> Option<&str> {
        match &self.by {
            RequestSource::Flag(flag) => Some(flag),
            RequestSource::Instrument(_) => None,
        }
    }

    /// Returns the shorthand flag, paired with each pass name in its options.
    pub(crate) fn flagged_passes(&self) -> impl Iterator<Item = (&str, &str)> {
        let flag = self.flag();
        let names = self.options.get("passes").and_then(toml::Value::as_array);
        let names = names.into_iter().flatten().filter_map(toml::Value::as_str);
        names.filter_map(move |name| Some((flag?, name)))
    }

    /// Returns the file that a shorthand flag writes.
    pub(super) fn flagged_file(&self) -> Option<&str> {
        let file = |option| self.options.get(option)?.as_str();
        self.flag()?;
        file("trace").or_else(|| file("file"))
    }
}
