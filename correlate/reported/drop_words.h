/* SPDX-License-Identifier: MIT */
/* Says in words why the kernel dropped packets. */
#ifndef MAGNET_CORRELATE_REPORTED_DROP_WORDS_H
#define MAGNET_CORRELATE_REPORTED_DROP_WORDS_H

/* Returns what the kernel's name of a reason means; "" if it says enough, or is seldom. */
const char *drop_words(const char *reason);

#endif
