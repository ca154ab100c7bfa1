/* SPDX-License-Identifier: MIT */
/* Which event records which stage of a byte's way, from the event table. */
#ifndef MAGNET_CORRELATE_STAGE_H
#define MAGNET_CORRELATE_STAGE_H

#include "event_set.h"
#include "facts/stages.h"

/* In place of a layer: the event records no stage. */
#define TX_NONE 32
#define RX_NONE 32

/* The layer by direction and stage, as they stand in the table's row. */
#define MG_TX_LAYER_OUT(stage) TX_##stage
#define MG_TX_LAYER_IN(stage)  TX_NONE
#define MG_TX_LAYER_ANY(stage) TX_NONE
#define MG_RX_LAYER_OUT(stage) RX_NONE
#define MG_RX_LAYER_IN(stage)  RX_##stage
#define MG_RX_LAYER_ANY(stage) RX_NONE

/* Returns the enum tx_layer that an event records, or TX_NONE. */
static inline int tx_stage_of(unsigned int id)
{
	switch (id) {
#define MG_STAGE(id, name, NAME, layer, direction, stage, ...) \
	case id:                                               \
		return MG_TX_LAYER_##direction(stage);
		MG_RING_EVENTS(MG_STAGE)
#undef MG_STAGE
	default:
		return TX_NONE;
	}
}

/* Returns the enum rx_layer that an event records, or RX_NONE. */
static inline int rx_stage_of(unsigned int id)
{
	switch (id) {
#define MG_STAGE(id, name, NAME, layer, direction, stage, ...) \
	case id:                                               \
		return MG_RX_LAYER_##direction(stage);
		MG_RING_EVENTS(MG_STAGE)
#undef MG_STAGE
	default:
		return RX_NONE;
	}
}

#define MG_STAGE_BIT(layer) ((uint32_t)(UINT64_C(1) << (layer))) /* of none: 0 */

/* The layers that these events record, as bits 1 << enum tx_layer. */
static inline uint32_t tx_stages(struct mg_events of)
{
	uint32_t bits = 0;

#define MG_STAGE(id, name, NAME, layer, direction, stage, ...) \
	bits |= mg_events_have(of, id) ? MG_STAGE_BIT(MG_TX_LAYER_##direction(stage)) : 0;
	MG_RING_EVENTS(MG_STAGE)
#undef MG_STAGE
	return bits;
}

/* The same of what arrives, as bits 1 << enum rx_layer. */
static inline uint32_t rx_stages(struct mg_events of)
{
	uint32_t bits = 0;

#define MG_STAGE(id, name, NAME, layer, direction, stage, ...) \
	bits |= mg_events_have(of, id) ? MG_STAGE_BIT(MG_RX_LAYER_##direction(stage)) : 0;
	MG_RING_EVENTS(MG_STAGE)
#undef MG_STAGE
	return bits;
}

#endif
