//! The library of the plugin `misbehaving`.

passdock_plugin_api::export_plugin!(passdock_test_plugins::misbehaving::PLUGIN);
