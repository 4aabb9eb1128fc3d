//! The ONNX operator definitions as a loadable plugin: it only adds the exported symbols.

passdock_plugin_api::export_plugin!(passdock_plugins_onnx_ops::PLUGIN);
