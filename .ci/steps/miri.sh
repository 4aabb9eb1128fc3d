# Undefined behaviour, by Miri: the SDK's own tests, those of the boundary in which safe code tries what it may with
# handles, and the IR's of pools that move under a reader. Miri can't load libraries, and the other tests take hours.
cargo +nightly miri --version >/dev/null 2>&1 || skip "no Miri (\`rustup +nightly component add miri rust-src\`)"
# Tests read files of the checkout, and the SDK keeps what plugins never give back.
export CARGO_TARGET_DIR=$TARGET/miri MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks"
cargo +nightly miri test --package passdock-plugin-api --tests -- --test-threads 1
cargo +nightly miri test --package passdock-core --test boundary -- --test-threads 1 safety::
cargo +nightly miri test --package passdock-ir --lib -- --test-threads 1 function::room one_version_is_kept \
  threads_that_share
