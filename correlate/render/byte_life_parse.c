/* SPDX-License-Identifier: MIT */
/* Parses flows and byte ranges as the user writes them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "byte_life.h"

bool flow_parse(const char *id, uint64_t *cookie, bool *rx)
{
	bool inode = strncmp(id, "ino:", 4) == 0, lttng = strncmp(id, "lttng:", 6) == 0;
	char *end;

	id += inode ? 4 : lttng ? 6 : 0;
	if (*id < '0' || *id > '9')
		return false;
	*cookie = strtoull(id, &end, 10) | (uint64_t)inode << 62 | (uint64_t)lttng << 61;
	if (*end == '.' && end[1] >= '0' &&
		end[1] <= '9') { /* a further connection of the socket */
		uint64_t connection = strtoull(end + 1, &end, 10);

		if (*cookie >= FLOW_CONNECTION || connection < 2 ||
			connection > FLOW_CONNECTIONS_END / FLOW_CONNECTION)
			return false;
		*cookie += (connection - 1) * FLOW_CONNECTION;
	}
	*rx = strcmp(end, "/rx") == 0;
	return *rx || strcmp(end, "/tx") == 0;
}

bool range_parse(const char *text, uint64_t *from, uint64_t *to)
{
	uint64_t second;
	char *end, sign;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*from = strtoull(text, &end, 10);
	sign = *end++;
	if ((sign != '-' && sign != '+') || *end < '0' || *end > '9')
		return false;
	second = strtoull(end, &end, 10);
	if (errno || *end)
		return false;
	*to = sign == '-' ? second + 1 : *from + second;
	return *to > *from;
}
