# The static checks.
cargo fmt --all --check
cargo xtask tidy
cargo clippy --workspace --all-targets -- -D warnings
# Alone, the default members have fewer features of their dependencies. `cargo check` doesn't link, so that the check
# for Windows needs only its standard library.
if (need_windows); then cargo check --target $windows; else cargo check; fi
deny --offline check --hide-inclusion-graph bans licenses sources
