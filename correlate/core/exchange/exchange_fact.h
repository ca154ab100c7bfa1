/* SPDX-License-Identifier: MIT */
/* Makes a fact of an exchange that has ended. */
#ifndef MAGNET_CORRELATE_CORE_EXCHANGE_EXCHANGE_FACT_H
#define MAGNET_CORRELATE_CORE_EXCHANGE_EXCHANGE_FACT_H

#include "exchange/exchange.h"

void exchange_emit(struct core *c, struct mg_sock *s, const struct exchange *e);

#endif
