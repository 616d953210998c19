#!/bin/sh
# Install the packages of a lock file into .venv: `install.sh LOCK`. pip prints nothing or several lines a package.
# This prints one line that counts the packages: rewritten in place on a terminal, every 20 packages elsewhere.
set -eu

lock=$1
total=$(grep -c '==' "$lock")

show() { # show LINE: replaces the last line
    if [ -t 2 ]; then printf '\r%.78s\033[K' "$1" >&2; fi
}

{
    PYTHONUNBUFFERED=1 .venv/bin/python -m pip install --no-compile --disable-pip-version-check --progress-bar off \
        --require-hashes --requirement "$lock" || echo FAILED
} | {
    count=0
    while read -r word name detail; do
        name=${name##*/}
        name=${name%%[=-][=0-9]*}
        case $word in
        Collecting | Processing | Requirement | Ignoring)
            [ "$word" != Requirement ] || name="" # it says "already"
            count=$((count + 1))
            show "$lock: package $count of $total $name"
            [ -t 2 ] || [ $((count % 20)) != 0 ] || echo "$lock: package $count of $total" >&2
            ;;
        Downloading) show "$lock: package $count of $total $name $detail" ;;
        Installing) show "$lock: unpacking" ;;
        FAILED) exit 1 ;;
        esac
    done
    show ""
    echo "$lock: installed" >&2
}
