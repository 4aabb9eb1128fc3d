//! The library of the plugin `tap`.

passdock_plugin_api::export_plugin!(passdock_test_plugins::tap::PLUGIN);
