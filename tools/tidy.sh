#!/bin/sh
# tidy.sh BUILD FILE...: runs clang-tidy on some files, silent unless something is found.
set -eu
build=$1
shift
# gcc's options that clang does not know are not its business.
if ! found=$(clang-tidy -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option "$@" 2>/dev/null); then
    printf '%s\n' "$found"
    exit 1
fi
