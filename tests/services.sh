#!/bin/sh
# Make sure that the programs beside Python are there: install them where that is ours to do, else name them.
# `services.sh paper` looks only for what letters on paper need; without a word also for what tests and benchmarks use,
# and `services.sh pictures` for a browser that shows PDF, too.
set -eu

missing=""
need() { # need PACKAGE PATTERN...: one of the patterns must be a file
    package=$1
    shift
    for pattern in "$@"; do
        for file in $pattern; do [ -e "$file" ] && return; done
    done
    missing="$missing $package"
}

need libpangoft2-1.0-0 /usr/lib/*/libpangoft2-1.0.so.0 /usr/local/lib/libpangoft2-1.0.dylib /opt/homebrew/lib/libpangoft2-1.0.dylib
need libharfbuzz-subset0 /usr/lib/*/libharfbuzz-subset.so.0 /usr/local/lib/libharfbuzz-subset.dylib /opt/homebrew/lib/libharfbuzz-subset.dylib
need fonts-noto-cjk /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc /System/Library/Fonts/Hiragino*
need fonts-symbola /usr/share/fonts/truetype/ancient-scripts/Symbola_hint.ttf /System/Library/Fonts/Apple?Symbols.ttf
need fonts-dejavu-core /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf /Library/Fonts/DejaVuSans.ttf
if [ "${1:-}" != paper ]; then
    need postgresql /usr/lib/postgresql/*/bin/initdb /usr/local/bin/initdb /opt/homebrew/bin/initdb
    need postgresql-contrib /usr/lib/postgresql/*/bin/pgbench /usr/local/bin/pgbench /opt/homebrew/bin/pgbench
    need redis-server /usr/bin/redis-server /usr/local/bin/redis-server /opt/homebrew/bin/redis-server
    need chromium-headless-shell /usr/bin/chromium-headless-shell /usr/bin/google-chrome
    need npm /usr/bin/npm /usr/local/bin/npm /opt/homebrew/bin/npm
    need wrk /usr/bin/wrk /usr/local/bin/wrk /opt/homebrew/bin/wrk
fi

if [ "${1:-}" = pictures ]; then
    need chromium /usr/bin/chromium /usr/bin/google-chrome
fi

if [ -z "$missing" ]; then
    :
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing$missing"
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "Please install, then run this again:$missing" >&2
    exit 1
fi

# An Azure Blob Storage to test against; it lives below the checkout.
AZURITE=3.37.0
if [ "${1:-}" != paper ] && [ ! -e .cache/azurite/$AZURITE ]; then
    echo "Installing azurite"
    mkdir -p .cache/azurite
    npm install --silent --no-audit --no-fund --prefix .cache/azurite azurite@$AZURITE
    touch .cache/azurite/$AZURITE
fi

# An AWS to test against, in an environment of its own: it wants other versions of some libraries.
if [ "${1:-}" != paper ] && ! cmp -s tests/ministack.lock .cache/ministack/installed; then
    echo "Installing ministack"
    python3 -m venv --clear .cache/ministack
    .cache/ministack/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement tests/ministack.lock
    cp tests/ministack.lock .cache/ministack/installed
fi
