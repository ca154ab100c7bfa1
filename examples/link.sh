# SPDX-License-Identifier: MIT
# Two network namespaces joined by a link of a given rate: for the examples, which source this file.
#   make_link RATE   10.9.8.1 in $near, 10.9.8.2 in $far, which sends at RATE
near=magnet-example-near-$$
far=magnet-example-far-$$

remove_link() {
	ip netns del "$near" 2>/dev/null || :
	ip netns del "$far" 2>/dev/null || :
}

make_link() {
	trap remove_link EXIT
	trap 'exit 130' INT TERM HUP # or the shell dies without the above
	ip netns add "$near"
	ip netns add "$far"
	ip -n "$near" link add magnet0 type veth peer name magnet0 netns "$far"
	ip -n "$near" addr add 10.9.8.1/24 dev magnet0
	ip -n "$far" addr add 10.9.8.2/24 dev magnet0
	# frames on the link as a network card would send them, not 64 KiB at a time
	ip -n "$far" link set magnet0 gso_max_segs 1
	for ns in "$near" "$far"; do
		ip -n "$ns" link set lo up
		ip -n "$ns" link set magnet0 up
	done
	# sends when the queue has room, and not at a pace that TCP has estimated
	nsenter --net=/run/netns/"$far" sysctl -qw net.ipv4.tcp_congestion_control=cubic 2>/dev/null || :
	tc -n "$far" qdisc add dev magnet0 root tbf rate "$1" burst 64kb latency 200ms
}
