//! The cdylib of `passdock-plugins-relax`: adds only the exported symbols.

passdock_plugin_api::export_plugin!(passdock_plugins_relax::PLUGIN);
