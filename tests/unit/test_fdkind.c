/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "event_table.h"
#include "fdkind.h"
#include "guard.h"
#include "raw.h"
#include "self.h"
#include "unit.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static int setup(void **unused)
{
	(void)unused;
	memset(mg_fd_table, MG_KIND_unknown, sizeof(mg_fd_table));
	return 0;
}

static void assert_classified(int fd, int kind)
{
	assert_true(fd >= 0);
	fd_set_kind(fd, MG_KIND_unknown);
	assert_int_equal(mg_fd_classify(fd), kind);
	assert_int_equal(fd_peek(fd), kind); /* and remembered */
	assert_int_equal(fd_kind(fd), kind);
	close(fd);
}

static void internet_sockets_are_told_by_protocol(void **unused)
{
	(void)unused;
	assert_classified(socket(AF_INET, SOCK_STREAM, 0), MG_KIND_tcp);
	assert_classified(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP), MG_KIND_tcp);
	assert_classified(socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), MG_KIND_udp);
	assert_classified(socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP), MG_KIND_udp);
}

static void local_sockets_are_told_by_type(void **unused)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	static const int kinds[] = {
		MG_KIND_unix_stream, MG_KIND_unix_dgram, MG_KIND_unix_seqpacket};

	(void)unused;
	for (size_t i = 0; i < COUNT(types); i++) {
		int pair[2];

		assert_int_equal(socketpair(AF_UNIX, types[i], 0, pair), 0);
		assert_classified(pair[0], kinds[i]);
		assert_classified(pair[1], kinds[i]);
	}
	assert_classified(socket(AF_NETLINK, SOCK_RAW, 0), MG_KIND_netlink);
}

static void files_and_pipes_are_not_traced(void **unused)
{
	int ends[2];

	(void)unused;
	assert_int_equal(pipe(ends), 0);
	assert_classified(ends[0], MG_KIND_other);
	assert_classified(ends[1], MG_KIND_other);
	assert_classified(open("/dev/null", O_RDWR), MG_KIND_other);
	assert_classified(open("/", O_RDONLY), MG_KIND_other);
	assert_false(MG_KIND_TRACED(MG_KIND_other));
	assert_true(MG_KIND_TRACED(MG_KIND_tcp));
}

static void numbers_without_a_descriptor_are_not_remembered(void **unused)
{
	int fd = dup(0);

	(void)unused;
	close(fd);
	assert_int_equal(fd_kind(fd), MG_KIND_other);
	assert_int_equal(fd_peek(fd), MG_KIND_unknown);
	assert_int_equal(fd_kind(-1), MG_KIND_other);
	assert_int_equal(fd_peek(-1), MG_KIND_unknown);
}

static void errno_stays_as_the_program_left_it(void **unused)
{
	int fd = open("/dev/null", O_RDONLY);

	(void)unused;
	errno = EXDEV;
	fd_kind(-1);
	fd_kind(fd);
	fd_ending(fd);
	fd_ending_range(0, 5);
	assert_int_equal(errno, EXDEV);
	close(fd);
}

static void a_kind_that_is_known_is_not_asked_for(void **unused)
{
	(void)unused;
	fd_set_kind(40000, MG_KIND_udp); /* no such descriptor */
	assert_int_equal(fd_kind(40000), MG_KIND_udp);
}

static void descriptors_beyond_the_table_are_asked_for_each_time(void **unused)
{
	(void)unused;
	fd_set_kind(FD_TABLE, MG_KIND_tcp);
	fd_set_kind(-5, MG_KIND_tcp);
	assert_int_equal(fd_peek(FD_TABLE), MG_KIND_unknown);
	assert_int_equal(fd_kind(FD_TABLE), MG_KIND_other);
	assert_int_equal(fd_ending(FD_TABLE), MG_KIND_unknown);
	assert_int_equal(fd_ending(-1), MG_KIND_unknown);
}

static void a_descriptor_that_ends_is_forgotten(void **unused)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), again;

	(void)unused;
	assert_int_equal(fd_kind(fd), MG_KIND_tcp);
	assert_int_equal(fd_ending(fd), MG_KIND_tcp);
	assert_int_equal(fd_peek(fd), MG_KIND_unknown);
	close(fd);
	again = open("/dev/null", O_RDONLY); /* which gets the same number */
	assert_int_equal(again, fd);
	assert_int_equal(fd_kind(again), MG_KIND_other);
	close(again);
}

static void assert_range(int from, int to, int kind)
{
	for (int fd = from; fd < to; fd++)
		if (fd_peek(fd) != kind)
			fail_msg("%d is %d, not %d", fd, fd_peek(fd), kind);
}

static void a_range_ends_together(void **unused)
{
	(void)unused;
	memset(mg_fd_table, MG_KIND_tcp, sizeof(mg_fd_table));
	fd_ending_range(100, 199);
	assert_range(0, 100, MG_KIND_tcp);
	assert_range(100, 200, MG_KIND_unknown);
	assert_range(200, FD_TABLE, MG_KIND_tcp);
	fd_ending_range(300, 300);
	assert_range(299, 300, MG_KIND_tcp);
	assert_range(300, 301, MG_KIND_unknown);
	fd_ending_range(500, 400); /* an inverted range is empty */
	assert_range(301, FD_TABLE, MG_KIND_tcp);
}

/* close_range(3, ~0U, 0) is how programs close everything. */
static void a_range_may_reach_beyond_the_table(void **unused)
{
	(void)unused;
	memset(mg_fd_table, MG_KIND_tcp, sizeof(mg_fd_table));
	fd_ending_range(FD_TABLE, ~0u);
	fd_ending_range(FD_TABLE + 7, FD_TABLE + 8);
	assert_range(0, FD_TABLE, MG_KIND_tcp);
	fd_ending_range(3, ~0u);
	assert_range(0, 3, MG_KIND_tcp);
	assert_range(3, FD_TABLE, MG_KIND_unknown);
}

/* Sends two descriptors over a socket; the received ones are in `got`. */
static void pass(int over[2], const int sent[2], int got[2])
{
	char byte = 'x', control[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(c), sent, 2 * sizeof(int));
	assert_int_equal(sendmsg(over[0], &m, 0), 1);
	memset(control, 0, sizeof(control));
	m.msg_controllen = sizeof(control);
	assert_int_equal(recvmsg(over[1], &m, 0), 1);
	memcpy(got, CMSG_DATA(CMSG_FIRSTHDR(&m)), 2 * sizeof(int));
	/* kinds that the numbers had before */
	fd_set_kind(got[0], MG_KIND_other);
	fd_set_kind(got[1], MG_KIND_other);
	fd_received(&m, NULL);
}

static void received_descriptors_are_what_was_sent(void **unused)
{
	int over[2], sent[2], got[2];

	(void)unused;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, over), 0);
	sent[0] = socket(AF_INET, SOCK_STREAM, 0);
	sent[1] = socket(AF_INET, SOCK_DGRAM, 0);
	pass(over, sent, got);
	assert_int_equal(fd_peek(got[0]), MG_KIND_unknown);
	assert_int_equal(fd_peek(got[1]), MG_KIND_unknown);
	assert_int_equal(fd_kind(got[0]), MG_KIND_tcp);
	assert_int_equal(fd_kind(got[1]), MG_KIND_udp);
	for (int i = 0; i < 2; i++) {
		close(over[i]);
		close(sent[i]);
		close(got[i]);
	}
}

static void messages_without_descriptors_change_nothing(void **unused)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr m = {.msg_control = control};
	struct cmsghdr *c;
	int fd = 50;

	(void)unused;
	fd_set_kind(fd, MG_KIND_tcp);
	fd_received(&m, NULL);
	m.msg_controllen = sizeof(control);
	c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = IPPROTO_IP; /* an int, but of another control message */
	c->cmsg_type = IP_TOS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	fd_received(&m, NULL);
	assert_int_equal(fd_peek(fd), MG_KIND_tcp);
}

static void a_pair_is_known_without_asking(void **unused)
{
	const int fds[2] = {60, 61};

	(void)unused;
	fd_set_pair(fds, MG_KIND_unix_stream);
	assert_int_equal(fd_peek(60), MG_KIND_unix_stream);
	assert_int_equal(fd_peek(61), MG_KIND_unix_stream);
}

/* The kind asked of socket() and the one the kernel reports must be the same. */
static void the_kind_asked_for_is_the_kind_that_comes(void **unused)
{
	static const int domains[] = {AF_INET, AF_INET6, AF_UNIX, AF_NETLINK, AF_PACKET, AF_VSOCK};
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW};
	static const int protocols[] = {0, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_MPTCP};

	(void)unused;
	for (size_t d = 0; d < COUNT(domains); d++)
		for (size_t t = 0; t < COUNT(types); t++)
			for (size_t p = 0; p < COUNT(protocols); p++) {
				int fd = socket(domains[d], types[t], protocols[p]);
				int asked = socket_kind(
					domains[d], types[t] | SOCK_CLOEXEC, protocols[p], NULL);

				if (fd < 0) /* not available here, or not permitted */
					continue;
				if (mg_fd_classify(fd) != asked)
					fail_msg("socket(%d, %d, %d) is not %s", domains[d],
						types[t], protocols[p],
						mg_kind_name((unsigned int)asked));
				fd_ending(fd);
				close(fd);
			}
}

/* stubs of the rest of libmagnet.so */
static bool ended_meanwhile;
int mg_socket_option(int fd, int option)
{
	int value;
	socklen_t len = sizeof(value);

	if (ended_meanwhile)
		close(fd);
	return getsockopt(fd, SOL_SOCKET, option, &value, &len) ? -errno : value;
}

static void a_socket_that_ends_while_it_is_asked_for_is_not_remembered(void **unused)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), kind;

	(void)unused;
	fd_set_kind(fd, MG_KIND_unknown);
	ended_meanwhile = true;
	kind = mg_fd_classify(fd);
	ended_meanwhile = false;
	assert_int_equal(kind, MG_KIND_other);
	assert_int_equal(fd_peek(fd), MG_KIND_unknown);
}

/* Must be the last test: adopted descriptors stay. */
long mg_system_call(long nr, long a, long b, long c)
{
	return syscall(nr, a, b, c);
}

void *mg_real_vfork(void)
{
	return NULL;
}

mg_clone_fn mg_real_clone(void)
{
	return NULL;
}

static void sockets_lttng_makes_are_not_the_programs(void **unused)
{
	void *library = dlopen("liblttng-ust-common.so.1", RTLD_NOW), *theirs;

	(void)unused;
	if (!library)
		skip();
	theirs = dlsym(library, "lttng_ust_safe_close_fd");
	assert_non_null(theirs);
	assert_int_equal(socket_kind(AF_INET, SOCK_STREAM, 0, theirs), MG_KIND_other);
	assert_int_equal(socket_kind(AF_INET, SOCK_STREAM, 0, (void *)mg_real_vfork), MG_KIND_tcp);
	assert_int_equal(socket_kind(AF_INET, SOCK_STREAM, 0, NULL), MG_KIND_tcp);
}

static void a_copy_is_what_it_was_copied_from(void **unused)
{
	int fds[2], copy;

	(void)unused;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	fd_set_kind(fds[0], MG_KIND_unix_stream);
	copy = dup2(fds[0], fds[1]);
	fd_set_kind(copy, MG_KIND_tcp); /* of the number's previous owner */
	fd_copied(fds[0], copy);
	assert_int_equal(fd_peek(copy), MG_KIND_unix_stream);
	fd_copied(fds[0], -1); /* the copy failed */
	close(fds[0]);
	close(copy);
}

static void the_program_cannot_close_what_is_lttngs(void **unused)
{
	static const char program[1];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), its, low = fd;

	(void)unused;
	its = guard_adopt(fd);
	assert_true(its > low);
	assert_int_equal(fcntl(low, F_GETFD), -1); /* it has moved */
	assert_int_equal(fd_kind(its), MG_KIND_other);
	assert_int_equal(guard_close(its, program), -1);
	assert_int_equal(guard_close(its + 1, program), its + 1);
	fd = fcntl(STDIN_FILENO, F_DUPFD, its + 1);
	assert_int_equal(guard_close_range((unsigned int)its, (unsigned int)its, 0), 0);
	assert_int_equal(guard_close_range((unsigned int)its - 1, ~0u, 0), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_true(fcntl(its, F_GETFD) >= 0);
	assert_int_equal(guard_close_range(5, 4, 0), -1);
	assert_int_equal(errno, EINVAL);
	guard_forget(its); /* the program's now */
	assert_int_equal(guard_close(its, program), its);
	close(its);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		TEST(internet_sockets_are_told_by_protocol),
		TEST(local_sockets_are_told_by_type),
		TEST(files_and_pipes_are_not_traced),
		TEST(numbers_without_a_descriptor_are_not_remembered),
		TEST(errno_stays_as_the_program_left_it),
		TEST(a_kind_that_is_known_is_not_asked_for),
		TEST(descriptors_beyond_the_table_are_asked_for_each_time),
		TEST(a_descriptor_that_ends_is_forgotten),
		TEST(a_range_ends_together),
		TEST(a_range_may_reach_beyond_the_table),
		TEST(received_descriptors_are_what_was_sent),
		TEST(messages_without_descriptors_change_nothing),
		TEST(a_pair_is_known_without_asking),
		TEST(the_kind_asked_for_is_the_kind_that_comes),
		TEST(a_copy_is_what_it_was_copied_from),
		TEST(a_socket_that_ends_while_it_is_asked_for_is_not_remembered),
		TEST(sockets_lttng_makes_are_not_the_programs),
		TEST(the_program_cannot_close_what_is_lttngs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
