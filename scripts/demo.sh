#!/usr/bin/env bash
# A first campaign on this machine: planned, run, merged, published to a local bare repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PATH="$PWD/.venv/bin:$PATH"
demo=build/demo
rm -rf "$demo"
mkdir -p "$demo"
git init --quiet --bare "$demo/remote.git"

runner-e2e campaign --catalog examples/smoke/runner-e2e.yaml --all --out "$demo/results"
runner-e2e publish "$demo/results/report" --remote "$PWD/$demo/remote.git"

# What a browser would get from the published branch.
mkdir "$demo/site"
git -C "$demo/remote.git" archive runner-e2e | tar -x -C "$demo/site"
printf '\nThe dashboard:   %s\n' "$PWD/$demo/site/index.html"
printf 'This campaign:   %s\n' "$PWD/$demo/results/report/index.html"
