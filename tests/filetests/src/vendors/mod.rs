//! Plugins of vendors, which a case uses by `vendors`.

mod abs_relu;
mod blocks;
mod channels;
mod fma;
mod npu;
mod ping_pong;
mod rows;
mod types;

use passdock_plugin_api::StaticPlugin;

/// The plugins, by name.
pub(crate) const VENDORS: [(&str, StaticPlugin); 8] = [
    ("abs_relu", abs_relu::PLUGIN),
    ("blocks", blocks::PLUGIN),
    ("channels", channels::PLUGIN),
    ("fma", fma::PLUGIN),
    ("npu", npu::PLUGIN),
    ("ping_pong", ping_pong::PLUGIN),
    ("rows", rows::PLUGIN),
    ("types", types::PLUGIN),
];
