#!/usr/bin/env bash
# Every flow on real Paperclip servers, each execution on one of its own; no model and no account.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

PATH="$PWD/.venv/bin:$PATH"
demo=build/demo-paperclip
rm -rf "$demo"
mkdir -p "$demo"

runner-e2e campaign --catalog examples/paperclip-live/runner-e2e.yaml --suite live --max-parallel 2 --out "$demo"
printf '\nThe dashboard:   %s\n' "$PWD/$demo/report/index.html"
