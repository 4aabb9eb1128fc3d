# Builds the release archive and an archive of only the headers, and tests both, unpacked outside of the checkout.
# `archive.sh dist` makes an optimized build and writes passdock-VERSION-SYSTEM.tar.gz and passdock-headers-ABI.tar.gz in
# target/distrib; `archive.sh` uses the build of the tests.
. .ci/steps/tree.sh
need make
need cc
need pkg-config
# Packs a directory, reproducibly: without owners and times.
pack() { # DIRECTORY
  tar -C "$directory" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c "$1" | gzip -n $level >"$directory/$1.new"
  mv "$directory/$1.new" "$directory/$1.tar.gz"
}

name=passdock-$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)-$(rustc -vV | sed -n 's/^host: //p')
if [ "${1:-}" = dist ]; then
  build_release -- "${packages[@]}"
  directory=$TARGET/distrib level=-9
  mkdir -p "$directory"
else
  release_build=$built
  directory=$(fresh "$TARGET/distrib/tests") level=-1
fi
lay_out "$release_build" "$(fresh "$directory/$name")"
cp .ci/archive.md "$directory/$name/README.md"
pack "$name"
headers=passdock-headers-$(PKG_CONFIG_PATH=${include%include}share/pkgconfig pkg-config --modversion passdock)
lay_out_headers "$(fresh "$directory/$headers")"
cp LICENSE-APACHE LICENSE-MIT plugin-api/abi/README.md "$directory/$headers"
pack "$headers"

elsewhere=$(fresh "$directory/else where")
tar -C "$elsewhere" -xf "$directory/$name.tar.gz"
checkout=$PWD root=$elsewhere/$name
cd "$elsewhere"
unset PASSDOCK_PLUGIN_PATH PASSDOCK_CONFIG LD_LIBRARY_PATH
command=$root/bin/passdock model=$root/share/passdock/examples/models/digits.onnx
prints "passdock " "$command" --version
prints relax.transform.FoldConstant "$command" list passes --json
prints "written to digits.onnx" "$command" run "$model" -o digits.onnx
"$command" list pipelines simplify >mine.toml
"$command" run mine.toml "$model" -o again.onnx
# The command also works through a link. A copy without its plugins reports that they are missing.
mkdir programs alone
ln -s "$command" programs/passdock
programs/passdock run "$model" -o linked.onnx
cp "$command" alone
prints lib/passdock/plugins exits 3 alone/passdock run "$model" -o alone.onnx

# The commands of the README work, and the headers compile.
(
  cd "$root"
  grep '^passdock ' README.md | sed 's/ #.*//' | while read -r line; do PATH=$root/bin:$PATH bash -c "$line"; done
)
cc -fsyntax-only -x c++ "$root/include/passdock.hpp"
# A plugin is built from the archive of headers alone.
"$command" plugin new --c acme
tar -C "$(fresh acme/vendor/passdock)" --strip-components 1 -xf "$directory/$headers.tar.gz"
make -C acme PASSDOCK="$command" test
PKG_CONFIG_PATH=acme/vendor/passdock/share/pkgconfig pkg-config --cflags passdock |
  xargs cc -shared -fPIC -I acme/src acme/src/acme.c -o acme.so
"$command" inspect acme.so

# Links in documents lead to files in the archive.
find "$root" -name '*.md' | while IFS= read -r file; do
  { grep -o ']([^) ]*)' "$file" || true; } | sed 's/^](//; s/[)#].*//' | while IFS= read -r target; do
    case $target in
      "" | *://* | mailto:*) ;;
      *) [ -e "$(dirname "$file")/$target" ] || fail "${file#"$root/"}: \`$target\` isn't in the archive" ;;
    esac
  done
done
cd "$checkout"
if [ "${1:-}" = dist ]; then
  names_no_path "$root/bin" "$root/lib"
  is_small "$directory/$name.tar.gz"
fi
