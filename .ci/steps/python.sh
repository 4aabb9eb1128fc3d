# The Python package. `python.sh develop` links it into the checkout. `tests oldest|newest [WHEEL]` installs a wheel
# like a new user would and runs the package's tests; without WHEEL the wheel is made from the build of the tests.
# `types` checks types with mypy and pyright.
oldest=11 # The oldest supported Python: 3.11.

# Prints a Python 3 with the given minor version, from PATH or pyenv.
find_python() {
  local each versions=${PYENV_ROOT:-$HOME/.pyenv}/versions
  for each in $(type -ap "python3.$1") \
    $(ls -d "$versions/3.$1".*/bin/python3 2>/dev/null | grep -E '\.[0-9]+/bin' | sort -rV); do
    makes_environments "$each" && echo "$each" && return
  done
  return 1
}

# Sets `base` and `minor` to a Python and its minor version: the oldest supported or the newest installed one.
choose() {
  if [ "$1" = oldest ]; then
    minor=$oldest
    base=$(find_python $minor) || skip "no python3.$minor"
  else
    for ((minor = oldest + 19; minor > oldest; minor--)); do
      ! base=$(find_python $minor) || return 0
    done
    skip "no Python newer than 3.$oldest"
  fi
}

# Prints the wheel that is made from the build of the tests.
tests_wheel() {
  local tools dir=$TARGET/wheels/tests
  tools=$(venv wheel/tools python/build/requirements.txt)
  # Parallel steps may need it at the same time. It is large, so it isn't made for each.
  exec 8>"$TARGET/wheel/tests.lock"
  flock 8
  if [ ! -e "$(echo "$dir"/*.whl)" ] ||
    [ -n "$(find python/passdock python/build pyproject.toml "$built"/{passdock,lib_passdock.so} \
      "$built"/libpassdock_{onnx_ops,relax,tir}.so -newer "$dir"/*.whl -print -quit)" ]; then
    PATH=${tools%/*}:$PATH "$tools" python/build/wheels.py "${files[@]}" assemble "$dir" --level 1 >&2
  fi
  exec 8>&-
  echo "$dir"/*.whl
}

# Runs a command without the checkout's package and the user's settings, and without writing to the checkout.
clean() {
  env -u PYTHONPATH -u PASSDOCK_PLUGIN_PATH -u PASSDOCK_CONFIG -u CARGO_TARGET_DIR XDG_DATA_HOME="$TARGET/no-data" \
    PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY="$TARGET/wheel/hypothesis" \
    MYPY_CACHE_DIR="$TARGET/wheel/mypy" "$@"
}

# Installs a wheel and its dependencies in a new environment, and runs the command and a small program.
as_a_new_user() { # PYTHON WHEEL
  local directory model=examples/models/digits.onnx python others
  directory=$TARGET/wheels/new-user/$(basename "$1")
  "$1" -m venv --clear "$directory"
  python=$directory/bin/python
  "$python" -m pip install --quiet --disable-pip-version-check "$2"
  others=$("$python" -m pip list --format=freeze --disable-pip-version-check | sed 's/[= ].*//' |
    grep -vx 'numpy\|passdock\|pip\|setuptools' || true)
  [ -z "$others" ] || fail "the wheel brings other packages than numpy: $others"
  clean "$directory/bin/passdock" run $model -o "$directory/by command.onnx"
  clean "$python" -m passdock run $model -o "$directory/by module.onnx"
  clean "$python" -c "
import sys, passdock
report = passdock.optimize(sys.argv[1], sys.argv[2])
print(report)
print('passdock', passdock.__version__, 'from', passdock.__file__)
assert 'numpy' not in sys.modules, 'numpy was imported, and no elements were asked for'
" $model "$directory/by lines.onnx"
  cmp "$directory/by command.onnx" "$directory/by lines.onnx"
}

# Sets `python`, the interpreter of an environment of `base` with the tests' requirements and a wheel.
with_package() { # WHEEL
  python=$(venv "wheel/python3.$minor" python/tests/requirements.txt "$base")
  # The version doesn't change between builds, so an earlier wheel is replaced.
  flock "$TARGET/wheel/python3.$minor.lock" "$python" -m pip install --quiet --disable-pip-version-check \
    --force-reinstall --no-deps --no-index "$1"
}

files=(--extension "$built/lib_passdock.so" --program "$built/passdock"
  --plugin "$built/libpassdock_onnx_ops.so" --plugin "$built/libpassdock_relax.so" --plugin "$built/libpassdock_tir.so")
case ${1:-} in
  develop)
    cargo build --package=passdock-{cli,onnx-ops,relax,tir,python}
    python3 python/build/wheels.py "${files[@]}" link
    echo "use it: PYTHONPATH=python python3 -c 'import passdock'" ;;
  tests)
    choose "$2"
    wheel=${3:-$(tests_wheel)}
    as_a_new_user "$base" "$wheel"
    with_package "$wheel"
    clean "$python" -m pytest --quiet python/tests ;;
  types)
    (choose oldest) 2>/dev/null && choose oldest || choose newest
    with_package "$(tests_wheel)"
    clean "$python" -m mypy --strict python/tests
    command -v node >/dev/null || skip "no node, which pyright needs; mypy passed"
    clean "$python" -m pyright --pythonpath "$python" python/tests ;;
esac
