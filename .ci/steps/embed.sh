# Checks the example of a program that embeds the host: its size, its formatting, and the output that its README has.
dir=examples/embed-host
lines=$(wc -l <$dir/src/main.rs)
[ "$lines" -le 60 ] || fail "$dir/src/main.rs has $lines lines; a host must fit in 60"
mkdir -p "$TARGET/embed"
# The workspace's profile, so that third-party crates are already built.
sed -n '/^\[profile.dev/,/^\[profile.release/p' Cargo.toml | sed '$d' >"$TARGET/embed/profile.toml"
sed -n '/^```text$/,/^```$/p' $dir/README.md | sed '1d;$d' >"$TARGET/embed/expected"
cd $dir
cargo fmt --check
prints_file "$TARGET/embed/expected" cargo run --quiet --offline --config "$TARGET/embed/profile.toml"
