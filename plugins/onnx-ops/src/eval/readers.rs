//! Access to attributes in evaluations.
//!
//! An absent attribute has the default in the operator's row. An attribute of the wrong kind, such as a reference to a
//! function's attribute, is an error and never the default: the op isn't folded.

use std::borrow::Cow;

use passdock_plugin_api::AttrDefault;

use super::{Call, EvalAttr, NotFolded, Tensor, reject};

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident: $kind:ident -> $type:ty, $expected:literal;)*) => {
        impl<'a> Call<'a> {
            $($(#[$doc])*
            pub fn $name(&self, name: &str) -> Result<Option<$type>, NotFolded> {
                match self.attribute(name) {
                    None => Ok(None),
                    Some(EvalAttr::$kind(value)) => Ok(Some(value)),
                    Some(_) => reject!("invalid attribute `{name}`: expected {}", $expected),
                }
            })*
        }
    };
}

readers! {
    /// Returns an integer attribute.
    int: Int -> i64, "an integer";
    /// Returns a float attribute.
    float: Float -> f32, "a float";
    /// Returns a string attribute.
    string: String -> &'a [u8], "a string";
    /// Returns a list of integers.
    ints: Ints -> Cow<'a, [i64]>, "a list of integers";
    /// Returns a list of floats.
    floats: Floats -> Cow<'a, [f32]>, "a list of floats";
    /// Returns a list of strings.
    strings: Strings -> Vec<&'a [u8]>, "a list of strings";
    /// Returns a tensor attribute.
    tensor: Tensor -> Tensor<'a>, "a tensor";
}

impl<'a> Call<'a> {
    /// Returns an attribute of any kind, or its default.
    pub(crate) fn attribute(&self, name: &str) -> Option<EvalAttr<'a>> {
        self.attrs.get(name).or_else(|| self.default_of(name))
    }
}

impl Call<'_> {
    /// Returns the default of an attribute in the operator's row.
    fn default_of(&self, name: &str) -> Option<EvalAttr<'static>> {
        let attr = self.attr_defs.iter().find(|attr| attr.name == name)?;
        Some(match attr.default? {
            AttrDefault::Int(value) => EvalAttr::Int(value),
            AttrDefault::Float(value) => EvalAttr::Float(value),
            AttrDefault::String(text) => EvalAttr::String(text.as_bytes()),
            AttrDefault::Ints(values) => EvalAttr::Ints(Cow::Borrowed(values)),
            AttrDefault::Floats(values) => EvalAttr::Floats(Cow::Borrowed(values)),
            AttrDefault::Strings(texts) => {
                EvalAttr::Strings(texts.iter().map(|text| text.as_bytes()).collect())
            }
            _ => return None,
        })
    }

    /// Returns an integer attribute, or `default` if it is absent.
    pub fn int_or(&self, name: &str, default: i64) -> Result<i64, NotFolded> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// Returns an integer attribute as a flag, or `default` if it is absent.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, NotFolded> {
        Ok(self.int(name)?.map_or(default, |value| value != 0))
    }

    /// Returns a float attribute, or `default` if it is absent.
    pub fn float_or(&self, name: &str, default: f32) -> Result<f32, NotFolded> {
        Ok(self.float(name)?.unwrap_or(default))
    }

    /// Returns a float attribute that must be present or have a default.
    pub fn number(&self, name: &str) -> Result<f64, NotFolded> {
        match self.float(name)? {
            Some(value) => Ok(value.into()),
            None => reject!("missing attribute `{name}`"),
        }
    }

    /// Returns the value of an enum attribute; the first of `allowed` is the default.
    pub fn enum_value(
        &self,
        name: &str,
        allowed: &[&'static str],
    ) -> Result<&'static str, NotFolded> {
        let Some(given) = self.string(name)? else {
            return Ok(allowed[0]);
        };
        match allowed.iter().find(|value| value.as_bytes() == given) {
            Some(value) => Ok(value),
            None => {
                reject!(
                    "unsupported value `{}` of attribute `{name}`",
                    String::from_utf8_lossy(given)
                )
            }
        }
    }
}
