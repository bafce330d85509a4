#!/usr/bin/env bash
# Runs HAProxy or nginx in front of three services, with the configurations of docs/proxies.
#
#   scripts/proxies.sh start|stop|status haproxy|nginx
#   scripts/proxies.sh command haproxy|nginx PORT FOLDER
#
# Variables name the services, host and port: OBJECT_SERVICE (127.0.0.1:9995), SEARCH_SERVICE (127.0.0.1:9980),
# FEDERATION_GATEWAY (127.0.0.1:9000), EXTENSION_SERVICE (127.0.0.1:4006), IDENTITY_PROVIDER (the object service). HAProxy
# also needs TOKEN_KEY, TOKEN_ISSUER and TOKEN_AUDIENCE, and takes the further variables of docs/proxies/haproxy.cfg. For
# nginx, LIMIT_RATE (100r/s) and LIMIT_BURST (1000) are the requests of one address.
# A proxy listens on PROXY_PORT of 127.0.0.1, or on a free port. Its files are under target/proxies/, which also tells where
# it runs. `command` prints the words of the command that runs it in the foreground, one a line, for tests that start their
# own. LISTEN_OPTIONS is what HAProxy's `bind` has besides the address, such as TLS.
set -euo pipefail
cd "$(dirname "$0")/.."

# Where Debian has them, and the path of a user may lack it.
PATH=$PATH:/usr/sbin
root=$PWD/target/proxies
mkdir -p "$root"

fail() {
  echo "$*" >&2
  exit 1
}

free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + RANDOM % 12000))
    if ! (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then
      echo "$port"
      return
    fi
  done
  fail "found no free port"
}

# Sets `command` to what runs a proxy on a port, with its files in a folder.
command_of() {
  local name=$1 port=$2 folder=$3
  mkdir -p "$folder"
  command -v "$name" > /dev/null || fail "missing: $name (on Debian: apt-get install $name)"
  case $name in
    haproxy)
      command=(env "LISTEN=127.0.0.1:$port${LISTEN_OPTIONS:+ $LISTEN_OPTIONS}" haproxy -db -f "$PWD/docs/proxies/haproxy.cfg")
      ;;
    nginx)
      local objects=${OBJECT_SERVICE:-127.0.0.1:9995}
      # What nginx is not given in its file it writes to folders of the system.
      sed -e "s/\(upstream object_service .*server \)[^;]*/\1$objects/" \
        -e "s/\(upstream search_service .*server \)[^;]*/\1${SEARCH_SERVICE:-127.0.0.1:9980}/" \
        -e "s/\(upstream federation_gateway .*server \)[^;]*/\1${FEDERATION_GATEWAY:-127.0.0.1:9000}/" \
        -e "s/\(upstream extension_service .*server \)[^;]*/\1${EXTENSION_SERVICE:-127.0.0.1:4006}/" \
        -e "s/\(upstream identity_provider .*server \)[^;]*/\1${IDENTITY_PROVIDER:-$objects}/" \
        -e "s/listen 127.0.0.1:8080;/listen 127.0.0.1:$port;/" \
        -e "s|rate=100r/s|rate=${LIMIT_RATE:-100r/s}|" -e "s/burst=1000/burst=${LIMIT_BURST:-1000}/" \
        -e "s|^http {|http {\n    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;|" \
        docs/proxies/nginx.conf > "$folder/nginx.conf"
      command=(nginx -p "$folder" -e stderr -c "$folder/nginx.conf" -g "daemon off; pid $folder/nginx.pid;")
      ;;
  esac
}

# Reads pid and port of a proxy; fails when it does not run, or when its id is now another's.
load_state() {
  [ -f "$root/$1.state" ] || return 1
  read -r pid port < "$root/$1.state"
  local words
  words=$(ps -p "$pid" -o args= || true)
  [[ $words == *"$1"* ]]
}

listens() {
  (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

start() {
  local name=$1 pid port command
  if load_state "$name"; then
    echo "$name runs already: http://127.0.0.1:$port"
    return
  fi
  port=${PROXY_PORT:-$(free_port)}
  command_of "$name" "$port" "$root/$name"
  # Detached, so that neither the end of this shell nor its pipes matter to it.
  (exec setsid nohup "${command[@]}" < /dev/null > "$root/$name.log" 2>&1) &
  pid=$!
  echo "$pid $port" > "$root/$name.state"
  local until=$((SECONDS + 30))
  while ! listens "$port"; do
    if ! kill -0 "$pid" 2> /dev/null || [ "$SECONDS" -ge "$until" ]; then
      echo "$name did not come up; the end of $root/$name.log:" >&2
      tail -n 30 "$root/$name.log" >&2
      stop "$name" > /dev/null
      exit 1
    fi
    sleep 0.1
  done
  echo "$name runs: http://127.0.0.1:$port"
}

stop() {
  local name=$1 pid port
  if load_state "$name"; then
    kill "$pid" 2> /dev/null || true
    for _ in $(seq 50); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2> /dev/null || true
    echo "$name stopped"
  fi
  rm -f "$root/$name.state"
}

status() {
  local name=$1 pid port
  if load_state "$name"; then
    echo "$name runs: http://127.0.0.1:$port"
  else
    echo "$name does not run"
  fi
}

usage="usage: scripts/proxies.sh start|stop|status haproxy|nginx, or command haproxy|nginx PORT FOLDER"
action=${1:-} name=${2:-}
[[ $name =~ ^(haproxy|nginx)$ ]] || fail "$usage"
case $action in
  start | stop | status)
    [ $# = 2 ] || fail "$usage"
    "$action" "$name"
    ;;
  command)
    [ $# = 4 ] || fail "$usage"
    command_of "$name" "$3" "$4"
    printf '%s\n' "${command[@]}"
    ;;
  *) fail "$usage" ;;
esac
