/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "show_words.h"

#include <stdio.h>
#include <string.h>

/* Requests of the kernel to itself to run a call again, which programs do not see. */
#define RESTARTS(R)         \
	R(512, ERESTARTSYS) \
	R(513, ERESTARTNOINTR) R(514, ERESTARTNOHAND) R(516, ERESTART_RESTARTBLOCK)

static bool error_word(int64_t value, char out[SHOW_WORDS])
{
	const char *name = value > 0 && value < 512 ? strerrorname_np((int)value) : NULL;

	switch (value) {
#define RESTART(number, word) \
	case number:          \
		name = #word; \
		break;
		RESTARTS(RESTART)
#undef RESTART
	default:
		break;
	}
	if (name)
		snprintf(out, SHOW_WORDS, "%s", name);
	return name;
}

/* Writes the letter that ps(1) has for a thread's state. */
static bool state_word(int64_t value, char out[SHOW_WORDS])
{
	static const struct {
		uint32_t bit;
		char letter;
	} states[] = {{0x1, 'S'}, {0x402, 'I'}, {0x2, 'D'}, {0x4, 'T'}, {0x8, 't'}, {0x10, 'X'},
		{0x20, 'Z'}, {0x40, 'P'}, {0x80, 'X'}};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (((uint32_t)value & states[i].bit) == states[i].bit) {
			snprintf(out, SHOW_WORDS, "%c", states[i].letter);
			return true;
		}
	if (!value)
		snprintf(out, SHOW_WORDS, "R");
	return !value;
}

static bool flag_words(int64_t value, char out[SHOW_WORDS])
{
	static const char *const flags[] = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
	size_t used = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (value >> i & 1)
			used += (size_t)snprintf(
				out + used, SHOW_WORDS - used, "%s%s", used ? "|" : "", flags[i]);
	return used;
}

static bool call_word(struct core *c, const struct mg_event *e, int64_t value, char out[SHOW_WORDS])
{
	const char *name = c ? core_call_name(c, e->sched_switch.entry, (int32_t)value) : NULL;

	if (name)
		snprintf(out, SHOW_WORDS, "%s", name);
	return name;
}

bool show_words(struct core *c, const struct mg_event *e, const struct mg_field_desc *f,
	int64_t value, char out[SHOW_WORDS])
{
	bool returns = strcmp(f->name, "ret") == 0 || strcmp(f->name, "rc") == 0 ||
		       strcmp(f->name, "err") == 0;

	if (returns && value < 0 && !MG_IS_APP(e->id))
		return error_word(-value, out);
	if (strcmp(f->name, "error") == 0 && MG_IS_APP(e->id))
		return error_word(value, out);
	if (strcmp(f->name, "tcp_flags") == 0)
		return flag_words(value, out);
	if (e->id == MG_EVENT_sched_switch && strcmp(f->name, "nr") == 0)
		return call_word(c, e, value, out);
	if (strcmp(f->name, "prev_state") == 0 || strcmp(f->name, "state") == 0)
		return f->names->name ? false : state_word(value, out);
	return false;
}
