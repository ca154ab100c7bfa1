/* SPDX-License-Identifier: MIT */
/*
 * LTTng's control library, loaded when it is asked for: it brings libxml2 and others with it, which
 * every other command of magnet would load for nothing.
 */
#ifndef MAGNET_CLI_LTTNG_CTL_H
#define MAGNET_CLI_LTTNG_CTL_H

#include <lttng/lttng.h>

#define LTTNG_CTL_FUNCTIONS(X)                            \
	X(lttng_session_daemon_alive)                     \
	X(lttng_strerror)                                 \
	X(lttng_list_sessions)                            \
	X(lttng_create_handle)                            \
	X(lttng_destroy_handle)                           \
	X(lttng_list_channels)                            \
	X(lttng_list_events)                              \
	X(lttng_channel_get_discarded_event_count)        \
	X(lttng_enable_event)                             \
	X(lttng_session_descriptor_local_create)          \
	X(lttng_session_descriptor_snapshot_local_create) \
	X(lttng_session_descriptor_destroy)               \
	X(lttng_create_session_ext)                       \
	X(lttng_destroy_session)                          \
	X(lttng_start_tracing)                            \
	X(lttng_stop_tracing)                             \
	X(lttng_rotate_session)                           \
	X(lttng_rotation_handle_get_state)                \
	X(lttng_rotation_handle_destroy)                  \
	X(lttng_snapshot_output_create)                   \
	X(lttng_snapshot_output_set_local_path)           \
	X(lttng_snapshot_output_destroy)                  \
	X(lttng_snapshot_record)

struct lttng_ctl {
#define LTTNG_CTL_MEMBER(name) __typeof__(name) *name;
	LTTNG_CTL_FUNCTIONS(LTTNG_CTL_MEMBER)
#undef LTTNG_CTL_MEMBER
};

/* Loads the library, once. Returns its functions, or NULL and in `why` what to install. */
const struct lttng_ctl *lttng_ctl(char *why, size_t size);

#endif
