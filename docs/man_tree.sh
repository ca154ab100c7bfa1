#!/bin/sh
# SPDX-License-Identifier: MIT
# Link manual pages into a tree as man(1) takes it: man_tree.sh TREE STAMP PAGE...
set -eu
tree=$1 stamp=$2
shift 2
rm -rf "$tree"
for page in "$@"; do
	section=${page##*.}
	mkdir -p "$tree/man$section"
	ln -s "$(realpath "$page")" "$tree/man$section/"
done
touch "$stamp"
