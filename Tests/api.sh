#!/usr/bin/env bash
# Compares the public API with that of the last release: bash Tests/api.sh [BUILD_OPTION …]
#
# A change that breaks the API fails, unless Tests/api-breakages.txt lists it, one message of the tool a line. Empty that file
# with each release.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! tag=$(git describe --tags --abbrev=0 --match '[0-9]*.[0-9]*.[0-9]*' --match 'v[0-9]*.[0-9]*.[0-9]*' 2>&1); then
    echo "-- skipped: no tag yet ($tag)"
    exit 0
fi
allowed=()
[ ! -f Tests/api-breakages.txt ] || allowed=(--breakage-allowlist-path Tests/api-breakages.txt)
swift package "$@" diagnose-api-breaking-changes "$tag" ${allowed[@]+"${allowed[@]}"}
