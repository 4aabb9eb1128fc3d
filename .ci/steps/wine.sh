# Runs the command and plugins for Windows in wine, and tests the features that depend on the system.
gcc=x86_64-w64-mingw32-gcc
need_windows
need $gcc gcc-mingw-w64-x86-64
# Debian's wine64 is only in PATH if the 32-bit one is installed, too.
wine=$(command -v wine64 || command -v /usr/lib/wine/wine64 || command -v wine) || skip "no wine (Debian: wine64)"
root=$(fresh "$TARGET/wine")
mkdir "$root"/{bin,plugins,old,failing,work}

packages=(--package passdock-cli --package passdock-onnx-ops --package passdock-relax --package passdock-tir)
cargo build "${packages[@]}"
cargo build "${packages[@]}" --target $windows
cargo build --package passdock-test-plugins --example passdock_misbehaving --target $windows
out=$TARGET/$windows/debug
cp "$out"/{passdock.exe,passdock_onnx_ops.dll,passdock_relax.dll,passdock_tir.dll} "$root/bin"
cp "$out/examples/passdock_misbehaving.dll" "$root/failing"
(cd examples/hello-pass && cargo build --offline --target $windows --target-dir "$TARGET/vendor")
cp "$TARGET/vendor/$windows/debug/hello_pass.dll" "$root/plugins"
compile() { $gcc -std=c11 -O2 -shared -Wall -Wextra -Werror -I $include "$@"; }
compile -I examples/c-pass examples/c-pass/c_pass.c -o "$root/plugins/c_pass.dll"
# A Windows library that Rust's standard library needs and older versions of wine lack. It is next to the executable,
# like libraries of a runtime, and isn't a plugin.
cat >"$root/runtime.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID bytes, ULONG count);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{ return SystemFunction036(bytes, (ULONG)count); }
C
compile "$root/runtime.c" -o "$root/bin/bcryptprimitives.dll" -ladvapi32
cp examples/models/digits.onnx "$root/work"
# Plugins that were built for earlier versions of the ABI.
cp tests/old-plugins/abi-*/*.dll "$root/old"
cp tests/old-plugins/model.ir "$root/old"
cd "$root/work"

# Disables .NET and HTML, and uses the library next to the executable. Output goes to files, because wine's own
# processes keep pipes open for seconds after the command has ended.
in_wine() {
  local status=0
  env -u PASSDOCK_PLUGIN_PATH WINEPREFIX="$root/prefix" WINEDEBUG=-all \
    WINEDLLOVERRIDES="mscoree,mshtml=;bcryptprimitives=n,b" \
    "$wine" "$root/bin/passdock.exe" "$@" >"$root/stdout" 2>"$root/stderr" </dev/null || status=$?
  cat "$root/stdout"
  cat "$root/stderr" >&2
  ! grep -qF '\\?\' "$root/stdout" "$root/stderr" || fail "a path of the system's own spelling is shown"
  return $status
}
# Fails unless the run succeeds without warnings.
quietly() { in_wine "$@" && ! grep -q warning "$root/stderr"; }
same() { prints "" in_wine diff "$1" "$2"; }

echo "plugins are found, and nothing else"
finds() { # DIRECTORY PASS…
  prints_json "set('${*:2}'.split()) <= {p['name'] for p in r['passes']}" \
    quietly list --json --plugin-dir "$1"
}
finds ../plugins relax.transform.FoldConstant tir.transform.UnrollLoop {c,hello}.transform.FuseDoubleRelu
finds ../old c.transform.FuseDoubleRelu cpp.transform.MergeTransposes
in_wine run ../old/model.ir -o old.ir --plugin-dir ../old --passes c.transform.FuseDoubleRelu,cpp.transform.MergeTransposes
# Files with the same length and time are distinguished.
mkdir twins
for twin in c d; do
  LC_ALL=C sed -b "s/name = \"c/name = \"$twin/g; s/c\.transform/$twin.transform/g; s/c\.counter/$twin.counter/g" \
    ../plugins/c_pass.dll >twins/${twin}_pass.dll
done
touch twins/*
touch -r twins/c_pass.dll twins/d_pass.dll
finds twins {c,d}.transform.FuseDoubleRelu
for text in c.transform.FuseDoubleRelu c.counter; do prints $text in_wine inspect ../plugins/c_pass.dll; done

echo "plugins in Rust and in C run"
for vendor in c hello; do
  prints_json 'r["passes"][0]["status"] == "changed" and r["instruments"][0]["text"] == "2 passes ran, 0 were vetoed"' \
    in_wine run digits.onnx --json --jobs 2 --instrument c.counter --plugin-dir ../plugins \
    --passes $vendor.transform.FuseDoubleRelu
done

echo "the output is the same as on this system"
passes=FoldConstant,DeadCodeElimination
for kind in onnx ir; do
  "$passdock" run digits.onnx --passes $passes -o here.$kind
  quietly run digits.onnx --passes $passes -o there.$kind
  cmp here.$kind there.$kind
done
same here.onnx there.onnx
ops=$("$passdock" stats here.onnx --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["ops"])')
prints_json "r['ops'] == $ops" quietly stats there.onnx --json

echo "a model is replaced in place"
mkdir own
quietly convert digits.onnx own/m.onnx
quietly run own/m.onnx -o own/m.onnx --passes $passes
same own/m.onnx there.onnx
# The same with external data, which the run replaces.
quietly convert digits.onnx own/m.onnx --external-data all
[ "$(ls -A own | xargs)" = "m.onnx m.onnx.data" ] || fail "files: $(ls -A own)"
quietly run own/m.onnx -o own/m.onnx --passes $passes --external-data all
same own/m.onnx there.onnx
# The next run removes files that were still in use.
quietly convert own/m.onnx own/n.onnx
[ "$(find own -type f -name '*.data' | wc -l)" = 1 ] || fail "files: $(ls -A own)"
[ "$(find own -type f ! -name '*.data' -printf '%f\n' | sort | xargs)" = "m.onnx n.onnx" ] || fail "files: $(ls -A own)"
same own/m.onnx own/n.onnx

echo "files that aren't plugins are reported"
mkdir broken
hello=../plugins/hello_pass.dll
rejects() { # FILE MESSAGE; the file's bytes are standard input
  cat >"broken/$1"
  prints "$1" in_wine list --plugin-dir broken
  prints "$2" in_wine list --plugin-dir broken
  rm "broken/$1"
}
python3 -c '
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
(header,) = struct.unpack_from("<I", data, 0x3C)
struct.pack_into("<H", data, header + 4, 0xAA64)
sys.stdout.buffer.write(data)' $hello | rejects arm.dll "found a Windows library for aarch64"
head -c $(($(wc -c <$hello) / 2)) $hello | rejects cut.dll "the file is truncated"
rejects empty.dll "the file is empty" </dev/null
rejects other.dll "missing symbol" <../bin/bcryptprimitives.dll
echo -n text | rejects text.dll "expected a shared library"
rejects linux.so "found an ELF library" <"$built/libpassdock_tir.so"

echo "a failure has an exit status and a reproducer"
run=(exits 1 in_wine run digits.onnx -o failed.onnx --passes bad.transform.Panic --plugin-dir ../failing)
prints "the pass panicked" "${run[@]}"
prints failed.onnx.reproducer "${run[@]}"
[ ! -e failed.onnx ] || fail "a run that fails should write no model"
prints "same failure: " exits 1 in_wine replay failed.onnx.reproducer --locked --plugin-dir ../failing
prints "could not read" exits 1 in_wine stats missing.onnx
prints '`No`' exits 2 in_wine run digits.onnx --passes No

echo "bisect finds a pass that changes a model"
check=(digits.onnx --passes $passes --test '"..\bin\passdock.exe" diff {in} {}')
prints "relax.transform.FoldConstant of plugin relax breaks the model" in_wine bisect "${check[@]}" -o found
prints "same failure: " exits 1 in_wine replay found/reproducer --trust
prints "written to least.ir" in_wine reduce "${check[@]}" -o least.ir
