# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# archives.sh - the way that apt has to the distribution's packages here, for other root folders. To be sourced.

# archives: what apt takes the distribution itself from, leaving out what others have added.
archives() {
    local ID=''
    # shellcheck source=/dev/null
    . /etc/os-release
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' "Origin: ${ID^}" 2>/dev/null
}

# apt_settings: how apt reaches archives here (by a proxy, …), as a configuration.
apt_settings() {
    apt-config dump --no-empty --format '%f "%v";%n' Acquire | grep -v '^Acquire::IndexTargets'
    echo 'APT::Install-Recommends "false";'
}
