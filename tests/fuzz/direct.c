/* SPDX-License-Identifier: MIT */
/*
 * Feeds the direct reader from memory. The input is a byte of options, then parts, each with its
 * length in two bytes in front, as the options say; the rest is a stream.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "direct/direct.h"
#include "core/core.h"
#include "own_metadata.h"
#include "parts.h"
#include "render/report.h"
#include "render/show.h"
#include "target.h"

#define OPTION_METADATA 1 /* a part is the metadata; otherwise magnet's own is used */
#define OPTION_APP      2 /* for the application side, otherwise for the kernel's */
#define OPTION_SECOND   4 /* a part is another stream */

static void print(struct core *core, FILE *to)
{
	struct report report;

	if (report_init(&report, core, NULL, "fuzzed") == 0) {
		json_decref(report_json(&report, NULL));
		report_text(&report, to, NULL, false);
	}
	report_free(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct direct_bytes left = {data + 1, size - 1}, metadata, stream[2];
	struct show show = {.setup = true};
	size_t streams = 0;
	struct core core;
	char why[1024];

	if (!size)
		return 0;
	if (*data & OPTION_METADATA)
		metadata = take_part(&left);
	else
		metadata.data = own_metadata(*data & OPTION_APP, &metadata.size);
	if (*data & OPTION_SECOND)
		stream[streams++] = take_part(&left);
	stream[streams++] = left;
	show.to = fopen("/dev/null", "we");
	core_init(&core);
	core_listen(&core, show_event, &show);
	if (direct_read_memory(&metadata, stream, streams, &core, why, sizeof(why)) == 0)
		print(&core, show.to);
	core_free(&core);
	fclose(show.to);
	return 0;
}
