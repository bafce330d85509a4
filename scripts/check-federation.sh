#!/usr/bin/env bash
# Lets two other implementations of GraphQL federation accept the subgraph schemas of every published
# document that the tests have, and of one that extends a type of another service; each is also composed
# with the subgraph schema of searches over it.
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
cp scripts/federation/check.mjs "$work/"

rm -rf "$work/sdl"
mkdir "$work/sdl"
documents=(graphql-gen/tests/data/typesystem/federation-1/schema.yaml)
for document in soml-core/tests/data/*/*.yaml servers/demo/*/schema.yaml; do
  case $document in
    *-broken.yaml) ;;
    *) documents+=("$document") ;;
  esac
done
cargo run --quiet -p graphql-gen --example federation_sdl -- "$work/sdl" "${documents[@]}"
cargo run --quiet -p search-index --example search_sdl -- "$work/sdl" "${documents[@]}"
node "$work/check.mjs" "$work/sdl" scripts/federation/owners
