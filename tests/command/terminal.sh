# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # dir, of daemon.sh
# terminal.sh - a terminal for commands that draw on one; tmux must be there, and daemon.sh is sourced before.
terminal=tmux ended_terminals=0
screen() { tmux -S "$dir/$terminal" "$@"; }
# end_screen: a server takes a moment to end, in which the next one of the same socket would end with it.
end_screen() {
    screen kill-server
    terminal=tmux.$((++ended_terminals))
}
# shows PATTERN: a line of the terminal has it, and $dir/screen the lines.
shows() { screen capture-pane -p >"$dir/screen" && grep -qE -- "$1" "$dir/screen"; }
