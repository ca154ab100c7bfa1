#!/bin/sh
# SPDX-License-Identifier: MIT
# Test that `meson devenv` finds the manual pages of the build, and those of others:
# check_devenv.sh SOURCE BUILD
set -eu
cd "$1"
find() {
	meson devenv -C "$2" man -w "$1" 2>/dev/null | tail -n 1
}
for page in magnet magnet-record magnet-report libmagnet magnet-facts; do
	case $(find "$page" "$2") in
	"$2"/docs/man/man*/$page.* | "$1"/docs/$page.* | "$2"/docs/$page.*) echo "ok: $page is found" ;;
	*) echo "FAILED: man $page: '$(find "$page" "$2")'" && exit 1 ;;
	esac
done
meson devenv -C "$2" manpath 2>/dev/null | grep -q "docs/man:/" && echo "ok: and where others' pages are"
