# Checks for undefined behavior with Miri: the SDK's tests, the boundary's tests that misuse handles from safe code,
# and the IR's tests of pools that move while they are read. Miri can't load libraries, and the other tests take hours.
cargo +nightly miri --version >/dev/null 2>&1 || skip "no Miri (\`rustup +nightly component add miri rust-src\`)"
# Tests read files of the checkout, and the SDK leaks memory that plugins never return.
export CARGO_TARGET_DIR=$TARGET/miri MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks"
cargo +nightly miri test --package passdock-plugin-api --tests -- --test-threads 1
cargo +nightly miri test --package passdock-core --test boundary -- --test-threads 1 safety::
cargo +nightly miri test --package passdock-ir --lib -- --test-threads 1 function::reserve one_version_is_cached \
  threads_see_the_same_value
