# Runs the commands of the README and the guides with an installation: `guides.sh [WORD]`.
. .ci/steps/tree.sh
need python3
lay_out "$built" "$(fresh "$TARGET/guides")"
python3 -B .ci/steps/guides.py "$TARGET/guides" "$@"
