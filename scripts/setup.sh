#!/usr/bin/env bash
# Everything that this checkout needs, from nothing but Python 3.11+, git and (for `test`) Node.
#
#   scripts/setup.sh           the environment of runner-e2e, in .venv
#   scripts/setup.sh test      also what the tests need
#   scripts/setup.sh paperclip also the Paperclip that the live tests boot: 1.1 GB, kept in a cache
#
# Both words may be given. Safe to repeat; a step that fails ends the script.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

uv_version=0.13.9

fail() {
    printf 'setup: %s\n' "$1" >&2
    exit 1
}

find_python() {
    local candidate
    for candidate in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    fail 'Python 3.11 or newer was not found; install it, or name it with PYTHON=/path/to/python'
}

# The pages are tested in the browser that people use. Only Debian's package brings its libraries.
install_chromium() {
    local as_root=()
    command -v chromium >/dev/null && return
    command -v apt-get >/dev/null ||
        fail 'Chromium was not found; install it so that "chromium" is on PATH'
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo -n)
        sudo -n true 2>/dev/null ||
            fail 'Chromium was not found; as root: apt-get install chromium'
    fi
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
}

install_test_tools() {
    command -v node >/dev/null || fail 'Node was not found; the tests need it (20 or newer)'
    install_chromium
    lock=tests/node/package-lock.json
    stamp=tests/node/node_modules/.installed
    # npm ci starts from nothing each time; a copy of the lock says whether that is needed.
    if ! cmp -s "$lock" "$stamp"; then
        npm ci --prefix tests/node --no-audit --no-fund --loglevel=error
        cp "$lock" "$stamp"
    fi
    install_agents
}

# The agent programs that the presets are tested with: a gigabyte, most of it three binaries.
install_agents() {
    local where=tests/live/agents
    local lock=$where/package-lock.json stamp=$where/node_modules/.installed
    cmp -s "$lock" "$stamp" && return
    # Not npm ci: it insists on parts for other systems, which not every registry has.
    npm install --prefix "$where" --no-save --no-audit --no-fund --loglevel=error
    cp "$lock" "$stamp"
}

# Outside of the checkout: every checkout shares it, and as root the server, which then runs as
# nobody, could not enter root's home. runner-e2e looks for it in the same place.
install_paperclip() {
    local source=tests/live/paperclip cache version directory
    command -v node >/dev/null || fail 'Node was not found; Paperclip needs it (20 or newer)'
    version=$(node -p "require('./$source/package.json').dependencies.paperclipai")
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/runner-e2e
    [ "$(id -u)" -ne 0 ] || cache=/var/cache/runner-e2e
    directory=$cache/paperclip-$version
    cmp -s "$source/package-lock.json" "$directory/node_modules/.installed" && return
    (
        umask 022
        mkdir -p "$directory"
        cp "$source/package.json" "$source/package-lock.json" "$directory"
        # Not npm ci: it insists on parts for other systems, which not every registry has.
        npm install --prefix "$directory" --no-save --no-audit --no-fund --loglevel=error
        cp "$source/package-lock.json" "$directory/node_modules/.installed"
    )
}

# uv reproduces uv.lock to the hash; pip brings uv, so nothing has to be there before.
python=$(find_python)
if [ "$(.tools/bin/uv --version 2>/dev/null | cut -d' ' -f2)" != "$uv_version" ]; then
    rm -rf .tools
    "$python" -m venv .tools ||
        fail "$python cannot make virtual environments; on Debian: apt-get install python3-venv"
    .tools/bin/python -m pip install --quiet --disable-pip-version-check "uv==$uv_version"
fi
UV_PYTHON_DOWNLOADS=never UV_PYTHON="$python" .tools/bin/uv sync --frozen --quiet

for what in "$@"; do
    case $what in
        test) install_test_tools ;;
        paperclip) install_paperclip ;;
        *) fail "there is nothing to set up for \"$what\"; say test or paperclip" ;;
    esac
done
