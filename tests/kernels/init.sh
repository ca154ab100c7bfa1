#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# The guest's first program: this machine's files become the guest's, and the tests are run there.
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t devtmpfs dev /dev
for module in /modules/*.ko; do
	$b insmod "$module"
done
for word in $($b cat /proc/cmdline); do
	case $word in
	magnet.runner=*) runner=${word#*=} ;;
	magnet.tests=*) tests=${word#*=} ;;
	magnet.kept=*) kept=${word#*=} ;;
	magnet.system=*) system=${word#*=} ;;
	magnet.output=*) output=${word#*=} ;;
	esac
done
$b mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=262144,cache=loose host /machine
if [ -n "$system" ]; then # of packages that were unpacked
	$b mount -t tmpfs system /host
	$b cp -d "/machine$system/bin" "/machine$system/sbin" "/machine$system/lib" /host
	$b mkdir /host/dev /host/proc /host/sys /host/run /host/tmp
	for top in usr etc var; do
		$b mkdir "/host/$top"
		$b mount --bind "/machine$system/$top" "/host/$top"
	done
else
	$b mount --bind /machine /host
fi
for own in run tmp var/tmp; do
	$b mount -t tmpfs -o mode=1777 own /host/$own
done
kept=$tests:$kept
IFS=:
for path in $kept; do # may lie below those
	$b mkdir -p "/host$path"
	$b mount --bind "/machine$path" "/host$path"
done
$b mount -t proc proc /host/proc
$b mount -t sysfs sys /host/sys
$b mount --move /dev /host/dev
$b mkdir -p /host/dev/pts /host/dev/shm
$b mount -t devpts pts /host/dev/pts
$b mount -t tmpfs shm /host/dev/shm
exec $b chroot /host /bin/sh "$runner" "$tests" >"/host/dev/$output" 2>&1 </host/dev/null
