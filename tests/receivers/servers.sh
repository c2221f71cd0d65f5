# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# servers.sh - what the tests of real receivers share: Debian's carbon, graphite-web, InfluxDB, Prometheus, VictoriaMetrics
# and Alertmanager, on loopback in a network namespace of their own, with all they keep below $dir; they end with the test.
# To be sourced after ../collectd/daemon.sh.
# shellcheck disable=SC2154

system_python=/usr/bin/python3      # Debian's packages are for this one alone
carbon=""           # pids of the servers
graphite_web=""
influxdb=""
prometheus=""
victoria=""
vmalert=""
alertmanager=""
webhook=""

# in_private_network "$@": starts the test again in a network namespace of its own, with only loopback,
# so that all ports are free and nothing of the machine's is touched.
in_private_network() {
    if [ -z "${HEADROOM_PRIVATE_NETWORK:-}" ]; then
        unshare --net true 2>/dev/null || skip_all "network namespaces can't be made (root is needed)"
        command -v ip >/dev/null || skip_all "iproute2 is missing"
        rm -rf "$dir"
        HEADROOM_PRIVATE_NETWORK=1 exec unshare --net "$BASH" "$0" "$@"
    fi
    ip link set lo up || skip_all "loopback can't be set up"
}

# require_servers COMMAND...: skips what can't run without them.
require_servers() {
    local server
    for server in "$@"; do
        PATH=$PATH:/usr/sbin command -v "$server" >/dev/null || skip_all "$server is missing"
    done
}

# is_listening PORT: takes no program, so that it costs little to ask until a server listens.
is_listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# is_ready SERVER PID COMMAND...: waits two minutes for a server that was started; without it there is
# nothing to test.
is_ready() {
    local server=$1 pid=$2 end=$((SECONDS + 120))
    shift 2
    until "$@" >/dev/null 2>&1; do
        if [ $SECONDS -ge $end ] || ! kill -0 "$pid" 2>/dev/null; then
            tail -n 30 "$dir/$server.log" | sed 's/^/# /'
            echo "Bail out! $server doesn't start"
            exit 1
        fi
        sleep 0.1
    done
}

# stop_server PID: ends it and waits; with KILL if it doesn't within 20 seconds.
stop_server() {
    [ -n "$1" ] || return 0
    kill "$1" 2>/dev/null
    kill -CONT "$1" 2>/dev/null
    eventually has_ended "$1" || kill -KILL "$1" 2>/dev/null
    wait "$1" 2>/dev/null
}

has_ended() {
    local state
    state=$(awk '/^State:/ { print $2 }' "/proc/$1/status" 2>/dev/null)
    [ -z "$state" ] || [ "$state" = Z ]
}

# --- Graphite ----------------------------------------------------------------

# shellcheck disable=SC2120
# start_carbon [SCHEMAS]: carbon-cache on 127.0.0.1:2003 (and :7002, where graphite-web asks for what
# isn't written yet). Values are kept each second for two hours, or as a storage-schemas.conf says.
start_carbon() {
    mkdir -p "$dir/carbon" "$dir/whisper"
    cat >"$dir/carbon/carbon.conf" <<EOC
[cache]
STORAGE_DIR = $dir/carbon
LOCAL_DATA_DIR = $dir/whisper
CONF_DIR = $dir/carbon
LOG_DIR = $dir/carbon
PID_DIR = $dir/carbon
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = 2003
PICKLE_RECEIVER_INTERFACE = 127.0.0.1
PICKLE_RECEIVER_PORT = 2004
CACHE_QUERY_INTERFACE = 127.0.0.1
CACHE_QUERY_PORT = 7002
MAX_CACHE_SIZE = inf
MAX_UPDATES_PER_SECOND = inf
MAX_CREATES_PER_MINUTE = inf
CACHE_WRITE_STRATEGY = sorted
WHISPER_SPARSE_CREATE = True
CARBON_METRIC_INTERVAL = 0
ENABLE_TAGS = False
LOG_UPDATES = False
LOG_CREATES = False
ENABLE_LOGROTATION = False
EOC
    if [ $# -gt 0 ]; then
        cp "$1" "$dir/carbon/storage-schemas.conf"
    else
        printf '[all]\npattern = .*\nretentions = 1s:2h\n' >"$dir/carbon/storage-schemas.conf"
    fi
    carbon-cache --config="$dir/carbon/carbon.conf" --pidfile="$dir/carbon/pid" \
        --logdir="$dir/carbon" --debug start >>"$dir/carbon.log" 2>&1 &
    carbon=$!
    is_ready carbon "$carbon" is_listening 2003
    is_ready carbon "$carbon" is_listening 7002
}

# stop_carbon: ends it. What it hasn't written by then, which takes it a second or more, is lost.
stop_carbon() {
    stop_server "$carbon"
    carbon=""
    rm -f "$dir/carbon/pid"
}

# start_graphite_web: graphite-web on 127.0.0.1:8080, over what carbon wrote and holds.
start_graphite_web() {
    mkdir -p "$dir/graphite-web" "$dir/whisper"
    cat >"$dir/graphite-web/headroom_settings.py" <<EOC
SECRET_KEY = 'of a test'
ALLOWED_HOSTS = ['*']
TIME_ZONE = 'UTC'
GRAPHITE_ROOT = '/usr/share/graphite-web'
CONF_DIR = '$dir/graphite-web'
STORAGE_DIR = '$dir/graphite-web'
WHISPER_DIR = '$dir/whisper'
STANDARD_DIRS = ['$dir/whisper']
LOG_DIR = '$dir/graphite-web'
LOG_FILE_INFO = LOG_FILE_EXCEPTION = LOG_FILE_CACHE = LOG_FILE_RENDERING = '-'
LOG_ROTATION = False
INDEX_FILE = '$dir/graphite-web/index'
CARBONLINK_HOSTS = ['127.0.0.1:7002']
DEFAULT_CACHE_DURATION = 0
FIND_CACHE_DURATION = 0
FIND_TOLERANCE = 0
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': '$dir/graphite-web/db'}}
EOC
    cat >"$dir/graphite-web/serve.py" <<'EOC'
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server
from graphite.wsgi import application
from django.core.management import call_command

class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

call_command('migrate', run_syncdb=True, verbosity=0)
make_server('127.0.0.1', 8080, application, Server).serve_forever()
EOC
    PYTHONPATH=$dir/graphite-web PYTHONDONTWRITEBYTECODE=1 DJANGO_SETTINGS_MODULE=graphite.settings \
        GRAPHITE_SETTINGS_MODULE=headroom_settings $system_python "$dir/graphite-web/serve.py" \
        >>"$dir/graphite-web.log" 2>&1 &
    graphite_web=$!
    is_ready graphite-web "$graphite_web" is_listening 8080
    is_ready graphite-web "$graphite_web" curl -fsS "http://127.0.0.1:8080/metrics/find?query=*"
}

stop_graphite_web() {
    stop_server "$graphite_web"
    graphite_web=""
}

# graphite PARAMETERS: what /render answers, such as to 'target=a.b&format=json&from=-5min'. Of a
# target, all but letters, digits and -_.*~ is to be given as %HH (see target).
graphite() { curl -gsS "http://127.0.0.1:8080/render?$1"; }

# target NAME: the parameter target=NAME as it stands in an address.
target() { printf 'target=%s' "$(printf '%s' "$1" | jq -sRr @uri)"; }

# --- InfluxDB ----------------------------------------------------------------

# start_influxdb: influxd 1.x with http on 127.0.0.1:8086; what comes to its [[udp]] :8089 is in the
# database "collectd", what comes to its [[collectd]] :25826 in "network".
start_influxdb() {
    mkdir -p "$dir/influxdb"
    cat >"$dir/influxdb/influxdb.conf" <<EOC
reporting-disabled = true
bind-address = "127.0.0.1:8088"
[meta]
  dir = "$dir/influxdb/meta"
[data]
  dir = "$dir/influxdb/data"
  wal-dir = "$dir/influxdb/wal"
  query-log-enabled = false
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:8086"
  log-enabled = false
[logging]
  level = "warn"
[[udp]]
  enabled = true
  bind-address = ":8089"
  database = "collectd"
  precision = "ms"
  batch-timeout = "100ms"
[[collectd]]
  enabled = true
  bind-address = ":25826"
  database = "network"
  typesdb = "$types_db"
  batch-timeout = "100ms"
EOC
    HOME=$dir/influxdb influxd run -config "$dir/influxdb/influxdb.conf" >>"$dir/influxdb.log" 2>&1 &
    influxdb=$!
    is_ready influxdb "$influxdb" is_listening 8086
    is_ready influxdb "$influxdb" curl -fsS "http://127.0.0.1:8086/ping"
    is_ready influxdb "$influxdb" has_databases
    [ -e "$dir/losses" ] || note_losses
}

stop_influxdb() {
    stop_server "$influxdb"
    influxdb=""
}

# has_databases: makes both; the listeners make theirs only with the first packet.
has_databases() {
    curl -fsS -XPOST "http://127.0.0.1:8086/query" --data-urlencode "q=CREATE DATABASE collectd" &&
        curl -fsS -XPOST "http://127.0.0.1:8086/query" --data-urlencode "q=CREATE DATABASE network"
}

# influx QUERY [DATABASE]: what InfluxDB answers, as JSON; times are in seconds.
influx() { influx_in s "$@"; }
influx_ms() { influx_in ms "$@"; }
influx_in() {
    curl -gsS -G "http://127.0.0.1:8086/query" --data-urlencode "epoch=$1" \
        --data-urlencode "q=$2" --data-urlencode "db=${3:-collectd}"
}

# note_losses: from now on, as times of outages, when the kernel had no room for packets: the socket of a server
# that has to wait for a CPU holds some seconds of them.
note_losses() {
    : >"$dir/losses"
    (
        before=""
        while from=$EPOCHSECONDS && { read -rt 0.5 <>"$never" || :; }; do
            for file in /proc/net/snmp{,6}; do
                while read -r name one _ _ _ five _; do
                    case $name in
                    Udp:) lost=$five ;;         # the second such line has the numbers
                    Udp6RcvbufErrors) lost=$lost+$one ;;
                    esac
                done <"$file"
            done
            [ "$lost" = "${before:-$lost}" ] || echo "$((from - 5)) $((EPOCHSECONDS + 2))" >>"$dir/losses"
            before=$lost
        done
    ) 2>/dev/null &
    processes="$processes $!"
}

# --- Prometheus --------------------------------------------------------------

# configure_prometheus: as contrib/prometheus has it, but that it scrapes each second and has rules of 10 seconds, which
# hold for 3; in $dir/prometheus. What collectd needs to be scraped is made ready. To be done before collectd starts.
configure_prometheus() {
    local contrib
    contrib=$(dirname "${BASH_SOURCE[0]}")/../../contrib/prometheus
    ldd "$collectd_plugins/write_prometheus.so" | grep -q 'not found' &&
        skip_all "libmicrohttpd12 or libprotobuf-c1 is missing"
    # write_prometheus wants an address that isn't loopback's, as a machine has.
    ip address add 192.0.2.1/32 dev lo || skip_all "loopback can't have an address"
    mkdir -p "$dir/prometheus"
    sed 's/: 10s$/: 1s/' "$contrib/prometheus.yml" >"$dir/prometheus/prometheus.yml"
    sed 's/: 10s$/: 1s/; s/\[10s\] offset 30s/[1s] offset 3s/; s/\[1m\]/[10s]/; s/for: 1m$/for: 3s/' "$contrib/headroom-rules.yml" \
        >"$dir/prometheus/headroom-rules.yml"
}

# start_prometheus: on 127.0.0.1:9090, configured before.
start_prometheus() {
    prometheus --config.file="$dir/prometheus/prometheus.yml" --storage.tsdb.path="$dir/prometheus/data" \
        --web.listen-address=127.0.0.1:9090 --log.level=warn >>"$dir/prometheus.log" 2>&1 &
    prometheus=$!
    is_ready prometheus "$prometheus" is_listening 9090
    is_ready prometheus "$prometheus" curl -fsS http://127.0.0.1:9090/-/ready
}

stop_prometheus() {
    stop_server "$prometheus"
    prometheus=""
}

# promql QUERY [FILTER]: of each series that Prometheus, or what is at $promql_at, answers, by jq, a line.
promql_at=127.0.0.1:9090
promql() {
    curl -gsS -G "http://$promql_at/api/v1/query" --data-urlencode "query=$1" | jq -rc ".data.result[] | ${2:-.}"
}
has_promql() { [ -n "$(promql "$1")" ]; }

# --- VictoriaMetrics ---------------------------------------------------------

# start_victoria [FLAG...]: on 127.0.0.1:8428; it scrapes what Prometheus would, by the configuration that was made for that
# until then: a copy, as it may come to read it later than it answers.
start_victoria() {
    cp "$dir/prometheus/prometheus.yml" "$dir/victoria.yml"
    # Not strictly: it doesn't know rule_files, which are for vmalert.
    victoria-metrics "$@" -storageDataPath="$dir/victoria" -httpListenAddr=127.0.0.1:8428 -search.latencyOffset=0s \
        -promscrape.config="$dir/victoria.yml" -promscrape.config.strictParse=false -loggerLevel=WARN >>"$dir/victoria.log" 2>&1 &
    victoria=$!
    is_ready victoria "$victoria" curl -fsS http://127.0.0.1:8428/health
}

stop_victoria() {
    [ -z "$victoria" ] || ! has_ended "$victoria" || tail -n 20 "$dir/victoria.log" | sed 's/^/# VictoriaMetrics has ended: /'
    stop_server "$victoria"
    victoria=""
}

# start_vmalert: records for VictoriaMetrics what the rules that were made for Prometheus say, and alerts for itself; of
# what is there, though later versions look half a minute back.
start_vmalert() {
    local at_once=()
    ! vmalert -help 2>&1 | grep -q -- -rule.evalDelay || at_once=(-rule.evalDelay=0s)
    vmalert "${at_once[@]}" -rule="$dir/prometheus/headroom-rules.yml" -datasource.url=http://127.0.0.1:8428 \
        -remoteWrite.url=http://127.0.0.1:8428 -notifier.url=http://127.0.0.1:9 -httpListenAddr=127.0.0.1:8880 \
        -loggerLevel=ERROR >"$dir/vmalert.log" 2>&1 &
    vmalert=$!
    is_ready vmalert "$vmalert" curl -fsS http://127.0.0.1:8880/health
}

stop_vmalert() {
    stop_server "$vmalert"
    vmalert=""
}

# exported SELECTOR: all that VictoriaMetrics has of these series, see series.py.
exported() { curl -gsS http://127.0.0.1:8428/api/v1/export --data-urlencode "match[]=$1"; }

# --- Alertmanager ------------------------------------------------------------

# start_alertmanager: on 127.0.0.1:9093. What it has to notify, of each alert by itself, goes to a webhook whose
# requests are lines of $dir/notified; started again it goes on with what it has kept.
start_alertmanager() {
    if [ -z "$webhook" ]; then
        $system_python "$(dirname "${BASH_SOURCE[0]}")/webhook.py" 9094 "$dir/notified" >"$dir/webhook.log" 2>&1 &
        webhook=$!
        is_ready webhook "$webhook" is_listening 9094
    fi
    cat >"$dir/alertmanager.yml" <<EOC
route:
  receiver: webhook
  group_by: ['...']
  group_wait: 0s
  group_interval: 1s
receivers:
  - name: webhook
    webhook_configs:
      - url: http://127.0.0.1:9094/
        send_resolved: true
EOC
    # Debian's wants its templates below /usr/share, also if its package was only unpacked.
    unshare --mount "$BASH" -c 'mount --bind "$0" /usr/share && exec "$@"' \
        "$(dirname "$(command -v prometheus-alertmanager)")/../share" \
        prometheus-alertmanager --config.file="$dir/alertmanager.yml" --storage.path="$dir/alertmanager" \
        --web.listen-address=127.0.0.1:9093 --cluster.listen-address= --log.level=warn >>"$dir/alertmanager.log" 2>&1 &
    alertmanager=$!
    is_ready alertmanager "$alertmanager" is_listening 9093
    is_ready alertmanager "$alertmanager" curl -fsS http://127.0.0.1:9093/-/ready
}

stop_alertmanager() {
    stop_server "$alertmanager"
    alertmanager=""
}

# alerts [FILTER]: those that are active, by jq, a line each.
alerts() { curl -fsS http://127.0.0.1:9093/api/v2/alerts | jq -c ".[] | ${1:-.}"; }

# alerts_notified FILTER: of each alert that Alertmanager notified, by jq, a line; in order.
alerts_notified() { jq -rc ".alerts[] | $1" "$dir/notified" 2>/dev/null; }

# --- the end -----------------------------------------------------------------

stop_servers() {
    stop_graphite_web
    stop_carbon
    stop_influxdb
    stop_prometheus
    stop_vmalert
    stop_victoria
    stop_alertmanager
    stop_server "$webhook"
    webhook=""
}
trap 'stop_servers; clean_up' EXIT
