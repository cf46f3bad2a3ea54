#!/bin/sh
# Installs what is missing for the named groups, and nothing else: setup.sh GROUP...
# Quiet when all is there. Groups: build, film, test, assimp, faults, lint, sanitize, peers.
set -eu

packages_of()
{
    case $1 in
    build) echo build-essential cmake ninja-build pkg-config libjansson-dev libpng-dev libembree-dev \
        libmeshoptimizer-dev libsuitesparse-dev libopenblas0-pthread ;;
    film) echo ffmpeg ;;
    test) echo locales ;;
    assimp) echo libassimp-dev ;;
    faults) echo git rsync ;;
    lint) echo git clang-format clang-tidy ;;
    sanitize) echo clang libclang-rt-14-dev ;;
    peers) echo coinor-libipopt-dev petsc-dev libbullet-dev libdart-dev libode-dev siconos libsiconos-numerics-dev blender ;;
    *)
        echo "setup: error: there is no group '$1'" >&2
        echo "  try: build, film, test, assimp, faults, lint, sanitize or peers" >&2
        exit 2
        ;;
    esac
}

why()
{
    case $1 in
    build) echo "to build sinew" ;;
    film) echo "to make films" ;;
    test) echo "to test with the numbers of another language" ;;
    assimp) echo "to read FBX, DAE and BVH" ;;
    faults) echo "to plant faults in a copy of the source" ;;
    lint) echo "to check layout and find defects" ;;
    sanitize) echo "to fuzz the readers" ;;
    peers) echo "to compare with other programs; nothing else needs them" ;;
    esac
}

is_there()
{
    status=$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)
    [ "$status" = installed ]
}

fail()
{
    echo "setup: error: $1" >&2
    echo "  try: $2" >&2
    exit 1
}

missing=
for group in "$@"; do
    wanted=
    packages=$(packages_of "$group")
    for package in $packages; do
        is_there "$package" || wanted="$wanted $package"
    done
    if [ -n "$wanted" ]; then
        echo "setup: installing$wanted ($(why "$group"))" >&2
        missing="$missing$wanted"
    fi
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null 2>&1 || fail "this is not Debian: no apt-get" \
    "install the same things with your system's tool, then make SETUP=0"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || fail "need root to install, and there is no sudo" "apt-get install$missing (as root)"
    as_root=sudo
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of words
if ! { $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    fail "apt-get could not install them" "apt-get install$missing (and see the lines above)"
fi
