/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "session_helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <lttng/lttng.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu_time.h"

#define SESSION "magnet"
#define CHANNEL "magnet"

static int control;

/* What went wrong, for the parent; the helper's exit status. */
static int failed(const char *what, const char *why)
{
	dprintf(control, "%s: %s\n", what, why);
	return 1;
}

static void pause_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/*
 * As root a session daemon always uses /run/lttng, where the machine's own may live. A private
 * mount there keeps them apart. Programs reach ours by its application socket, in `home`.
 */
static int private_run_directory(void)
{
	if (unshare(CLONE_NEWNS) != 0)
		return -errno;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return -errno;
	if (mkdir("/run/lttng", 0755) != 0 && errno != EEXIST)
		return -errno;
	return mount("tmpfs", "/run/lttng", "tmpfs", 0, "size=16m,mode=0755") == 0 ? 0 : -errno;
}

static pid_t start_daemon(const char *apps_socket)
{
	char option[160];
	pid_t me = getpid(), daemon = fork();
	sigset_t none;
	int null;

	if (daemon != 0)
		return daemon;
	/* whatever ends the helper ends the daemon, and with it its consumers */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != me)
		_exit(1);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	if (!getenv("MAGNET_DEBUG"))
		dup2(null, 2);
	snprintf(option, sizeof(option), "--apps-sock=%s", apps_socket);
	execlp("lttng-sessiond", "lttng-sessiond", "--no-kernel", "--sig-parent", option,
		(char *)NULL);
	_exit(127);
}

/* The daemon signals its parent when it takes commands. */
static bool wait_for_daemon(pid_t daemon)
{
	struct timespec limit = {10, 0};
	sigset_t set;
	int signal_number;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	signal_number = sigtimedwait(&set, NULL, &limit);
	if (signal_number == SIGCHLD)
		waitpid(daemon, NULL, WNOHANG);
	return signal_number == SIGUSR1;
}

static uint64_t power_of_two_at_most(uint64_t n)
{
	uint64_t p = 4096;

	while (p * 2 <= n)
		p *= 2;
	return p;
}

/*
 * One channel a user: buffers a process would cost every start 180 ms. Events that find no room
 * are discarded and counted; nothing is overwritten.
 */
static int start_session(const char *output, uint64_t buffer_bytes)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_session_descriptor *d = lttng_session_descriptor_local_create(SESSION, output);
	struct lttng_channel *channel = lttng_channel_create(&domain);
	struct lttng_event *event = lttng_event_create();
	struct lttng_handle *handle;
	int ret = -LTTNG_ERR_NOMEM;

	if (!d || !channel || !event)
		return ret;
	ret = lttng_create_session_ext(d);
	if (ret != LTTNG_OK)
		return -ret;
	handle = lttng_create_handle(SESSION, &domain);
	if (!handle)
		return -LTTNG_ERR_NOMEM;
	snprintf(channel->name, sizeof(channel->name), "%s", CHANNEL);
	channel->attr.overwrite = 0;
	channel->attr.num_subbuf = 8;
	channel->attr.subbuf_size =
		power_of_two_at_most((buffer_bytes ? buffer_bytes : 8u << 20) / 8);
	channel->attr.switch_timer_interval = 0;
	channel->attr.read_timer_interval = 0;
	channel->attr.output = LTTNG_EVENT_MMAP;
	ret = lttng_enable_channel(handle, channel);
	if (ret < 0)
		goto out;
	event->type = LTTNG_EVENT_TRACEPOINT;
	snprintf(event->name, sizeof(event->name), "magnet:*");
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	ret = lttng_enable_event_with_exclusions(handle, event, CHANNEL, NULL, 0, NULL);
	if (ret < 0)
		goto out;
	ret = lttng_start_tracing(SESSION);
out:
	lttng_destroy_handle(handle);
	lttng_channel_destroy(channel);
	lttng_event_destroy(event);
	lttng_session_descriptor_destroy(d);
	return ret < 0 ? ret : 0;
}

static uint64_t count_discarded(void)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_handle *handle = lttng_create_handle(SESSION, &domain);
	struct lttng_channel *channels = NULL;
	uint64_t sum = 0;
	int n = handle ? lttng_list_channels(handle, &channels) : 0;

	for (int i = 0; i < n; i++) {
		uint64_t count = 0;

		if (lttng_channel_get_discarded_event_count(&channels[i], &count) == 0)
			sum += count;
	}
	free(channels);
	if (handle)
		lttng_destroy_handle(handle);
	return sum;
}

/* Never by the waiting calls: they hang for good if a program died in the middle of an event. */
static bool stop_session(uint64_t *discarded)
{
	bool pending = true;

	lttng_stop_tracing_no_wait(SESSION);
	for (int i = 0; i < 1000 && pending; i++) {
		pending = lttng_data_pending(SESSION) != 0;
		if (pending)
			pause_ms(5);
	}
	*discarded = count_discarded();
	lttng_destroy_session_no_wait(SESSION);
	return !pending;
}

/*
 * Once its data is written out the daemon has nothing left to do but an orderly end, which takes it
 * more than half a second: it is ended at once, with the consumers in its process group.
 */
static void end_daemon(pid_t daemon)
{
	kill(-daemon, SIGKILL);
	kill(daemon, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* CPU time of the daemon and its consumers so far, ns. */
static uint64_t daemon_cpu_ns(pid_t daemon)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	uint64_t sum = 0;

	while (proc && (e = readdir(proc))) {
		pid_t pid = (pid_t)atoi(e->d_name);

		if (pid > 0 && getpgid(pid) == daemon)
			sum += process_cpu_ns(pid);
	}
	if (proc)
		closedir(proc);
	return sum;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

void session_remove_home(const char *home)
{
	nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Until the parent says something, or is gone. */
static void wait_for_stop(void)
{
	char c;

	while (read(control, &c, 1) < 0 && errno == EINTR)
		;
}

static int record(pid_t daemon, const char *output, uint64_t buffer_bytes)
{
	uint64_t discarded;
	uint64_t cpu;
	bool complete;
	int ret;

	dprintf(control, "daemon %d\n", (int)daemon);
	if (!wait_for_daemon(daemon))
		return failed("lttng-sessiond", "it does not start (is lttng-tools installed?)");
	ret = start_session(output, buffer_bytes);
	if (ret < 0)
		return failed("LTTng session", lttng_strerror(ret));
	cpu = daemon_cpu_ns(daemon);
	dprintf(control, "ready\n");
	wait_for_stop();
	complete = stop_session(&discarded);
	cpu = daemon_cpu_ns(daemon) - cpu;
	end_daemon(daemon);
	dprintf(control, "stopped %llu %llu %d\n", (unsigned long long)discarded,
		(unsigned long long)cpu, complete);
	return 0;
}

int session_helper(int fd, const char *home, const char *output, uint64_t buffer_bytes)
{
	char lttng_dir[80], apps_socket[100];
	sigset_t set;
	pid_t daemon;
	int ret;

	control = fd;
	setsid();                         /* Ctrl-C is for the program */
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* the daemon's children too must be gone at the end */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);

	snprintf(lttng_dir, sizeof(lttng_dir), "%s/.lttng", home);
	snprintf(apps_socket, sizeof(apps_socket), "%s/lttng-ust-sock-8", lttng_dir);
	/* passable for programs that give up their privileges */
	if (chmod(home, 0711) != 0 || mkdir(lttng_dir, 0711) != 0 || chmod(lttng_dir, 0711) != 0)
		return failed(lttng_dir, strerror(errno));
	setenv("LTTNG_HOME", home, 1);
	if (geteuid() == 0) {
		ret = private_run_directory();
		if (ret < 0 && lttng_session_daemon_alive() == 1) {
			session_remove_home(home);
			return failed("cannot keep apart from the session daemon that runs here",
				strerror(-ret));
		}
	}
	daemon = start_daemon(apps_socket);
	if (daemon < 0) {
		ret = failed("fork", strerror(errno));
	} else {
		ret = record(daemon, output, buffer_bytes);
		if (ret)
			end_daemon(daemon);
	}
	session_remove_home(home);
	return ret;
}
