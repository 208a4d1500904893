#!/bin/sh
# The hash-pinned requirement files for plain pip, exported from uv.lock.
set -eu
cd "$(dirname "$0")/.."
out=${1:-requirements}
export_() { uv export --quiet --frozen --no-emit-project --no-header --no-annotate --format requirements-txt "$@"; }
export_ --no-default-groups --group build --extra local --output-file "$out/demo.txt" >/dev/null
export_ --group build --group dev --group docs --group oracles --extra local --extra providers --extra audit --extra math --extra nli --output-file "$out/test.txt" >/dev/null
export_ --only-group docs --output-file "$out/docs.txt" >/dev/null
