# Compares the public API of the SDK with the frozen one. `semver.sh text` compares text; `semver.sh check` runs
# cargo-semver-checks, which it builds once; `semver.sh --freeze` freezes the current API.
frozen=.ci/frozen-api.json.gz
# The format is unstable, so it isn't available in a stable compiler without this variable.
RUSTC_BOOTSTRAP=1 cargo rustdoc --package passdock-plugin-api --lib -- -Zunstable-options --output-format json \
  --cap-lints allow
current=$TARGET/doc/passdock_plugin_api.json
case $1 in
  text) python3 .ci/steps/public_api.py $frozen "$current" ;;
  --freeze) python3 .ci/steps/public_api.py --freeze $frozen "$current" ;;
  check)
    tools=$TARGET/semver
    cargo install --locked --root "$tools" --target-dir "$tools/build" cargo-semver-checks@0.51.0
    gunzip <$frozen >"$tools/frozen.json"
    PATH=$tools/bin:$PATH cargo semver-checks --release-type minor \
      --baseline-rustdoc "$tools/frozen.json" --current-rustdoc "$current" ;;
esac
