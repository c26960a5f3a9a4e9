#!/usr/bin/env bash
# Repeats tests, to find those whose result depends on the order of tasks or on the load of the machine.
#
#   Tests/repeat.sh clocks 500    the suites with clocks and leases, 500 times or until one fails
#   Tests/repeat.sh all 60        all tests for 60 minutes; every difference between two runs is shown
#
# Linux only: on macOS, `swift test` runs the tests in another program. With BUILT=1, nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."

[ -n "${BUILT:-}" ] || swift build --build-tests
tests=$(swift build --show-bin-path)/OneWaySynchronizerPackageTests.xctest
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run() { "$tests" --testing-library swift-testing "$@" 2>&1; }

# The results of a run without what differs between any two, such as durations and the order of lines.
results() {
    grep -aE '^(✔|✘|➜|􁁛|􀢄) +(Test|Suite) ' "$1" | grep -av 'Test run with' |
        sed -E 's/ after [0-9.]+ seconds//; s/^(.) +/\1 /' | sort
}

case ${1:-} in
clocks)
    suites=$(grep -lE 'ManualClock|SyncLease|ScriptedLease' Tests/*Tests/*.swift | xargs -n 1 basename | sed 's/\.swift$//' | paste -sd '|' -)
    echo "repeating $suites"
    run --filter "\.($suites)/" --repetitions "${2:-500}" --repeat-until fail >"$scratch/log" || {
        grep -aE '✘|error:' "$scratch/log" | head -n 60
        exit 1
    }
    tail -n 1 "$scratch/log"
    ;;
all)
    end=$((SECONDS + 60 * ${2:-60}))
    count=0 differences=0
    while [ "$count" -lt 2 ] || [ "$SECONDS" -lt "$end" ]; do
        run >"$scratch/log" || true
        results "$scratch/log" >"$scratch/results"
        count=$((count + 1))
        if [ "$count" = 1 ]; then
            cp "$scratch/results" "$scratch/first"
        elif ! diff "$scratch/first" "$scratch/results"; then
            differences=$((differences + 1))
        fi
    done
    grep -a '^✘' "$scratch/first" && differences=$((differences + 1))
    echo "$count runs, $differences different"
    [ "$differences" = 0 ]
    ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
