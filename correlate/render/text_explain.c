/* SPDX-License-Identifier: MIT */
/* Prints what the words of the report mean: a line for each, from the table of figures where it is
 * one. */
#include "reported/getters.h"
#include "text.h"

struct word {
	const char *word;
	const struct scope *of; /* the figure, which says what it is */
	const char *figure;
	const char *says; /* NULL: what the figure says */
};

static const struct word words[] = {
	{"whole exchange", NULL, NULL,
		"a client's time from its first write to its last read; a server's from the "
		"arrival "
		"of the request until the reply has left"},
	{"request to reply", NULL, NULL,
		"at a client, from the call that wrote the request's last byte to the return of "
		"the call that read the reply's first byte; at a server, from the arrival of the "
		"request's last byte at the device to the departure of the reply's first byte"},
	{"median, slowest N %, slowest", NULL, NULL,
		"mean of the exchanges about as long as the median, of the slowest N %, and of "
		"those as long as the longest"},
	{"sending", NULL, NULL, "from the call to the driver"},
	{"program", NULL, NULL, "between the program's calls"},
	{"receiving", NULL, NULL, "from the device to the return of the call"},
	{"network", NULL, NULL, "everything between the two ends"},
	{"in the program", NULL, NULL,
		"from the return of the call that read the request to the entry of the call that "
		"wrote the reply's first byte"},
	{"who is the server is assumed", NULL, NULL,
		"the connection was open before the recording, and TCP's counters do not show "
		"which "
		"end opened it: a port on which another connection was accepted is taken for the "
		"server's, else the lower one; if that is wrong, requests and replies are swapped"},
	{"time lost in system calls", NULL, NULL,
		"CPU time of the threads themselves, without waiting, interrupts and tracing "
		"overhead"},
	{"time lost in the stack", NULL, NULL,
		"the mean time of a flow's bytes times the number of calls that moved them, "
		"summed over flows; waits at the same time count each"},
	{"time lost waiting for a CPU", NULL, NULL, "sum of the threads' waits for a CPU"},
	{"total", NULL, NULL, "time from before the call to after it"},
	{"on CPU, overhead", NULL, NULL,
		"time the thread itself spent on the CPU for the call: the total without waiting, "
		"interrupts and tracing overhead"},
	{"blocked", NULL, NULL, "share of the calls in which the thread gave up the CPU to wait"},
	{"(+-), ~", NULL, NULL,
		"uncertainty of one call's overhead, two standard deviations; an overhead that is "
		"below it"},
	{"p50, p99, max, p87", NULL, NULL,
		"median, 99th percentile, largest; with too few samples for the 99th percentile "
		"the "
		"largest quantile that ten samples exceed stands in its place"},
	{"latency by stage", NULL, NULL,
		"the mean time of a byte in each layer, from the program's call to the driver, or "
		"from the device to the return of the call"},
	{"by the kernel's timestamps", NULL, NULL,
		"times of the last byte of each send, of connections that the kernel was asked to "
		"timestamp (--layers timestamps); tracing overhead is not taken off"},
	{"share of a stage", NULL, NULL, "its part of the mean total"},
	{"sizes, spacing", NULL, NULL,
		"mean size of what the program sent and of what left the device, and mean time "
		"between them; of received bytes from the device to the program's calls"},
	{"J", &scope_modulation, "J_ns", NULL},
	{"tau", &scope_modulation, "tau_ns", NULL},
	{"M", NULL, NULL,
		"modulation, J divided by tau: by which part of the gap between two sends the "
		"stack "
		"moved the average byte; 0 if it only delays, and the program's timing is kept"},
	{"S", &scope_modulation, "S", NULL},
	{"W1", &scope_modulation, "w1_spacing_ns", NULL},
	{"sd/mean", NULL, NULL, "standard deviation divided by mean, of sizes and of spacings"},
	{"goodput", NULL, NULL,
		"bytes delivered divided by the bytes of the frames that carried them"},
	{"waits for a CPU", NULL, NULL,
		"from the wakeup of a thread until it runs, and while it was preempted"},
	{"tracing overhead", NULL, NULL,
		"time that magnet's own events take; taken off stages and calls, but not off the "
		"totals"},
	{"*", NULL, NULL,
		"beside a figure: 1 to 10 % of its data is missing; beside a kind of socket: the "
		"call bypassed libmagnet.so"},
	{"n/a", NULL, NULL, "could not be observed; never 0"},
};

void text_explain(const struct report *r, FILE *to, bool colour)
{
	(void)r;
	fprintf(to, "\n%sWords%s\n", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct word *w = &words[i];

		fprintf(to, "  %s: %s\n", w->word,
			w->says ? w->says : figure_of(w->of, w->figure)->doc);
	}
	fprintf(to, "  All figures are defined in method.md; magnet-figures(5) lists them.\n");
}
