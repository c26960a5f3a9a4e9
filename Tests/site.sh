#!/usr/bin/env bash
# Builds the documentation of all public modules as one web site: bash Tests/site.sh FOLDER [BUILD_FOLDER [OPTION …]]
#
# FOLDER must not exist yet. The options are those that the build folder was made with, which saves a build. Warnings are
# errors. To look at the site: python3 -m http.server --directory FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
site=${1:?usage: bash Tests/site.sh FOLDER [BUILD_FOLDER [OPTION …]]}
build=${2:-.build-postgres}
options=("${@:3}")

# In an order in which each module comes after those that its pages link to.
modules=$(sed -nE 's/^ *- documentation_targets: \[(.*)\]$/\1/p' .spi.yml | tr -d ' ' | tr ',' '\n')
diff <(printf '%s\n' Sources/*/*.docc | sed -E 's|.*/(.*)\.docc|\1|' | sort) <(sort <<<"$modules")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
swift package --traits Postgres --scratch-path "$build" ${options[@]+"${options[@]}"} dump-symbol-graph --minimum-access-level public >/dev/null
archives=()
dependencies=()
for module in $modules; do
    mkdir "$scratch/$module"
    find "$build/" -path '*symbolgraph*' \( -name "$module.symbols.json" -o -name "$module@*.symbols.json" \) \
        -exec cp {} "$scratch/$module" \;
    catalog=()
    [ ! -d "Sources/$module/$module.docc" ] || catalog=("Sources/$module/$module.docc")
    docc convert ${catalog[@]+"${catalog[@]}"} --additional-symbol-graph-dir "$scratch/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" \
        --enable-experimental-external-link-support ${dependencies[@]+"${dependencies[@]}"} \
        --output-path "$scratch/$module.doccarchive" --warnings-as-errors
    archives+=("$scratch/$module.doccarchive")
    dependencies+=(--dependency "$scratch/$module.doccarchive")
done
docc merge "${archives[@]}" --synthesized-landing-page-name OneWaySynchronizer --output-path "$scratch/all.doccarchive"
docc process-archive transform-for-static-hosting "$scratch/all.doccarchive" --output-path "$site"
