#!/usr/bin/env bash
# Checks before a release, beside those of .ci/run. They need tools, a nightly compiler, a network or hours.
#
#   scripts/check-release.sh [--install] [CHECK...]
#
# All when none is named:
#   features         the libraries have no lint with each of their features alone
#   packages         every library and the programs compile from what would be published, alone
#   oldest-rust      the libraries compile with the Rust version that they declare, with each of their features
#   semver           the libraries are compatible with the last tag, as their versions promise
#   external-types   public items of the libraries name types of those crates alone that the table
#                    `package.metadata.cargo_check_external_types` of their manifest allows
#   lowest-versions  everything builds with the lowest version of each dependency that is declared
#   advisories       no dependency has a known vulnerability or is abandoned
#   tests            scripts/test-all.sh: all tests, those of `benches` as well, with all of their random input
#   seeded-faults    scripts/seeded-faults.sh: tests find mistakes
#   fuzzing          scripts/fuzz.sh: each parser for FUZZ_SECONDS (600)
#
# A check whose tool or network is missing is skipped, and says what it needs; `--install` has cargo
# install missing tools first. Exits with 1 when a check finds something, and only then.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=never
work=${CARGO_TARGET_DIR:-$PWD/target}/check-release
mkdir -p "$work"

all=(features packages oldest-rust semver external-types lowest-versions advisories tests seeded-faults fuzzing)
install=false
checks=()
for argument in "$@"; do
  if [ "$argument" = --install ]; then
    install=true
  elif [[ " ${all[*]} " == *" $argument "* ]]; then
    checks+=("$argument")
  else
    echo "usage: scripts/check-release.sh [--install] [$(IFS='|' && echo "${all[*]}")]..." >&2
    exit 2
  fi
done
[ "${#checks[@]}" -gt 0 ] || checks=("${all[@]}")

# A check returns one of these.
PASSED=0
FOUND=1
SKIPPED=3

skip() {
  echo "skipped: needs $*"
  return "$SKIPPED"
}

# Returns whether a subcommand of cargo is here; installs it when that is allowed.
has_tool() {
  if cargo "$1" --help > /dev/null 2>&1; then
    return 0
  fi
  if $install; then
    echo "installing cargo-$1"
    cargo install --locked --quiet "cargo-$1" && return 0
  fi
  return 1
}

has_nightly() {
  cargo +nightly --version > /dev/null 2>&1
}

# The folders of the libraries that are published.
libraries() {
  local manifest folder
  for manifest in */Cargo.toml; do
    folder=$(dirname "$manifest")
    if [ -e "$folder/src/lib.rs" ] && ! grep -q '^publish = false' "$manifest"; then
      echo "$folder"
    fi
  done
}

# The name of the package in a folder.
package() {
  sed -n '0,/^name = / s/^name = "\(.*\)"$/\1/p' "$1/Cargo.toml"
}

# The default is one of the features under another name.
check_features() {
  has_tool hack || {
    skip "cargo-hack: cargo install --locked cargo-hack"
    return
  }
  cargo hack clippy --workspace --ignore-private --each-feature --exclude-features default \
    --locked -- -D warnings || return "$FOUND"
}

check_packages() {
  local library packages=()
  is_online || {
    skip "the registry of crates"
    return
  }
  for library in $(libraries); do
    packages+=(-p "$(package "$library")")
  done
  cargo package --locked --allow-dirty "${packages[@]}" || return "$FOUND"
}

check_oldest_rust() {
  local oldest
  oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
  if ! cargo "+$oldest" --version > /dev/null 2>&1; then
    if ! $install || ! rustup toolchain install "$oldest" --profile minimal --no-self-update; then
      skip "Rust $oldest: rustup toolchain install $oldest --profile minimal"
      return
    fi
  fi
  has_tool hack || {
    skip "cargo-hack: cargo install --locked cargo-hack"
    return
  }
  RUSTFLAGS=-Dwarnings cargo "+$oldest" hack check --workspace --ignore-private --each-feature \
    --exclude-features default --locked --target-dir "$work/oldest-target" || return "$FOUND"
}

check_semver() {
  local tag library both status=$PASSED
  tag=$(git describe --tags --abbrev=0 2> /dev/null) || {
    skip "a tag to compare with; no release is tagged yet"
    return
  }
  has_tool semver-checks || {
    skip "cargo-semver-checks: cargo install --locked cargo-semver-checks"
    return
  }
  for library in $(libraries); do
    if ! git cat-file -e "$tag:$library/Cargo.toml" 2> /dev/null; then
      echo "$library is new since $tag"
      continue
    fi
    echo "$library since $tag"
    # A feature that is new has nothing to be compared with.
    both=$(comm -12 <(features < "$library/Cargo.toml") \
      <(git show "$tag:$library/Cargo.toml" | features) | paste -sd, -)
    if cargo semver-checks --package "$(package "$library")" --baseline-rev "$tag" \
      --only-explicit-features ${both:+--features "$both"} > "$work/semver.log" 2>&1; then
      continue
    fi
    if grep -q 'semver requires' "$work/semver.log"; then
      cat "$work/semver.log"
      status=$FOUND
    else
      tail -n 20 "$work/semver.log"
      [ "$status" -eq "$FOUND" ] || status=$SKIPPED
      skip "a cargo-semver-checks that reads what this compiler documents; its output is above" || true
    fi
  done
  return "$status"
}

# The features in a manifest, sorted.
features() {
  sed -n '/^\[features\]/,/^\[[^f]/ s/^\([a-z][a-z0-9_-]*\) *=.*/\1/p' | sort
}

check_external_types() {
  local library status=$PASSED
  has_nightly || {
    skip "a nightly compiler: rustup toolchain install nightly --profile minimal"
    return
  }
  has_tool check-external-types || {
    skip "cargo-check-external-types: cargo install --locked cargo-check-external-types"
    return
  }
  for library in $(libraries); do
    echo "$library"
    if cargo +nightly check-external-types --manifest-path "$library/Cargo.toml" --all-features \
      > "$work/types.log" 2>&1; then
      continue
    fi
    cat "$work/types.log"
    if grep -q 'Unapproved external type' "$work/types.log"; then
      status=$FOUND
    else
      [ "$status" -eq "$FOUND" ] || status=$SKIPPED
      skip "the nightly compiler that this cargo-check-external-types was made for" || true
    fi
  done
  return "$status"
}

check_lowest_versions() {
  local copy=$work/lowest
  has_nightly || {
    skip "a nightly compiler: rustup toolchain install nightly --profile minimal"
    return
  }
  is_online || {
    skip "the registry of crates"
    return
  }
  # A copy, since the lock file is another one.
  rm -rf "$copy"
  mkdir -p "$copy"
  git ls-files -z --cached --others --exclude-standard |
    xargs -0 tar --create --ignore-failed-read 2> /dev/null | tar --extract --directory "$copy"
  rm "$copy/Cargo.lock"
  (
    cd "$copy"
    export CARGO_TARGET_DIR=$work/lowest-target
    cargo +nightly generate-lockfile --quiet -Z direct-minimal-versions &&
      cargo check --workspace --locked --quiet
  ) || return "$FOUND"
}

is_online() {
  (cd "$work" && cargo info --quiet --registry crates-io serde > /dev/null 2>&1)
}

check_advisories() {
  has_tool deny || {
    skip "cargo-deny: cargo install --locked cargo-deny"
    return
  }
  if ! cargo deny --locked fetch db > "$work/advisories.log" 2>&1; then
    tail -n 5 "$work/advisories.log"
    if ! ls -d "${CARGO_HOME:-$HOME/.cargo}"/advisory-dbs/*/ > /dev/null 2>&1; then
      skip "the database of advisories, https://github.com/rustsec/advisory-db"
      return
    fi
    echo "the database of advisories cannot be fetched; the one that was fetched before is used"
  fi
  cargo deny --locked check --disable-fetch advisories || return "$FOUND"
}

check_tests() {
  local tool
  for tool in chromedriver chromium node npm java mvn; do
    command -v "$tool" > /dev/null || {
      skip "$tool: see CONTRIBUTING.md"
      return
    }
  done
  scripts/test-all.sh --locked --features soml-servers/otlp --no-fail-fast || return "$FOUND"
}

check_seeded_faults() {
  scripts/seeded-faults.sh || return "$FOUND"
}

check_fuzzing() {
  has_nightly || {
    skip "a nightly compiler: rustup toolchain install nightly --profile minimal"
    return
  }
  has_tool fuzz || {
    skip "cargo-fuzz: cargo install --locked cargo-fuzz"
    return
  }
  scripts/fuzz.sh all "${FUZZ_SECONDS:-600}" || return "$FOUND"
}

results=()
found=false
for check in "${checks[@]}"; do
  printf '\n==> %s\n' "$check"
  status=0
  "check_${check//-/_}" || status=$?
  case $status in
    "$PASSED") results+=("$check: passed") ;;
    "$SKIPPED") results+=("$check: skipped") ;;
    *)
      results+=("$check: FOUND SOMETHING")
      found=true
      ;;
  esac
done

printf '\n'
printf '%s\n' "${results[@]}"
if $found; then
  exit 1
fi
