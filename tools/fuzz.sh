#!/bin/sh
# fuzz.sh FOLDER SECONDS: runs every fuzz target in the folder for some seconds from its seeds, one per core at a time;
# new inputs are not kept.
set -eu
root=$(dirname "$0")/..

# run_one TARGET SECONDS
run_one()
{
    name=$(basename "$1")
    work=$(mktemp -d)
    seeds=$root/fuzz/seeds/$(echo "$name" | sed 's/^fuzz[-_]//')
    [ -d "$seeds" ] || seeds=
    # the helpers of this build, for the targets that ask them
    SINEW_TETGEN=$(dirname "$1")/../sinew-tetgen
    SINEW_DRACO=$(dirname "$1")/../sinew-draco
    export SINEW_TETGEN SINEW_DRACO
    # shellcheck disable=SC2086 # empty or one path
    if ! "$1" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -dict="$root/fuzz/sinew.dict" \
        -artifact_prefix="$work/" -verbosity=0 \
        "$work" $seeds >"$work/log" 2>&1; then
        tail -n 40 "$work/log" >&2
        echo "fuzz: error: $name failed; its input is in $work" >&2
        exit 1
    fi
    rm -rf "$work"
    echo "fuzz: $name ran for $2 s"
}

if [ "$1" = --one ]; then
    run_one "$2" "$3"
    exit 0
fi

folder=$1
seconds=$2
targets=
for target in "$folder"/fuzz-* "$folder"/fuzz_*; do
    if [ -x "$target" ] && [ -f "$target" ]; then
        targets="$targets $target"
    fi
done
[ -n "$targets" ] || { echo "fuzz: error: there are no targets in $folder" >&2; exit 1; }
# shellcheck disable=SC2086 # a list of words
printf '%s\n' $targets | xargs -P "$(nproc)" -I{} "$0" --one {} "$seconds"
