# Puts the tree below `--root DIR`, or where cargo installs programs. Each file is replaced at once: a process that runs
# an older one keeps it.
. .ci/steps/tree.sh
case $* in
  "") prefix=${CARGO_INSTALL_ROOT:-${CARGO_HOME:-$HOME/.cargo}} ;;
  "--root "?*) prefix=$(realpath -m -- "$2") ;;
  *) fail "\`install\` takes --root DIR" ;;
esac
build_to_give -- "${given[@]}"
root=$(fresh "$TARGET/distrib/install")
lay_out "$given_built" "$root"
cd "$root"
find . -type f -printf '%P\0' | while IFS= read -r -d '' file; do
  mkdir -p "$(dirname "$prefix/$file")"
  cp "$file" "$prefix/$file.new"
  mv "$prefix/$file.new" "$prefix/$file"
done
echo "passdock is in $prefix/bin"
[[ :$PATH: == *:$prefix/bin:* ]] || echo "PATH hasn't that directory: export PATH=\"$prefix/bin:\$PATH\""
