"""The plugin hello-pass, in the directory ``plugins`` of this package, which has no Python code."""
