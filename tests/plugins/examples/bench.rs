//! The library of the plugin `bench`.

passdock_plugin_api::export_plugin!(passdock_test_plugins::bench::PLUGIN);
