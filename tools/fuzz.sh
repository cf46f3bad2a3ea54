#!/bin/sh
# fuzz.sh FOLDER SECONDS: runs every fuzz target in the folder for some seconds from its seeds; new inputs are not kept.
set -eu
folder=$1
seconds=$2
count=0
seeds_root=$(dirname "$0")/../fuzz/seeds
words=$(dirname "$0")/../fuzz/sinew.dict
for target in "$folder"/fuzz-* "$folder"/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    work=$(mktemp -d)
    seeds=$seeds_root/$(echo "$name" | sed 's/^fuzz[-_]//')
    [ -d "$seeds" ] || seeds=
    # shellcheck disable=SC2086 # empty or one path
    if ! "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -dict="$words" \
        -artifact_prefix="$work/" -verbosity=0 \
        "$work" $seeds >"$work/log" 2>&1; then
        tail -n 40 "$work/log" >&2
        echo "fuzz: error: $name failed; its input is in $work" >&2
        exit 1
    fi
    rm -rf "$work"
    echo "fuzz: $name ran for ${seconds} s"
    count=$((count + 1))
done
[ "$count" -gt 0 ] || { echo "fuzz: error: there are no targets in $folder" >&2; exit 1; }
