/* SPDX-License-Identifier: MIT */
#include "tcp_names.h"

#include <stddef.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define NUMBERED(n, name, ...) [n] = #name,
static const char *const levels[] = {MG_LEVELS(NUMBERED)};
static const char *const ca_states[] = {MG_CA_STATES(NUMBERED)};
static const char *const resets[] = {[MG_RESET_unknown] = "unknown", MG_RESETS(NUMBERED)};

const char *mg_level_name(unsigned int n)
{
	return n < COUNT(levels) ? levels[n] : "?";
}

const char *mg_ca_state_name(unsigned int n)
{
	return n < COUNT(ca_states) ? ca_states[n] : "?";
}

const char *mg_reset_name(unsigned int n)
{
	return n < COUNT(resets) ? resets[n] : "?";
}
