//! Instruments that are asked for beside the pipeline's: by `--instrument`, or by a flag that stands
//! for it.

use passdock_core::{ErrorKind, PassError};
use serde::{Deserialize, Serialize};

use crate::pipeline_file::lone_value;

/// An instrument to run, with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AskedInstrument {
    /// The name that it is registered by.
    pub name: String,
    /// The options that it was given.
    pub options: toml::Table,
    /// The argument that asked for it, for errors.
    pub by: AskedBy,
}

/// The argument that asked for an instrument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedBy {
    /// `--instrument` with this text.
    Instrument(String),
    /// A flag that stands for it: `--timing`.
    Flag(String),
}

impl AskedInstrument {
    /// An instrument as `--instrument` takes it: `NAME`, or `NAME={OPTION=VALUE, …}` in TOML.
    ///
    /// # Errors
    /// If the options aren't a table in TOML.
    pub fn parse(text: &str) -> Result<AskedInstrument, PassError> {
        let (name, options) = text.split_once('=').unwrap_or((text, "{}"));
        let Some(toml::Value::Table(options)) = lone_value(options) else {
            let message = format!("The options of `--instrument {text}` aren't a TOML table.");
            let error = PassError::new(ErrorKind::Config, message);
            return Err(error.help("Write `--instrument 'NAME={OPTION=VALUE}'`."));
        };
        Ok(AskedInstrument {
            name: name.trim().to_owned(),
            options,
            by: AskedBy::Instrument(text.to_owned()),
        })
    }

    /// The instrument that a flag stands for.
    pub fn by_flag(flag: &str, name: &str) -> AskedInstrument {
        AskedInstrument {
            name: name.to_owned(),
            options: toml::Table::new(),
            by: AskedBy::Flag(flag.to_owned()),
        }
    }

    /// Sets an option.
    pub fn option(mut self, name: &str, value: impl Into<toml::Value>) -> AskedInstrument {
        self.options.insert(name.to_owned(), value.into());
        self
    }

    /// The flag that stands for it, and the names of passes that this gives.
    pub(crate) fn flagged_passes(&self) -> impl Iterator<Item = (&str, &str)> {
        let flag = match &self.by {
            AskedBy::Flag(flag) => Some(flag.as_str()),
            AskedBy::Instrument(_) => None,
        };
        let names = self.options.get("passes").and_then(toml::Value::as_array);
        let names = names.into_iter().flatten().filter_map(toml::Value::as_str);
        names.filter_map(move |name| Some((flag?, name)))
    }

    /// The file that a flag has it write.
    pub(super) fn flagged_file(&self) -> Option<&str> {
        match &self.by {
            AskedBy::Flag(_) => {
                let file = |option| self.options.get(option)?.as_str();
                file("trace").or_else(|| file("file"))
            }
            AskedBy::Instrument(_) => None,
        }
    }
}
