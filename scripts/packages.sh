# SPDX-License-Identifier: MIT
# Functions of scripts/kernels and scripts/arm64: packages of Debian's, unpacked and not installed.
at=${MAGNET_KERNELS:-${XDG_CACHE_HOME:-$HOME/.cache}/magnet/kernels}
mkdir -p "$at"
at=$(cd "$at" && pwd)

say() {
	printf '[%s] %s\n' "$(date +%H:%M:%S)" "$1" >&2
}

fail() {
	echo "$0: $1" >&2
	exit 1
}

# use_apt NAME ARCHITECTURE SUITE...: have apt know these suites from here on, and install nothing
use_apt() {
	apt=$at/$1
	shift
	[ "${APT_CONFIG:-}" != "$apt/conf" ] || return 0
	unset APT_CONFIG
	scripts/debian-apt "$apt" "$@" || exit 1
	export APT_CONFIG="$apt/conf"
	say "reading Debian's lists of packages for $1"
	apt-get -q update >"$apt/log" 2>&1 || cat "$apt/log" >&2 # a mirror may lack a suite that is not asked for
}

# unpack DIRECTORY PACKAGE...: fetched and unpacked, whole or not at all
unpack() {
	to=$1
	shift
	rm -rf "$to.new"
	mkdir -p "$to.new/debs"
	(cd "$to.new/debs" && apt-get -q download "$@") >"$at/log" 2>&1 ||
		{ cat "$at/log" >&2; fail "cannot fetch $*"; }
	for top in bin sbin lib; do # where packages still have what lies below usr
		mkdir -p "$to.new/usr/$top"
		ln -s "usr/$top" "$to.new/$top"
	done
	for deb in "$to.new/debs"/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$to.new"
	done
	rm -rf "$to.new/debs" "$to"
	mv "$to.new" "$to"
}
