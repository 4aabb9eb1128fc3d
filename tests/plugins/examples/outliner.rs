//! The library of the plugin `outliner`.

passdock_plugin_api::export_plugin!(passdock_test_plugins::outliner::PLUGIN);
