#!/usr/bin/env bash
# Compares with other implementations of GraphQL federation.
#
#   scripts/check-federation.sh [SETS [SEED]]
#
# Lets two of them accept the subgraph schemas of every published document that the tests have, and of one that extends a
# type of another service; each is also composed with the subgraph schema of searches over it. Composes all subgraphs of
# the federation tests and SETS random sets (200) from SEED (1) on with two other composers and with ours. Answers the
# scenarios with another gateway over our supergraphs, and with ours over theirs, where other servers have the data.
# Needs Node 20 or later and npm; what it installs goes below the target folder.
set -euo pipefail

cd "$(dirname "$0")/.."
for tool in node npm; do
  if ! command -v "$tool" > /dev/null; then
    echo "check-federation: $tool is not installed; this check needs Node 20 or later with npm" >&2
    exit 1
  fi
done
if [ "$(node --print 'parseInt(process.versions.node)')" -lt 20 ]; then
  echo "check-federation: Node 20 or later is needed, this is $(node --version)" >&2
  exit 1
fi

work=${CARGO_TARGET_DIR:-$PWD/target}/federation
mkdir -p "$work"
if ! cmp -s scripts/federation/package-lock.json "$work/package-lock.json" ||
  [ ! -e "$work/node_modules/.complete" ]; then
  rm -rf "$work/node_modules"
  cp scripts/federation/package.json scripts/federation/package-lock.json "$work/"
  npm ci --prefix "$work" --no-audit --no-fund --loglevel=error
  touch "$work/node_modules/.complete"
fi
cp scripts/federation/*.mjs "$work/"

rm -rf "$work/sdl"
mkdir "$work/sdl"
documents=(graphql-gen/tests/data/typesystem/federation-1/schema.yaml)
for document in soml-core/tests/data/*/*.yaml servers/demo/*/schema.yaml; do
  case $document in
    *-broken.yaml) ;;
    *) documents+=("$document") ;;
  esac
done
# Whoever has built the examples names their folder: alone, each crate is compiled again, with fewer features.
examples=${EXAMPLES:-}
if [ -z "$examples" ]; then
  cargo build --quiet -p graphql-gen --example federation_sdl
  cargo build --quiet -p soml-search-index --example search_sdl
  cargo build --quiet -p soml-federation --all-features --examples
  examples=${CARGO_TARGET_DIR:-$PWD/target}/debug/examples
fi
"$examples/federation_sdl" "$work/sdl" "${documents[@]}"
"$examples/search_sdl" "$work/sdl" "${documents[@]}"
node "$work/check.mjs" "$work/sdl" scripts/federation/owners

# What a gateway of others would look up or tell on the network stays here.
export METADATA_SERVER_DETECTION=none APOLLO_TELEMETRY_DISABLED=1
node "$work/compare.mjs" "$examples/compose_sets" federation/tests "${1:-200}" "${2:-1}"
node "$work/interop.mjs" "$examples/answer" "$examples/compose_sets" federation/tests/cases
