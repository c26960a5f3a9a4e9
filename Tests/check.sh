#!/usr/bin/env bash
# Everything that a change must pass, in one command. Takes some minutes from a clean clone.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step "format"
swift format lint --strict -r Package.swift Sources Tests Demo

step "build, with warnings as errors"
swift build --build-tests --scratch-path .build-strict \
    -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error

step "build with the trait Postgres, with warnings as errors"
swift build --build-tests --traits Postgres --scratch-path .build-postgres \
    -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error

step "tests"
swift test

step "tests with the trait Postgres, against a server of their own"
CI=true swift test --traits Postgres --scratch-path .build-postgres \
    -Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error

step "tests of the core under the Thread Sanitizer"
swift test --sanitize=thread --scratch-path .build-tsan --filter OneWaySynchronizerTests

step "documentation, with warnings as errors"
swift package --scratch-path .build-strict dump-symbol-graph --minimum-access-level public >/dev/null
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
find .build-strict -name 'OneWaySynchronizer*.symbols.json' -exec cp {} "$graphs" \;
docc convert Sources/OneWaySynchronizer/OneWaySynchronizer.docc --additional-symbol-graph-dir "$graphs" \
    --fallback-display-name OneWaySynchronizer --fallback-bundle-identifier OneWaySynchronizer \
    --output-path "$graphs/out" --warnings-as-errors

step "demo"
swift run Demo

step "everything passed"
