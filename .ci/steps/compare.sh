# What other tools make of models, next to passdock. It is no step of `cargo xtask test`: it judges nothing.
python=$(venv compare/python tests/python/compare.txt)
cargo build --release
"$python" -B tests/python/compare.py --passdock "$TARGET/release/passdock" --work-dir "$TARGET/compare/models" \
  ${PASSDOCK_MODELS:+--models "$PASSDOCK_MODELS"} "$@"
