# Runs the workspace's tests that read ONNX's own test cases, which a script writes: `node-cases.sh definitions|types`.
python=$(oracle_python)
case $1 in
  definitions)
    # Checks that the lists that tables are compared with match this version of onnx.
    for script in plugins/onnx-ops/tests/operators.py tests/python/operand_types.py \
      plugins/relax/tests/opset_versions.py plugins/relax/tests/operator_types.py; do
      "$python" -B $script --check
    done
    script=plugins/onnx-ops/tests/node_cases.py test=(node_cases) ;;
  types) script=tests/python/node_types.py test=(node_types -- --nocapture) ;;
esac
"$python" -B $script "$TARGET/node-$1"
# Alone, the package would be built with other features of its dependencies.
PASSDOCK_NODE_CASES=$TARGET/node-$1 cargo test --workspace --test "${test[@]}"
