#!/usr/bin/env bash
# Fetches the files of GraphiQL and React that the service carries, with their licences.
set -euo pipefail

graphiql=4.1.2
react=18.3.1

cd "$(dirname "$0")/.."
target=$PWD/service-runtime/assets/graphiql
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for package in "graphiql@$graphiql" "react@$react" "react-dom@$react" \
  @fontsource/roboto@5.2.6 @fontsource/fira-code@5.2.6; do
  name=${package%@*}
  mkdir -p "$name"
  tar -xzf "$(npm pack --silent "$package")" -C "$name" --strip-components=1
done

# The maps are not carried, so the references to them would only give errors in the browser.
strip_map() { sed -e '/^\/\/# sourceMappingURL=/d' "$1" > "$target/$(basename "$1")"; }
strip_map graphiql/graphiql.min.js
strip_map react/umd/react.production.min.js
strip_map react-dom/umd/react-dom.production.min.js
cp graphiql/graphiql.min.css "$target/"

{
  echo "graphiql.min.js and graphiql.min.css are from GraphiQL $graphiql, which bundles the packages it"
  echo "depends on (CodeMirror, graphql-js, Radix, markdown-it and others, all MIT or BSD) and the fonts"
  echo "Roboto and Fira Code. The other files are from React $react."
  for name in graphiql react react-dom @fontsource/roboto @fontsource/fira-code; do
    printf '\n----- %s -----\n\n' "$name"
    cat "$name/LICENSE"
  done
} > "$target/LICENSES.txt"

if grep -oE 'url\((https?:)?//[^)]*|@import[^;]*' "$target/graphiql.min.css"; then
  echo "the stylesheet fetches something from elsewhere" >&2
  exit 1
fi
ls -l "$target"
