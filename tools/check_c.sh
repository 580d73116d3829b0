#!/usr/bin/env bash
# Compile every C file with gcc and with clang, strictly: a warning is an error.
#
# The core is compiled three times, as it is and as a processor without 128-bit products or
# without vector instructions would compile it, and its objects are held to the naming rule:
# external symbols begin with ovt_. The walker is compiled where Python's headers are installed.
#
#   PYTHON     the interpreter whose headers count (python3)
#   COMPILERS  which compilers to use ("gcc clang"); a missing one is skipped with a word, and is
#              an error when CI is set
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
compilers=${COMPILERS:-gcc clang}
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' overturn_fast/_version.py)
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

flags=(
    -std=c11 -O2 -fvisibility=hidden "-DOVT_VERSION=\"$version\""
    -Wall -Wextra -Werror
    -Wconversion -Wpointer-arith -Wshadow -Wstrict-prototypes -Wundef -Wvla
)
# Not for csrc/python: nothing declares what PyMODINIT_FUNC defines, and Python's API before 3.13
# takes keyword names as char *.
core_flags=(-Wmissing-prototypes -Wwrite-strings)
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
status=0
used=()

compile() { # compile COMPILER FILE FLAG...
    local compiler=$1 file=$2
    shift 2
    "$compiler" "${flags[@]}" "$@" -Icsrc/core -Icsrc/python -c "$file" \
        -o "$objects/$(basename "$file" .c).o" || status=1
}

for compiler in $compilers; do
    if ! command -v "$compiler" > /dev/null; then
        echo "check_c: $compiler is not installed, not checked with it" >&2
        if [ -n "${CI:-}" ]; then status=1; fi
        continue
    fi
    used+=("$compiler")
    for file in csrc/core/*.c; do
        compile "$compiler" "$file" "${core_flags[@]}" -DOVT_PORTABLE_128
        compile "$compiler" "$file" "${core_flags[@]}" -DOVT_PORTABLE_SIMD
        compile "$compiler" "$file" "${core_flags[@]}" -Wpedantic
    done
    if foreign=$(nm -g --defined-only "$objects"/*.o | awk 'NF == 3 { print $3 }' |
        grep -Ev '^_?ovt_'); then
        echo "check_c: external symbols of the core that do not begin with ovt_:" $foreign >&2
        status=1
    fi
    if [ -f "$headers/Python.h" ]; then
        for file in csrc/python/*.c; do
            compile "$compiler" "$file" -isystem "$headers"
        done
    else
        echo "check_c: no Python.h in $headers, csrc/python is not checked" >&2
    fi
    rm -f "$objects"/*.o
done

if [ "${#used[@]}" -eq 0 ]; then
    echo "check_c: no compiler at all" >&2
    exit 1
fi
if [ "$status" -eq 0 ]; then
    echo "check_c: no warnings from: ${used[*]}"
fi
exit "$status"
