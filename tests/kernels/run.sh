#!/bin/sh
# SPDX-License-Identifier: MIT
# In the guest: run each test of the list, say how it went, and end.
tests=$1
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8
export PATH HOME LC_ALL
. "$tests/environment"
limit=${MAGNET_VM_TEST_LIMIT:-900} # seconds
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t securityfs security /sys/kernel/security 2>/dev/null
mount -t tracefs tracing /sys/kernel/tracing
ip link set lo up
read -r up rest </proc/uptime
echo "=== up: $(uname -r) after $up s, clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
while read -r file args; do
	name=$(basename "$file" .py)
	read -r from rest </proc/uptime
	case $file in
	# shellcheck disable=SC2086
	*.py) timeout "$limit" python3 "$file" $args </dev/null ;;
	*) timeout "$limit" "$file" $args </dev/null ;;
	esac
	case $? in
	0) how=passed ;;
	77) how=skipped ;;
	124) how="failed: took longer than $limit s" ;;
	*) how=failed ;;
	esac
	read -r until rest </proc/uptime
	echo "=== $name: $how, $from s to $until s"
done <"$tests/tests"
echo "=== all done"
sync
echo o >/proc/sysrq-trigger
sleep 10
