#!/usr/bin/env bash
# Starts and stops real servers for the tests that need them: of SPARQL, search, documents by the protocol of MongoDB, and
# log-ins.
#
#   scripts/servers.sh start|stop|status|env [rdf4j] [fuseki] [opensearch] [mongodb] [keycloak]
#   scripts/servers.sh command rdf4j|fuseki|opensearch|mongodb|keycloak PORT FOLDER
#
# The SPARQL servers when none is named. They listen on free ports of 127.0.0.1 and keep nothing: their
# files are under target/servers/, which also tells where they run. `env` prints RDF4J_URL, FUSEKI_URL,
# OPENSEARCH_URL, MONGODB_URL and KEYCLOAK_URL, the addresses of the servers that it is asked for, as exports for the shell.
# Fuseki has the empty dataset `ds`, and its own protocol makes others.
# `command` prints the words of the command that runs a server on a port, one a line, for tests that start
# and kill servers of their own; the folder is where RDF4J keeps its repositories, and OpenSearch its
# configuration, data and logs. Further settings of OpenSearch may be added as -Ename=value.
# OpenSearch does not run as root: root starts it as the user SERVERS_UID (65534). Where that user does not
# get at target/servers/, its files are in a folder of the name servers-* among the temporary ones.
# MongoDB's protocol is spoken by mongo-java-server over an H2 database in memory. It does what the protocol of MongoDB 5
# says for one server, and ignores read and write concerns.
# Keycloak has the administrator `admin` with the password `admin`, and a database in memory.
# Needs Java and, the first time, Maven, which fetches the servers.
set -euo pipefail
cd "$(dirname "$0")/.."

RDF4J=org.eclipse.rdf4j:rdf4j-http-server:3.7.7:war
JETTY=org.eclipse.jetty:jetty-runner:9.4.58.v20250814:jar
FUSEKI=org.apache.jena:jena-fuseki-server:6.1.0:jar # for Java 21 or later
FUSEKI_17=org.apache.jena:jena-fuseki-server:5.5.0:jar
OPENSEARCH=org.opensearch.distribution.integ-test-zip:opensearch:3.7.0:zip # for Java 21 or later
OPENSEARCH_17=org.opensearch.distribution.integ-test-zip:opensearch:2.19.4:zip
# What that one does not bring along.
ANALYSIS_17=org.opensearch.plugin:analysis-common:2.19.4:jar
MONGODB=de.bwaldvogel:mongo-java-server-h2-backend:1.47.0:jar
# Compiles the main class of that one, since a Java runtime has no compiler.
ECJ=org.eclipse.jdt:ecj:3.33.0:jar # for Java 17 or later
KEYCLOAK=org.keycloak:keycloak-quarkus-dist:26.7.3:zip # for Java 17 or later
# Seconds for a server to come up.
WAIT=${SERVERS_WAIT:-90}
# Who runs OpenSearch when root starts it.
RUN_AS=${SERVERS_UID:-65534}

root=$PWD/target/servers
mkdir -p "$root/lib"

fail() {
  echo "$*" >&2
  exit 1
}

java_major() {
  "$1" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1
}

# Prints a Java of at least this version, when there is one.
java_from() {
  local java version
  for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
    [ -x "$java" ] || continue
    version=$(java_major "$java")
    if [ -n "$version" ] && [ "$version" -ge "$1" ]; then
      echo "$java"
      return
    fi
  done
}

need_maven() {
  command -v mvn > /dev/null || fail "missing: mvn, which fetches $1 (on Debian: apt-get install maven)"
}

# Prints the file of an artifact; fetches it when it is not there.
artifact() {
  local name version kind file
  IFS=: read -r _ name version kind <<< "$1"
  file=$root/lib/$name-$version.$kind
  if [ ! -s "$file" ]; then
    need_maven "$1"
    mvn -q -B dependency:copy -Dartifact="$1" -DoutputDirectory="$root/lib" -Dtransitive=false >&2 ||
      fail "failed to fetch $1"
  fi
  echo "$file"
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

# Tells whether http://127.0.0.1:PORT/PATH answers 200.
answers() {
  local line
  # The reader of a server that is not ready must not wait for ever.
  line=$(
    {
      exec 3<> "/dev/tcp/127.0.0.1/$1" || exit 0
      printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$2" >&3
      read -r -t 5 status <&3 || exit 0
      echo "$status"
    } 2> /dev/null
  ) || return 1
  [[ $line == HTTP/1.?' 200'* ]]
}

# Tells whether a server is ready.
is_ready() {
  case $1 in
    # It listens once it is ready.
    mongodb) (exec 3<> "/dev/tcp/127.0.0.1/$2") 2> /dev/null ;;
    *) answers "$2" "$(health_path "$1")" ;;
  esac
}

health_path() {
  case $1 in
    rdf4j) echo /rdf4j-server/protocol ;;
    fuseki) echo '/ds?query=ASK%7B%7D' ;;
    opensearch) echo /_cluster/health ;;
    keycloak) echo /realms/master ;;
  esac
}

address() {
  case $1 in
    rdf4j) echo "http://127.0.0.1:$2/rdf4j-server" ;;
    fuseki | opensearch | keycloak) echo "http://127.0.0.1:$2" ;;
    mongodb) echo "mongodb://127.0.0.1:$2" ;;
  esac
}

# Reads pid and port of a server; fails when it does not run, or when its id is now another's.
load_state() {
  [ -f "$root/$1.state" ] || return 1
  read -r pid port < "$root/$1.state"
  local command
  if [ -r "/proc/$pid/cmdline" ]; then
    command=$(tr '\0' ' ' < "/proc/$pid/cmdline")
  else
    command=$(ps -p "$pid" -o args= 2> /dev/null || true)
  fi
  [[ $command == *"$root"* ]]
}

# Runs a command as the user that runs OpenSearch.
as_server() {
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid "$RUN_AS" --regid "$RUN_AS" --clear-groups -- "$@"
  else
    "$@"
  fi
}

# Prints a folder that whoever runs OpenSearch gets at.
open_root() {
  local folder
  if as_server test -x "$root"; then
    echo "$root"
    return
  fi
  folder=${TMPDIR:-/tmp}/servers-$(cksum <<< "$root" | cut -d ' ' -f 1)
  # Nobody else may have made it.
  mkdir -m 755 "$folder" 2> /dev/null || [[ -O $folder && ! -L $folder ]] || fail "$folder belongs to somebody else"
  as_server test -x "$folder" || fail "user $RUN_AS does not get at $folder; set TMPDIR"
  echo "$folder"
}

# Prints the folder of an unpacked OpenSearch with the modules that indexes need.
unpacked_opensearch() {
  local version home module
  IFS=: read -r _ _ version _ <<< "$1"
  home=$(open_root)/opensearch-$version
  if [ ! -d "$home" ]; then
    rm -rf "$home.part"
    mkdir "$home.part"
    need_maven "$1"
    # There, since Maven leaves a note of what it has unpacked.
    (cd "$home.part" && mvn -q -B dependency:unpack -Dartifact="$1" -DoutputDirectory="$home.part") >&2 ||
      fail "failed to fetch $1"
    chmod -R go+rX "$home.part"
    chmod +x "$home.part/opensearch-$version/bin/"*
    module=$home.part/opensearch-$version/modules/analysis-common
    if [ ! -d "$module" ]; then
      mkdir "$module"
      cp "$(artifact "$ANALYSIS_17")" "$module"
      cat > "$module/plugin-descriptor.properties" << END
name=analysis-common
description=The analyzers of the distribution
version=$version
opensearch.version=$version
java.version=11
classname=org.opensearch.analysis.common.CommonAnalysisPlugin
END
    fi
    mv "$home.part/opensearch-$version" "$home"
    rm -r "$home.part"
  fi
  echo "$home"
}

# Prints the folder of the jars and the main class of the server that speaks MongoDB's protocol.
compiled_mongodb() {
  local group name version kind home ecj
  IFS=: read -r group name version kind <<< "$MONGODB"
  home=$root/lib/$name-$version
  if [ ! -d "$home" ]; then
    rm -rf "$home.part"
    mkdir "$home.part"
    need_maven "$MONGODB"
    cat > "$home.part/pom.xml" << END
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>servers</groupId><artifactId>mongodb</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>$group</groupId><artifactId>$name</artifactId><version>$version</version><type>$kind</type></dependency>
  </dependencies>
</project>
END
    mvn -q -B -f "$home.part/pom.xml" dependency:copy-dependencies -DoutputDirectory="$home.part" >&2 ||
      fail "failed to fetch $MONGODB"
    # By itself it says that it speaks an older version than drivers accept.
    cat > "$home.part/Main.java" << 'END'
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import java.util.List;

public class Main {
    public static void main(String[] arguments) {
        H2Backend backend = H2Backend.inMemory();
        backend.version(new MongoVersion() {
            public List<Integer> getVersionArray() { return List.of(5, 0, 0); }
            public int getWireVersion() { return 13; }
        });
        MongoServer server = new MongoServer(backend);
        server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
    }
}
END
    ecj=$(artifact "$ECJ")
    "$1" -jar "$ecj" -17 -cp "$(printf '%s:' "$home.part"/*.jar)" -d "$home.part" "$home.part/Main.java" >&2 ||
      fail "failed to compile $home.part/Main.java"
    mv "$home.part" "$home"
  fi
  echo "$home"
}

# Prints the folder of an unpacked Keycloak that is built for a database in memory, which its start then need not do.
built_keycloak() {
  local version home
  IFS=: read -r _ _ version _ <<< "$KEYCLOAK"
  home=$root/lib/keycloak-$version
  if [ ! -f "$home/built" ]; then
    rm -rf "$home" "$home.part"
    mkdir "$home.part"
    need_maven "$KEYCLOAK"
    (cd "$home.part" && mvn -q -B dependency:unpack -Dartifact="$KEYCLOAK" -DoutputDirectory="$home.part") >&2 ||
      fail "failed to fetch $KEYCLOAK"
    mv "$home.part/keycloak-$version" "$home"
    rm -r "$home.part"
    JAVA=$1 bash "$home/bin/kc.sh" build --db=dev-mem >&2 || fail "failed to build $home"
    touch "$home/built"
  fi
  echo "$home"
}

# Prepares a folder for a node of OpenSearch.
opensearch_folder() {
  local home=$1 folder=$2
  mkdir -p "$folder"/{data,logs,tmp}
  if [ ! -d "$folder/config" ]; then
    cp -r "$home/config" "$folder/config"
    sed -i "s|\([:=]\)\(logs/\)|\1$folder/\2|; s|HeapDumpPath=data|HeapDumpPath=$folder/data|" "$folder/config/jvm.options"
    cat > "$folder/config/opensearch.yml" << END
network.host: 127.0.0.1
discovery.type: single-node
path.data: $folder/data
path.logs: $folder/logs
# A test needs little space, and the disk of a developer may be nearly full.
cluster.routing.allocation.disk.threshold_enabled: false
END
  fi
  if [ "$(id -u)" -eq 0 ]; then
    chown -R "$RUN_AS:$RUN_AS" "$folder"
  fi
  as_server test -w "$folder/data" || fail "user $RUN_AS does not get at $folder"
}

# Sets `command` to what runs a server on a port, with its files in a folder.
command_of() {
  local java folder=$3
  case $1 in
    rdf4j)
      java=$(java_from 8)
      [ -n "$java" ] || fail "missing: java (on Debian: apt-get install default-jre-headless)"
      command=("$java" -Xmx512m "-Dorg.eclipse.rdf4j.appdata.basedir=$folder"
        -jar "$(artifact "$JETTY")" --host 127.0.0.1 --port "$2" --path /rdf4j-server
        "$(artifact "$RDF4J")")
      ;;
    fuseki)
      java=$(java_from 21)
      if [ -n "$java" ]; then
        command=("$java" -Xmx512m -jar "$(artifact "$FUSEKI")")
      else
        java=$(java_from 17)
        [ -n "$java" ] || fail "missing: Java 17 or later (on Debian: apt-get install default-jre-headless)"
        command=("$java" -Xmx512m -jar "$(artifact "$FUSEKI_17")")
      fi
      command+=(--mem --update --localhost --port "$2" /ds)
      ;;
    mongodb)
      local home
      java=$(java_from 17)
      [ -n "$java" ] || fail "missing: Java 17 or later (on Debian: apt-get install default-jre-headless)"
      home=$(compiled_mongodb "$java")
      command=("$java" -Xmx256m -cp "$home:$home/*" Main "$2")
      ;;
    keycloak)
      local home
      java=$(java_from 17)
      [ -n "$java" ] || fail "missing: Java 17 or later (on Debian: apt-get install default-jre-headless)"
      home=$(built_keycloak "$java")
      # What kc.sh runs, without the shell around it, which a signal would end in its place.
      command=(env KC_BOOTSTRAP_ADMIN_USERNAME=admin KC_BOOTSTRAP_ADMIN_PASSWORD=admin
        "$java" -Xmx512m -XX:TieredStopAtLevel=1 "-Dkc.home.dir=$home" "-Djboss.server.config.dir=$home/conf"
        -Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory
        -Djava.util.logging.manager=org.jboss.logmanager.LogManager -Dpicocli.disable.closures=true
        --add-opens=java.base/java.util=ALL-UNNAMED --add-opens=java.base/java.util.concurrent=ALL-UNNAMED
        --add-opens=java.base/java.security=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED
        -cp "$home/lib/quarkus-run.jar" io.quarkus.bootstrap.runner.QuarkusEntryPoint start --optimized
        --http-enabled=true --http-host=127.0.0.1 "--http-port=$2" --hostname-strict=false --cache=local)
      ;;
    opensearch)
      local home coordinates=$OPENSEARCH
      command=()
      java=$(java_from 21)
      if [ -z "$java" ]; then
        coordinates=$OPENSEARCH_17
        java=$(java_from 17)
        [ -n "$java" ] || fail "missing: Java 17 or later (on Debian: apt-get install default-jre-headless)"
      fi
      if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv > /dev/null || fail "missing: setpriv, since OpenSearch does not run as root"
        command=(setpriv --reuid "$RUN_AS" --regid "$RUN_AS" --clear-groups --)
      fi
      home=$(unpacked_opensearch "$coordinates")
      opensearch_folder "$home" "$folder"
      java=$(readlink -f "$java")
      # The last option says whose process it is.
      command+=(env "OPENSEARCH_JAVA_HOME=${java%/bin/java}" "OPENSEARCH_PATH_CONF=$folder/config"
        "OPENSEARCH_TMPDIR=$folder/tmp" "OPENSEARCH_JAVA_OPTS=-Xms512m -Xmx512m -Dservers.root=$root"
        "$home/bin/opensearch" "-Ehttp.port=$2")
      ;;
  esac
}

start() {
  local name=$1 pid port command folder
  if load_state "$name"; then
    echo "$name runs already: $(address "$name" "$port")"
    return
  fi
  port=$(free_port)
  folder=$root/$name
  if [ "$name" = opensearch ]; then
    folder=$(open_root)/$name
  fi
  rm -rf "${folder:?}"
  mkdir -p "$folder"
  command_of "$name" "$port" "$folder"
  # Detached, so that neither the end of this shell nor its pipes matter to it.
  (cd "$folder" && exec setsid nohup "${command[@]}" < /dev/null > "$root/$name.log" 2>&1) &
  pid=$!
  echo "$pid $port" > "$root/$name.state"
  local until=$((SECONDS + WAIT))
  while ! is_ready "$name" "$port"; do
    if ! kill -0 "$pid" 2> /dev/null || [ "$SECONDS" -ge "$until" ]; then
      echo "$name did not come up; the end of $root/$name.log:" >&2
      tail -n 30 "$root/$name.log" >&2
      stop "$name"
      exit 1
    fi
    sleep 0.2
  done
  echo "$name runs: $(address "$name" "$port")"
}

stop() {
  local name=$1 pid port
  if load_state "$name"; then
    kill "$pid" 2> /dev/null || true
    for _ in $(seq 50); do
      kill -0 "$pid" 2> /dev/null || break
      sleep 0.2
    done
    kill -9 "$pid" 2> /dev/null || true
    echo "$name stopped"
  fi
  rm -f "$root/$name.state"
}

status() {
  local name=$1 pid port
  if ! load_state "$name"; then
    echo "$name does not run"
  elif is_ready "$name" "$port"; then
    echo "$name runs: $(address "$name" "$port")"
  else
    echo "$name runs and does not answer: $(address "$name" "$port")"
  fi
}

env() {
  local name=$1 pid port
  load_state "$name" || fail "$name does not run: scripts/servers.sh start $name"
  echo "export ${name^^}_URL=$(address "$name" "$port")"
}

action=${1:-}
shift || true
if [ "$action" = command ]; then
  [[ $# == 3 && $1 =~ ^(rdf4j|fuseki|opensearch|mongodb|keycloak)$ ]] ||
    fail "usage: scripts/servers.sh command rdf4j|fuseki|opensearch|mongodb|keycloak PORT FOLDER"
  command_of "$@"
  printf '%s\n' "${command[@]}"
  exit
fi
[[ $action =~ ^(start|stop|status|env)$ ]] || fail "usage: scripts/servers.sh start|stop|status|env [rdf4j] [fuseki] [opensearch] [mongodb] [keycloak]"
[ "$#" -gt 0 ] || set -- rdf4j fuseki
for name in "$@"; do
  [[ $name =~ ^(rdf4j|fuseki|opensearch|mongodb|keycloak)$ ]] || fail "unknown server: $name"
done
for name in "$@"; do
  "$action" "$name"
done
