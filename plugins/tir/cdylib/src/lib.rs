//! The loadable form of `passdock-plugins-tir`: it only adds the exported symbols.

passdock_plugin_api::export_plugin!(passdock_plugins_tir::PLUGIN);
