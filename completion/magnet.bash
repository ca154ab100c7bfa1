# SPDX-License-Identifier: MIT
# Completion for bash. Commands and options are those that the programs' --help lists.

_magnet_takes() # PROGRAM COMMAND: options that take a value
{
	"$1" "$2" --help 2>/dev/null | sed -nE 's/^  ((-.), |    )(--[a-z-]+) [A-Z].*/\2 \3/p' | tr '\n' ' '
}

_magnet_options() # PROGRAM COMMAND: one option a line, with = behind those that take a value
{
	"$1" "$2" --help 2>/dev/null | sed -nE \
		-e 's/^  (-., |    )(--[a-z-]+) [A-Z].*/\2=/p' -e 's/^  (-., |    )(--[a-z-]+)(\[=.*| .*)?$/\2/p'
}

# the words that an option refuses a bad value with, behind those of the message
_magnet_refused() # PROGRAM COMMAND OPTION WORDS
{
	"$1" "$2" "$3" = 2>&1 | sed -n "s/.* $4 //p" | tr ' ' '\n'
}

_magnet_values() # PROGRAM COMMAND OPTION: values of an option, where they can be listed
{
	case $3 in
	--facts) "$1" "$2" --help | sed -n '/--facts NAME /,/--help/p' | tr -s ' \n' '\n' | sed '1,/values:/d; /^-/,$d' ;;
	--format) _magnet_refused "$1" export --format 'formats:' ;;
	--figure) "$1" plot --figure list 2>/dev/null | cut -d ' ' -f 1 ;;
	--sort) "$1" top --sort = 2>&1 | sed -n 's/.*a column: //p' | tr ' ' '\n' ;;
	--on-demand) "$1" report --on-demand list | sed -nE 's/^([a-z][a-z-]*) .*/\1/p' ;;
	--event) [[ $2 == show ]] && _magnet_refused "$1" show --event 'or of' ;;
	--layer) _magnet_refused "$1" show --layer 'layers of' ;;
	--process) ls /proc | grep '^[0-9]' ;;
	--layers | -l) echo syscall socket tcp ip netfilter device gro sched switch none ;;
	--color) echo auto always never ;;
	--level) echo none light full ;;
	--protocol) echo tcp udp unix raw icmp netlink vsock ;;
	--direction) echo sent received ;;
	--without) echo fentry fexit netfilter ;;
	--trigger) echo retransmission lost latency= ;;
	--waterfall) echo p50 p90 p99 p99.9 ;;
	--session) lttng --no-sessiond list 2>/dev/null | sed -nE 's/^ +[0-9]+\) ([^ ]+) .*/\1/p' ;;
	--netns) ip netns list 2>/dev/null | cut -d ' ' -f 1 ;;
	--interface) ls /sys/class/net ;;
	--pid | -p) ls /proc | grep '^[0-9]' ;;
	esac
}

# where `magnet record`'s own options end; 0: they do not
_magnet_command_at()
{
	local i takes=" $(_magnet_takes "${COMP_WORDS[0]}" record) "

	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) echo $((i + 1)) && return ;;
		=) ((i++)) ;;
		-*) [[ $takes == *" ${COMP_WORDS[i]} "* && ${COMP_WORDS[i + 1]} != = ]] && ((i++)) ;;
		*) echo $i && return ;;
		esac
	done
	echo 0
}

_magnet()
{
	local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]}
	local before=${COMP_WORDS[COMP_CWORD - 1]} commands words at

	COMPREPLY=()
	commands=$("$program" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$commands help --help --version" -- "$word"))
		return
	fi
	if [[ $command == help ]]; then
		COMPREPLY=($(compgen -W "$commands" -- "$word"))
		return
	fi
	if [[ $command == record ]]; then
		at=$(_magnet_command_at)
		if ((at)); then # the program that is recorded completes as it does without magnet
			declare -F _command_offset >/dev/null && _command_offset "$at"
			return
		fi
	fi
	if [[ $command == top ]]; then # its COMMAND stands behind --
		for ((at = 2; at < COMP_CWORD; at++)); do
			[[ ${COMP_WORDS[at]} == -- ]] || continue
			declare -F _command_offset >/dev/null && _command_offset $((at + 1))
			return
		done
	fi
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	words=$(_magnet_values "$program" "$command" "$before")
	if [[ -n $words ]]; then
		COMPREPLY=($(compgen -P "${word%"${word##*,}"}" -W "$words" -- "${word##*,}"))
	elif [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$(_magnet_options "$program" "$command")" -- "$word"))
		[[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
	elif [[ " $(_magnet_takes "$program" "$command") " == *" $before "* ]]; then
		case $before in
		-o | --output | --against | --pcap | --cgroup | --control | --socket) COMPREPLY=($(compgen -f -- "$word")) ;;
		esac
	elif [[ $command == ctl ]]; then
		COMPREPLY=($(compgen -W "status dump pause resume set stop" -- "$word"))
	elif [[ $command == record ]]; then
		COMPREPLY=($(compgen -c -- "$word"))
	elif [[ $command == annotate ]]; then # a capture, then directories
		COMPREPLY=($(compgen -f -- "$word"))
	elif [[ $command == top && $word == [0-9]* ]]; then
		COMPREPLY=($(compgen -W "$(ls /proc | grep '^[0-9]')" -- "$word"))
	else
		COMPREPLY=($(compgen -d -- "$word"))
	fi
}

complete -o filenames -F _magnet magnet
