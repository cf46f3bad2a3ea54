#!/bin/sh
# tidy.sh BUILD FILE...: runs clang-tidy on some files, silent unless something is found.
#
# Files that were found clean are remembered: by what the compiler sees of them, comments included (NOLINT is one), the
# settings and the version of clang-tidy. The memory is in $XDG_CACHE_HOME/sinew-tidy (~/.cache) and serves any clone.
#
# $TIDY_NODES: how many states the analyzer looks at in a function, nearly all of its time. Most functions of some size
# have more than clang's own limit of 225000; a third of it found the same planted defects in a third of the time.
set -eu
build=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
nodes=${TIDY_NODES:-75000}
memory=${XDG_CACHE_HOME:-$HOME/.cache}/sinew-tidy
mkdir -p "$memory"

# seen_of FILE: what the compiler sees of it, without the folder in which it lies; fails if the build does not know it.
seen_of()
{
    command=$(awk -v file="\"file\": \"$root/$1\"" '
        /"command": / { command = $0 }
        index($0, file) { sub(/^ *"command": "/, "", command); sub(/",?$/, "", command); print command; exit }
        ' "$build/compile_commands.json" | sed 's/ -o [^ ]*\.o / /; s/\\"/"/g; s/\\\\/\\/g')
    [ -n "$command" ] && eval "$command -E -C -P" | sed "s|$root||g"
}

for file in "$@"; do
    seen=$(mktemp)
    if seen_of "$file" >"$seen" 2>/dev/null; then
        key=$({ clang-tidy --version; echo "$nodes"; cat "$root/.clang-tidy" "$0" "$seen"; } | sha256sum | cut -d ' ' -f 1)
    else
        key=
    fi
    rm -f "$seen"
    [ -n "$key" ] && [ -e "$memory/$key" ] && touch "$memory/$key" && continue
    # gcc's options that clang does not know are not its business.
    if ! found=$(clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Xclang \
        --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg="max-nodes=$nodes" "$file" 2>/dev/null); then
        printf '%s\n' "$found"
        exit 1
    fi
    [ -z "$key" ] || : >"$memory/$key"
done
