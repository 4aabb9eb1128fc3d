//! Built-in pipelines, one per file in `pipelines/`.

use passdock_core::{ErrorKind, PassError, suggest};

/// A built-in pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltInPipeline {
    /// The name, which is valid wherever the path of a pipeline is.
    pub name: &'static str,
    /// The text, in the format of a pipeline file.
    pub text: &'static str,
}

/// All built-in pipelines, ordered by name.
pub const BUILT_IN: [BuiltInPipeline; 3] = [
    BuiltInPipeline {
        name: DEFAULT,
        text: include_str!("../../pipelines/default.toml"),
    },
    BuiltInPipeline {
        name: "deploy",
        text: include_str!("../../pipelines/deploy.toml"),
    },
    BuiltInPipeline {
        name: "simplify",
        text: include_str!("../../pipelines/simplify.toml"),
    },
];

/// The name of the default pipeline.
pub const DEFAULT: &str = "default";

impl BuiltInPipeline {
    /// Returns the pipeline with a given name.
    ///
    /// # Errors
    /// If there is none. The error suggests the nearest name.
    pub fn named(name: &str) -> Result<BuiltInPipeline, PassError> {
        let pipeline = BUILT_IN.into_iter().find(|pipeline| pipeline.name == name);
        pipeline.ok_or_else(|| {
            let names = || BUILT_IN.iter().map(|pipeline| pipeline.name);
            let message = format!("no built-in pipeline is named `{name}`");
            let help = suggest::help_or_list(name, names, "built-in pipelines");
            PassError::new(ErrorKind::Usage, message).help(help)
        })
    }

    /// Returns the first line of the text, which is a comment with a summary.
    pub fn summary(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches(['#', ' '])
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use passdock_core::Registry;

    use super::*;
    use crate::pipeline::Pipeline;
    use crate::pipeline_file::{PassTable, PipelineFile};

    #[test]
    fn built_in_pipelines_contain_only_passes() {
        for BuiltInPipeline { name, text } in BUILT_IN {
            let file = PipelineFile::parse(name, text).unwrap();
            assert!(!file.passes.is_empty(), "{name}");
            // It must not depend on the environment.
            assert!(file.plugins.dirs.is_empty() && file.plugins.files.is_empty());
            assert!(file.plugins.tables.is_empty() && file.instruments.is_empty());
            assert_eq!(file.context.settings(), Default::default(), "{name}");
            for table in &file.passes {
                // A short name could resolve to a vendor's pass.
                if let PassTable::Pass { name, .. } = table {
                    assert!(name.get_ref().contains(".transform."), "{}", name.get_ref());
                }
            }
        }
    }

    #[test]
    fn built_in_pipelines_have_names_and_summaries() {
        for known in BUILT_IN {
            let is_identifier = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(known.name.chars().all(is_identifier), "{}", known.name);
            assert!(known.text.starts_with("# "), "{}", known.name);
            assert!(known.summary().ends_with('.'), "{}", known.summary());
        }
    }

    #[test]
    fn unknown_built_in_pipeline_is_an_error() {
        assert_eq!(BuiltInPipeline::named(DEFAULT).unwrap(), BUILT_IN[0]);
        let error_of = |name: &str| {
            let error = BuiltInPipeline::named(name).unwrap_err();
            error.to_diagnostic().render(false)
        };
        expect![[r#"
            error[usage]: no built-in pipeline is named `defualt`
             |
             = help: did you mean `default`?"#]]
        .assert_eq(&error_of("defualt"));
        expect![[r#"
            error[usage]: no built-in pipeline is named `quantize`
             |
             = help: built-in pipelines: `default`, `deploy`, `simplify`"#]]
        .assert_eq(&error_of("quantize"));
    }

    #[test]
    fn built_in_pipeline_requires_plugins() {
        let resolved = Pipeline::built_in(DEFAULT).unwrap();
        let error = resolved.resolve(&Registry::new()).err().unwrap();
        expect![["
            error[plugin]: the built-in pipeline `default` needs pass `relax.transform.SimplifyInference`, which no \
              loaded plugin provides
             |
             = help: load the directory of the standard plugins into the registry"]]
    .assert_eq(&error.to_diagnostic().render(false));
        assert!(Pipeline::built_in("./default").is_err());
    }
}
