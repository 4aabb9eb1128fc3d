# The Python package: `python.sh develop` links it into the checkout; `tests oldest|newest [WHEEL]` installs a wheel as
# a new user would and runs its tests; `types` checks types by mypy and pyright. Without WHEEL it is of what the tests
# have built.
oldest=11 # The oldest Python that the package is for: 3.11.

# Prints a Python 3 of that minor version: one that PATH has, or pyenv.
find_python() {
  local each versions=${PYENV_ROOT:-$HOME/.pyenv}/versions
  for each in $(type -ap "python3.$1") \
    $(ls -d "$versions/3.$1".*/bin/python3 2>/dev/null | grep -E '\.[0-9]+/bin' | sort -rV); do
    makes_environments "$each" && echo "$each" && return
  done
  return 1
}

# Sets `base`, a Python, and `minor`, its version: the oldest that is supported, or the newest that is here.
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

# Prints the wheel of what the tests have built.
tests_wheel() {
  local tools dir=$TARGET/wheels/tests
  tools=$(venv wheel/tools python/build/requirements.txt)
  # Two steps may want it at once. Its files are large, and it's used a few times.
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

# Runs a command that has nothing of the checkout's package, nor of the user's settings, and leaves nothing there.
clean() {
  env -u PYTHONPATH -u PASSDOCK_STANDARD_PLUGINS -u PASSDOCK_PLUGIN_PATH -u PASSDOCK_CONFIG -u CARGO_TARGET_DIR \
    PYTHONDONTWRITEBYTECODE=1 HYPOTHESIS_STORAGE_DIRECTORY="$TARGET/wheel/hypothesis" \
    MYPY_CACHE_DIR="$TARGET/wheel/mypy" "$@"
}

# Installs a wheel, and its dependencies, in a new environment; runs the command and a first program.
as_a_new_user() { # PYTHON WHEEL
  local place model=examples/models/digits.onnx python others
  place=$TARGET/wheels/new-user/$(basename "$1")
  "$1" -m venv --clear "$place"
  python=$place/bin/python
  "$python" -m pip install --quiet --disable-pip-version-check "$2"
  others=$("$python" -m pip list --format=freeze --disable-pip-version-check | sed 's/[= ].*//' |
    grep -vx 'numpy\|passdock\|pip\|setuptools' || true)
  [ -z "$others" ] || fail "the wheel brings other packages than numpy: $others"
  clean "$place/bin/passdock" run $model -o "$place/by command.onnx"
  clean "$python" -m passdock run $model -o "$place/by module.onnx"
  clean "$python" -c "
import sys, passdock
report = passdock.optimize(sys.argv[1], sys.argv[2])
print(report)
print('passdock', passdock.__version__, 'from', passdock.__file__)
assert 'numpy' not in sys.modules, 'numpy was imported, and no elements were asked for'
" $model "$place/by lines.onnx"
  cmp "$place/by command.onnx" "$place/by lines.onnx"
}

# Sets `python`, the interpreter of an environment of `base` with the tests' requirements and a wheel.
with_package() { # WHEEL
  python=$(venv "wheel/python3.$minor" python/tests/requirements.txt "$base")
  # The version is the one of the last build: what is there is replaced.
  flock "$TARGET/wheel/python3.$minor.lock" "$python" -m pip install --quiet --disable-pip-version-check \
    --force-reinstall --no-deps --no-index "$1"
}

files=(--extension "$built/lib_passdock.so" --program "$built/passdock"
  --plugin "$built/libpassdock_onnx_ops.so" --plugin "$built/libpassdock_relax.so" --plugin "$built/libpassdock_tir.so")
case ${1:-} in
  develop)
    cargo build --package passdock-{cli,onnx-ops,relax,tir,python}
    python3 python/build/wheels.py "${files[@]}" link
    echo "PYTHONPATH=python python3 -c 'import passdock' uses it" ;;
  tests)
    choose "$2"
    wheel=${3:-$(tests_wheel)}
    as_a_new_user "$base" "$wheel"
    with_package "$wheel"
    clean "$python" -m pytest --quiet python/tests ;;
  types)
    (choose oldest) 2>/dev/null && choose oldest || choose newest
    with_package "$(tests_wheel)"
    judged=(python/tests examples/python-vendor)
    clean "$python" -m mypy --strict "${judged[@]}"
    command -v node >/dev/null || skip "no node, by which pyright runs; mypy found nothing"
    clean "$python" -m pyright --pythonpath "$python" "${judged[@]}" ;;
esac
