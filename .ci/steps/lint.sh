# What is checked without running anything.
cargo fmt --all --check
cargo xtask tidy
cargo clippy --workspace --all-targets -- -D warnings
# By themselves, the default members have fewer features of their dependencies. Nothing is linked, so that the standard
# library is all that is needed of Windows.
if (need_windows); then cargo check --target $windows; else cargo check; fi
# The fuzz targets are a workspace of their own.
cargo check --manifest-path fuzz/Cargo.toml
deny --offline check --hide-inclusion-graph bans licenses sources
