"""The plugin hello-pass, in the directory ``plugins`` of this package; nothing of it is Python."""
