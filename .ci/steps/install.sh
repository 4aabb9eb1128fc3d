# Installs the tree in `--root DIR`, or where cargo installs programs. Each file is replaced atomically, so that running
# processes keep the old one.
. .ci/steps/tree.sh
case $* in
  "") prefix=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}} ;;
  "--root "?*) prefix=$(realpath -m -- "$2") ;;
  *) fail "usage: install [--root DIR]" ;;
esac
build_release -- "${packages[@]}"
root=$(fresh "$TARGET/distrib/install")
lay_out "$release_build" "$root"
cd "$root"
find . -type f -printf '%P\0' | while IFS= read -r -d '' file; do
  mkdir -p "$(dirname "$prefix/$file")"
  cp "$file" "$prefix/$file.new"
  mv "$prefix/$file.new" "$prefix/$file"
done
echo "installed passdock in $prefix/bin"
[[ :$PATH: == *:$prefix/bin:* ]] || echo "that directory isn't in PATH: export PATH=\"$prefix/bin:\$PATH\""
