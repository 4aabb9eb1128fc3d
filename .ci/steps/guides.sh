# The README and the guides, typed with what their readers have installed: `guides.sh [WORD]`.
. .ci/steps/tree.sh
need python3
lay_out "$built" "$(fresh "$TARGET/guides")"
python3 -B .ci/steps/guides.py "$TARGET/guides" "$@"
