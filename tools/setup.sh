#!/bin/sh
# Installs what is missing for the named groups, and nothing else: setup.sh GROUP...
# Quiet when all is there. Groups: build, film, web, test, validate, chromium, assimp, tetgen, faults, lint, sanitize, peers.
set -eu

packages_of()
{
    case $1 in
    build) echo build-essential ccache cmake ninja-build pkg-config libjansson-dev libpng-dev \
        libjpeg62-turbo-dev libwebp-dev libdraco-dev libembree-dev libmeshoptimizer-dev libsuitesparse-dev libopenblas0-pthread libwebsockets-dev ;;
    film) echo ffmpeg ;;
    validate | web) # node from elsewhere brings its own npm and would not stand Debian's beside it
        command -v node >/dev/null 2>&1 || echo nodejs
        command -v npm >/dev/null 2>&1 || echo npm
        ;;
    chromium) echo chromium ;;
    test) echo locales coinor-libipopt1v5 ;;
    assimp) echo libassimp-dev ;;
    tetgen) echo libtet1.5-dev ;;
    faults) echo git procps rsync ;;
    lint) echo git clang-format clang-tidy ;;
    sanitize) echo clang libclang-rt-14-dev ;;
    peers) echo coinor-libipopt-dev petsc-dev libbullet-dev libdart-dev libode-dev siconos libsiconos-numerics-dev blender python3-numpy ;;
    *)
        echo "setup: error: there is no group '$1'" >&2
        echo "  try: build, film, web, test, validate, chromium, assimp, tetgen, faults, lint, sanitize or peers" >&2
        exit 2
        ;;
    esac
}

why()
{
    case $1 in
    build) echo "to build sinew" ;;
    film) echo "to make films" ;;
    validate) echo "to check the glTF files that the tests write" ;;
    web) echo "to build the studio's page" ;;
    chromium) echo "to test the studio's page" ;;
    test) echo "to test with the numbers of another language, and against IPOPT" ;;
    assimp) echo "to read FBX, DAE and BVH" ;;
    tetgen) echo "to make tets that keep a surface" ;;
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

# The lists of packages are of this hour.
have_fresh_lists()
{
    [ -n "$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -mmin -60 2>/dev/null)" ]
}

fail()
{
    echo "setup: error: $1" >&2
    echo "  try: $2" >&2
    exit 1
}

# The one thing that is no Debian package. Without it the tests that need it are skipped, which ctest counts, so a
# machine that cannot reach npm's packages still tests all the rest.
validator=2.0.0-dev.3.10
validator_folder=$(dirname "$0")/../build/validator
has_validator()
{
    grep -q "\"version\": *\"$validator\"" "$validator_folder/node_modules/gltf-validator/package.json" 2>/dev/null
}

get_validator()
{
    has_validator && return
    echo "setup: installing gltf-validator $validator in build/validator ($(why validate))" >&2
    mkdir -p "$validator_folder"
    npm install --silent --no-audit --no-fund --no-save --prefix "$validator_folder" "gltf-validator@$validator" >/dev/null 2>&1 ||
        echo "setup: warning: npm could not install it; tests that need it will be skipped" >&2
}

# missing_of GROUP: its packages that are not there.
missing_of()
{
    packages=$(packages_of "$1") || return
    for package in $packages; do
        is_there "$package" || printf ' %s' "$package"
    done
}

all_there()
{
    for group in "$@"; do
        missing=$(missing_of "$group") || exit 2
        [ -z "$missing" ] || return 1
        [ "$group" != validate ] || has_validator || return 1
    done
}

all_there "$@" && exit 0

# One at a time: a Makefile may ask for two groups at once.
exec 9<"$0"
flock 9

missing=
for group in "$@"; do
    wanted=$(missing_of "$group")
    if [ -n "$wanted" ]; then
        echo "setup: installing$wanted ($(why "$group"))" >&2
        missing="$missing$wanted"
    fi
done

finish()
{
    for group in "$@"; do
        if [ "$group" = validate ]; then
            get_validator
        fi
    done
    exit 0
}
[ -n "$missing" ] || finish "$@"

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
if ! { { have_fresh_lists || $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq; } &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    fail "apt-get could not install them" "apt-get install$missing (and see the lines above)"
fi
finish "$@"
