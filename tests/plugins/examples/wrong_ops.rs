//! The library of the plugin `wrong`.

passdock_plugin_api::export_plugin!(passdock_test_plugins::wrong_ops::PLUGIN);
