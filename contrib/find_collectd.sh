# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# find_collectd.sh - where collectd is on this machine. To be sourced.
#
# COLLECTD, COLLECTD_PLUGINDIR, TYPESDB  another collectd than the installed one

# find_collectd: sets $collectd, $collectd_plugins (its folder of plugins) and $types_db; what isn't
# found is empty.
find_collectd() {
    local folder
    collectd=${COLLECTD:-$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v collectd)}
    collectd_plugins=${COLLECTD_PLUGINDIR:-}
    for folder in /usr/lib/collectd /usr/lib64/collectd /usr/lib/*/collectd /usr/local/lib/collectd; do
        [ -z "$collectd_plugins" ] && [ -e "$folder/csv.so" ] && collectd_plugins=$folder
    done
    types_db=${TYPESDB:-$(dirname "$(dirname "$collectd")")/share/collectd/types.db}
    [ -e "$types_db" ] || types_db=/usr/share/collectd/types.db
}
