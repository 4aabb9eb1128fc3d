//! The library of the plugin `conformance`.

passdock_plugin_api::export_plugin!(passdock_test_plugins::conformance::PLUGIN);
