# Builds the documentation site in target/site with mdBook, and checks the links of its pages.
tools=$TARGET/tools
version=0.5.4
[[ $("$tools/bin/mdbook" --version 2>/dev/null) == *$version ]] ||
  cargo install --quiet --locked --no-default-features --features search --root "$tools" --target-dir "$TARGET/mdbook" --version $version mdbook
source=$(fresh "$TARGET/site-source")
xtask docs "$source"
cp docs/site/* "$source"
"$tools/bin/mdbook" build --dest-dir "$TARGET/site" "$source"
python3 .ci/steps/site_links.py "$TARGET/site"
