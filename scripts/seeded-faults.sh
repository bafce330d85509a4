#!/usr/bin/env bash
# Checks that the tests of access find faults: each patch under scripts/seeded-faults/ makes the
# engine forget one path on which rights matter, and some test of access must fail for it.
#
#   scripts/seeded-faults.sh [NAME...]
#
# Runs all patches, or those named. Patches are applied to the working tree, one after the other,
# and taken back; so object-engine/src must have no changes of its own. A patch that no longer
# applies is a failure too: the engine has changed, and the fault is to be written anew.
# ACCESS_CASES sets how many cases each test may need (2,000).
set -euo pipefail
cd "$(dirname "$0")/.."

export ACCESS_CASES=${ACCESS_CASES:-2000}
faults=scripts/seeded-faults

if [ -n "$(git status --porcelain -- object-engine/src)" ]; then
  echo "object-engine/src has changes of its own: commit them first" >&2
  exit 1
fi

names=("$@")
if [ "${#names[@]}" -eq 0 ]; then
  for file in "$faults"/*.patch; do
    names+=("$(basename "$file" .patch)")
  done
fi

applied=
restore() {
  if [ -n "$applied" ]; then
    git apply --reverse "$applied"
    applied=
  fi
}
trap restore EXIT

log=$(mktemp)
failed=0
for name in "${names[@]}"; do
  patch=$faults/$name.patch
  if ! git apply --check "$patch"; then
    echo "$name: DOES NOT APPLY"
    failed=1
    continue
  fi
  git apply "$patch"
  applied=$patch
  if ! cargo test -q -p object-engine --test all --no-run > "$log" 2>&1; then
    echo "$name: DOES NOT COMPILE"
    cat "$log"
    failed=1
  elif cargo test -q -p object-engine --test all leaks:: > "$log" 2>&1; then
    echo "$name: NOT FOUND"
    failed=1
  else
    by=$(sed -n 's/^test \(leaks::[a-z_:]*\) \.\.\. FAILED$/\1/p; s/^    \(leaks::[a-z_:]*\)$/\1/p' "$log" | sort -u | paste -sd ' ')
    echo "$name: found by $by"
  fi
  restore
done
rm -f "$log"
exit "$failed"
