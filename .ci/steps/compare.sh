# Compares passdock with other tools. It isn't a step of `cargo xtask test`, because it only reports.
python=$(venv compare/python tests/python/compare.txt)
cargo build --release
"$python" -B tests/python/compare.py --passdock "$TARGET/release/passdock" --work-dir "$TARGET/compare/models" \
  ${PASSDOCK_MODELS:+--models "$PASSDOCK_MODELS"} "$@"
