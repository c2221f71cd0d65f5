# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # dir, of daemon.sh
# terminal.sh - a terminal for commands that draw on one; tmux must be there, and daemon.sh is sourced before.
screen() { tmux -S "$dir/tmux" "$@"; }
# shows PATTERN: a line of the terminal has it, and $dir/screen the lines.
shows() { screen capture-pane -p >"$dir/screen" && grep -qE -- "$1" "$dir/screen"; }
