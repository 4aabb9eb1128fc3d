//! The cdylib of `passdock-plugins-tir`: adds only the exported symbols.

passdock_plugin_api::export_plugin!(passdock_plugins_tir::PLUGIN);
