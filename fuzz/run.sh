#!/bin/sh
# Runs every fuzzer for a while: fuzz/run.sh [SECONDS] [BUILD]. New inputs stay in BUILD/corpus; crashes end the script.
set -eu
seconds=${1:-60}
here=$(cd "$(dirname "$0")" && pwd)
build=${2:-$here/../build-fuzz}
for name in scene log command; do
    found=$build/corpus/$name
    mkdir -p "$found"
    "$build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
        -dict="$here/sinew.dict" -artifact_prefix="$build/" -print_final_stats=1 "$found" "$here/corpus/$name"
done
