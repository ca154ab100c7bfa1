/* SPDX-License-Identifier: MIT */
/* Numbers of TCP that traces hold, and their names. */
#ifndef MAGNET_COMMON_TCP_NAMES_H
#define MAGNET_COMMON_TCP_NAMES_H

/* clang-format off */
/* C(n, name): congestion states, as the kernel numbers them */
#define MG_CA_STATES(C) \
	C(0, open) C(1, disorder) C(2, cwr) C(3, recovery) C(4, loss)

/* L(n, name): how much protocol state is recorded with each TCP event */
#define MG_LEVELS(L) \
	L(0, none) L(1, light) L(2, full)

/*
 * R(n, name, KERNEL): why a connection was reset. Kernels number enum sk_rst_reason differently, so
 * traces have numbers of their own.
 */
#define MG_RESETS(R) \
	R(1,  not_specified,        NOT_SPECIFIED) \
	R(2,  no_socket,            NO_SOCKET) \
	R(3,  invalid_ack_sequence, TCP_INVALID_ACK_SEQUENCE) \
	R(4,  rfc7323_paws,         TCP_RFC7323_PAWS) \
	R(5,  too_old_ack,          TCP_TOO_OLD_ACK) \
	R(6,  ack_unsent_data,      TCP_ACK_UNSENT_DATA) \
	R(7,  flags,                TCP_FLAGS) \
	R(8,  old_ack,              TCP_OLD_ACK) \
	R(9,  abort_on_data,        TCP_ABORT_ON_DATA) \
	R(10, timewait_socket,      TCP_TIMEWAIT_SOCKET) \
	R(11, invalid_syn,          INVALID_SYN) \
	R(12, abort_on_close,       TCP_ABORT_ON_CLOSE) \
	R(13, abort_on_linger,      TCP_ABORT_ON_LINGER) \
	R(14, abort_on_memory,      TCP_ABORT_ON_MEMORY) \
	R(15, state,                TCP_STATE) \
	R(16, keepalive_timeout,    TCP_KEEPALIVE_TIMEOUT) \
	R(17, disconnect_with_data, TCP_DISCONNECT_WITH_DATA) \
	R(18, mptcp_unspecified,    MPTCP_RST_EUNSPEC) \
	R(19, mptcp_refused,        MPTCP_RST_EMPTCP) \
	R(20, mptcp_resource,       MPTCP_RST_ERESOURCE) \
	R(21, mptcp_prohibited,     MPTCP_RST_EPROHIBIT) \
	R(22, mptcp_too_much_data,  MPTCP_RST_EWQ2BIG) \
	R(23, mptcp_performance,    MPTCP_RST_EBADPERF) \
	R(24, mptcp_middlebox,      MPTCP_RST_EMIDDLEBOX) \
	R(25, error,                ERROR)
/* clang-format on */

#define MG_LEVEL_ID(n, name)         MG_LEVEL_##name = n,
#define MG_RESET_ID(n, name, KERNEL) MG_RESET_##name = n,
enum mg_level { MG_LEVELS(MG_LEVEL_ID) MG_LEVEL_END };
/* 0 is for a reason the kernel did not tell, or that has no name here */
enum mg_reset { MG_RESET_unknown, MG_RESETS(MG_RESET_ID) MG_RESET_END };
#undef MG_LEVEL_ID
#undef MG_RESET_ID

/* never NULL; "?" for a number without a name */
const char *mg_level_name(unsigned int n);
const char *mg_ca_state_name(unsigned int n);
const char *mg_reset_name(unsigned int n);

#endif
