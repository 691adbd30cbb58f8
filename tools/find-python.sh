#!/bin/sh
# Prints the path of a Python that fits this project, or one sentence that says what to do.
# Each candidate is run, since a name on the PATH may be a shim that only fails. One that can create environments
# is preferred. PYTHON=... in the environment names the one to take.
probe='import sys
if not (3, 11) <= sys.version_info[:2] <= (3, 13):
    print("%d.%d" % sys.version_info[:2])
    sys.exit(1)
try:
    import ensurepip, venv
    print("complete " + sys.executable)
except ImportError:
    print("bare " + sys.executable)'
if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3 python3.12 python3.11 python3.13 python .venv/bin/python
fi
bare=""
seen=""
for candidate in "$@"; do
    if answer=$("$candidate" -c "$probe" 2>/dev/null </dev/null); then
        case $answer in
            "complete "*) printf '%s\n' "${answer#complete }"; exit 0 ;;
            "bare "*) bare=${bare:-${answer#bare }} ;;
        esac
    elif [ -n "$answer" ]; then
        seen="$seen, $candidate is $answer"
    fi
done
if [ -z "${PYTHON:-}" ] && command -v uv >/dev/null; then # it brings one
    if uv python install --quiet 3.12 >&2 && found=$(uv python find 3.12); then
        printf '%s\n' "$found"
        exit 0
    fi
fi
if [ -n "$bare" ]; then
    printf '%s\n' "$bare"
    exit 0
fi
if [ -n "$seen" ]; then
    found="only others (${seen#, })"
else
    found="none (tried $*)"
fi
printf '%s\n' "Clearformer needs Python 3.11, 3.12 or 3.13 and found $found: install Python 3.12 from\
 https://www.python.org/downloads/ or with your package manager, or name one with PYTHON=/path/to/python,\
 then run the same command again." >&2
exit 1
