# Checks the HTML report: its types, its tests, and that the committed file matches the sources. `page.sh browse
# [MODEL]` also tests the reports of a model with 3,000 ops and of MODEL in Chromium, with the mouse and the keyboard.
# `page.sh picture` writes the README's picture, docs/images/report.png.
web=host/tools/web
need node
need npm
version=$(node --version | sed 's/v\([0-9]*\).*/\1/')
[ "$version" -ge 20 ] || skip "node $version is older than 20"
[ $web/node_modules/.package-lock.json -nt $web/package-lock.json ] || (cd $web && npm ci --no-audit --no-fund)
(
  cd $web
  npm run check
  npm test
  npm run build -- --check
)
[ -n "${1:-}" ] || return 0

[ -n "${CHROMIUM:-}" ] || need chromium chromium
if [ "$1" = picture ]; then
  cargo build --release
  shots=$(fresh "$TARGET/page")
  "$TARGET/release/passdock" run examples/models/digits.onnx -o "$shots/digits.onnx" --html-report "$shots/report.html"
  "${CHROMIUM:-chromium}" --headless --no-sandbox --hide-scrollbars --window-size=1200,1150 --virtual-time-budget=4000 \
    --user-data-dir="$shots/profile" --screenshot="$PWD/docs/images/report.png" "file://$shots/report.html"
  return 0
fi
cargo build
shots=$(fresh "$TARGET/page")
# Most ops are in scopes like those of an exporter; one scope has 300. Passes remove, create and change some ops.
awk 'BEGIN {
  print "module { fn @main(%x: f32[2]) -> (%y: f32[2]) opset(\"\" = 17) {\n%zero = const f32[] 0.0"
  last = "%x"
  split("Relu Add Neg Mul Abs", ops, " ")
  for (i = 0; i < 3000; i++) {
    far = i % 300 < 4 ? last : "%v" (i - 3)
    operands = last (i % 5 == 1 ? ",%zero" : i % 5 == 3 ? "," far : "")
    scope = i < 300 ? "/wide" : "/stage" int(i / 500) "/block" int(i / 50) % 10 "/" (i % 2 ? "mlp" : "attn")
    print "%v" i " = onnx." ops[i % 5 + 1] "(" operands ") loc(\"" scope "/Op_" i "\")"
    last = "%v" i
  }
  print "return " last " } }"
}' >"$shots/model.ir"
for model in "$shots/model.ir" "${@:2}"; do
  "$passdock" run "$model" --html-report "$shots/page.html"
  (cd $web && node browser/drive.mjs "$shots/page.html" "$shots")
done
echo "screenshots: $shots"
