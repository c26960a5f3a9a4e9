#!/usr/bin/env bash
# Everything that a change must pass, in one command: 40 to 60 minutes from a clean clone on two cores.
#
# Four build folders, each with flags of its own: .build-strict (warnings are errors), .build-postgres (the same with the
# trait Postgres), .build-tsan (the Thread Sanitizer, with the trait) and .build-release. All other steps use one of them, also
# those of packages that depend on this one, which then build only what is their own.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s (%s)\n' "$*" "$(date +%T)"; }
skip() { printf -- '-- skipped: %s\n' "$*"; }

# Runs a command of tests, and shows the durations of the longest cases without their turn in the queue. After a failure it
# repeats the failed tests, which stand thousands of lines above the end, and names those that had begun and not ended.
tested() {
    local result=0
    rm -f "$TEST_JOURNAL"
    "$@" 2>&1 | tee "$scratch/tests.log" || result=$?
    [ -f "$TEST_JOURNAL" ] || return $result
    printf '\n-- longest tests, in seconds:\n'
    awk -F'\t' '$1 == "ended" { print $3 "\t" $4 }' "$TEST_JOURNAL" | sort -rn | head -n 15 || true
    [ $result -ne 0 ] || return 0
    printf '\n-- failed:\n'
    grep -aE '^(✘|􀢄)|(error|warning): |ThreadSanitizer|Fatal error|Exited with' "$scratch/tests.log" | tail -n 60 || true
    printf '\n-- begun and not ended:\n'
    awk -F'\t' '$1 == "began" { open[$2] = $4 } $1 == "ended" { delete open[$2] } END { for (id in open) print open[id] }' \
        "$TEST_JOURNAL"
    return $result
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Written by the tests themselves (Tests/TestLimits).
export TEST_JOURNAL="$scratch/tests.journal"
# What the limit of each test does not end, as a hanging build. macOS has no such command.
limit=()
if command -v timeout >/dev/null; then limit=(timeout -k 60 5400); fi
# No build here is continued, so each module is compiled as a whole, and without debug information: about two thirds of the time.
fast=(-debug-info-format none -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2)
strict=(-Xswiftc -warnings-as-errors --explicit-target-dependency-import-check error "${fast[@]}")

# Thousands of small databases come and go: in memory where there is room, a tenth of the time is saved.
if [ -z "${TMPDIR:-}" ] && [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] 2>/dev/null; then
    export TMPDIR=/dev/shm
fi

# Runs a command in a mount namespace in which the development files of SQLite and libpq do not exist.
without_headers() {
    unshare --mount bash -euc '
        layer=$1
        shift
        mount -t tmpfs tmpfs "$layer"
        mkdir "$layer/upper" "$layer/work"
        mount -t overlay overlay -o "lowerdir=/usr,upperdir=$layer/upper,workdir=$layer/work" /usr
        rm -rf /usr/include/sqlite3*.h /usr/include/postgresql /usr/include/libpq* /usr/include/pg_config*.h
        for folder in /usr/lib /usr/lib/*-linux-gnu* /usr/lib64; do
            rm -f "$folder"/libsqlite3.{a,so} "$folder"/libpq.{a,so} "$folder"/pkgconfig/{sqlite3,libpq}.pc
        done
        exec "$@"
    ' bash "$scratch/layer" "$@"
}

mkdir "$scratch/layer"
bare=()
if [ "$(uname)" = Linux ] && [ "$(id -u)" = 0 ] && without_headers true 2>"$scratch/unshare"; then
    bare=(without_headers)
fi

step "format"
swift format lint --strict -r Package.swift Sources Tests Demo
if LC_ALL=C.UTF-8 grep -rnE '^ *//.{0,}$' --include='*.swift' --exclude-dir=.build Package.swift Sources Tests Demo |
    LC_ALL=C.UTF-8 grep -E '^[^:]+:[0-9]+:.{101,}$'; then
    echo "comments have at most 100 columns" >&2
    exit 1
fi

step "build, tests and demo without the development files of SQLite and libpq, warnings are errors"
if [ ${#bare[@]} -eq 0 ]; then
    skip "hiding these files needs Linux, root and overlay mounts; the steps run with what is installed" \
        "$(cat "$scratch/unshare" 2>/dev/null || true)"
fi
${bare[@]+"${bare[@]}"} swift build --build-tests --scratch-path .build-strict "${strict[@]}"
# With a sixth of all seeds and cases, spread over them: `swift test` alone takes fewer, and the nightly run takes all.
THOROUGH=1 CASE_STRIDE=6 tested ${bare[@]+"${bare[@]}"} ${limit[@]+"${limit[@]}"} swift test --scratch-path .build-strict "${strict[@]}"
${bare[@]+"${bare[@]}"} swift run --scratch-path .build-strict "${strict[@]}" Demo

step "tests with the trait Postgres, against a server of their own"
# The other stores, and the targets that know neither a store of one's choice nor PostgreSQL, ran above. Each case takes more time
# against a server, so that half as many are taken.
others="FuzzDateParser FuzzJSONReader FuzzModelFile FuzzRoundTrip EngineBenchmark MapperBenchmark ReadBenchmark SourceBenchmark \
StoreBenchmark CoreDataModelTests JSONMapperTests ModelInferenceTests SyncModelTests"
THOROUGH=1 CASE_STRIDE=12 STORE_KIND=PostgresStore CI=true \
    TESTED_TARGETS="$others HTTPSourceTests OneWayLoopbackServerTests OneWaySynchronizerTests SimulationTests SyncBaseTests \
SyncFolderTests SyncStoreSQLiteTests" \
    tested ${bare[@]+"${bare[@]}"} ${limit[@]+"${limit[@]}"} \
    swift test --traits Postgres --scratch-path .build-postgres "${strict[@]}" \
    --skip 'PayloadPrivacyTests|theTourVerifiesAllItsClaims'

step "all tests under the Thread Sanitizer"
# A twentieth of the seeds and of the scenarios, none of the targets that know neither tasks nor threads, and none of the long
# tests of one task or of killed processes, because each runs about ten times slower than without. What runs on each store runs
# on one; the targets of the stores have their own tests of what happens at once.
CASE_STRIDE=20 STORE_KIND=MemoryStore CONFORMANCE_DIR="$scratch/none" CI=true \
    TSAN_OPTIONS="suppressions=$PWD/Tests/thread-sanitizer.supp halt_on_error=0 exitcode=66" \
    TESTED_TARGETS="$others PostgresBenchmark WorkQueueBenchmark DemoTests DocumentationTests ScenarioTests SyncStoreSQLTests" \
    TEST_LIMIT=3600 tested ${limit[@]+"${limit[@]}"} \
    swift test --traits Postgres --sanitize=thread --scratch-path .build-tsan "${fast[@]}" \
    --skip 'FlippedBit|SequenceOfEvents|DayOfFourCenturies|doublesAreRead|FloodOfFailures|NoticesDefects|InLinearTime' \
    --skip 'threeHundredEntities|theTourVerifiesAllItsClaims|tooManyKeysOfEqualHashes|keysWithAHashValue' \
    --skip 'aFileComesBackAsItWas|theNumberOfStatementsDependsOnBatchesAlone|tablesOfOtherToolsHoldWhatIsExpected' \
    --skip 'whateverAKilledSyncLeavesEveryCommandGoesOn|aKilledMirrorGoesOn' \
    --skip 'functionsAndOperatorsOfOthersAreNeverCalled|messagesAreFew|aStoreDoesNotDependOnSettings' \
    --skip 'valuesOfAServersBodiesAreForDebuggingOnly|BackReferenceTests|ContradictionTests|StatedPlacesTests|HubTests' \
    --skip 'SharedOwnersTests|everyStoreIsOneWhileItIsObserved|(SQLite|Postgres)StoreTests/isAStore' \
    --skip 'howManyObjectsComeTogetherMakesNoDifference|valuesMoveInAnyOrder|hashesAreKnownInAllRuns' \
    --skip 'toOneLinksOfUnchangedObjectsTakeNoStatement|RefusedEntityTests|RefusedObjectsTests|RefusedChangesTests' \
    --skip 'StatedEntityTests|EntityChangeTests|KnownCaseTests|OperationTests|MovingValuesTests|DeletingTriggerTests' \
    --skip 'ExistingTableTests|ColumnFormTests|FillingTests|nobodyWaitsToReadForASecond'

step "the public API beside that of the last release"
bash Tests/api.sh --scratch-path .build-strict "${strict[@]}"

step "a release build of the core runs"
swift run -c release --scratch-path .build-release EngineBenchmark

step "a package whose targets have the names of ours"
products() { sed -nE "s/^.*\.$1\(name: \"([^\"]+)\".*$/\1/p" "$2" | sort -u; }
diff <(products library Package.swift) <(products product Tests/Packages/Neighbours/Package.swift)
swift run --package-path Tests/Packages/Neighbours --scratch-path .build-strict "${strict[@]}" Neighbours

step "a static program of the core alone has less than half of Foundation's size"
small=Tests/Packages/Essentials
static=$(swift -print-target-info | sed -nE 's/.*"runtimeResourcePath": "(.*)".*/\1/p')_static/linux
if [ -d "$static" ]; then
    swift build -c release --package-path "$small" --static-swift-stdlib -Xlinker -s
    "$small/.build/release/Essentials"
    bytes=$(stat -L -c %s "$small/.build/release/Essentials")
    echo "$bytes bytes"
    [ "$bytes" -lt 25000000 ]
else
    skip "there is no $static; Apple platforms have Foundation in the system"
fi

step "a server app that gets SIGTERM in the middle of a sync ends cleanly"
swift build --package-path Tests/Packages/Service --scratch-path .build-strict "${strict[@]}"
.build-strict/debug/ServiceCheck .build-strict/debug/Service

step "the example server, in a browser"
tested ${limit[@]+"${limit[@]}"} swift test --package-path Demo/Server --scratch-path .build-strict "${strict[@]}"

step "documentation as one site, with warnings as errors"
bash Tests/site.sh "$scratch/site" .build-postgres "${strict[@]}"

step "everything passed"
