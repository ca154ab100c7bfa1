/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "top_recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "commands.h"
#include "log.h"
#include "record_dir.h"

#define GRACE_NS   3000000000ull /* between asking COMMAND to end and leaving it */
#define PREFIX     "magnet-top-"
#define SHOWN_MAX  (64 * 1024) /* bytes of COMMAND's output that are printed at the end */
#define TREE_DEPTH 3           /* base/recording/app/file */
#define SIZE_MIN   (16u << 20)

/* ---- the temporary directory ---- */

static const char *temporary_place(void)
{
	const char *place = getenv("TMPDIR");

	return place && place[0] == '/' ? place : "/tmp";
}

/* Removes what a magnet top has left that was killed: the directory's name has its number. */
static void remove_left(const char *place)
{
	DIR *d = opendir(place);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char path[PATH_MAX];
		struct stat st;
		long pid;

		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		pid = strtol(e->d_name + strlen(PREFIX), NULL, 10);
		snprintf(path, sizeof(path), "%.3800s/%.255s", place, e->d_name);
		if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
			lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid())
			record_dir_remove_tree(path, TREE_DEPTH);
	}
	if (d)
		closedir(d);
}

static int make_base(struct top_recorder *r)
{
	const char *place = temporary_place();

	remove_left(place);
	snprintf(r->base, sizeof(r->base), "%.3800s/" PREFIX "%d-XXXXXX", place, (int)getpid());
	if (mkdtemp(r->base))
		return 0;
	mg_error("cannot make a temporary directory in %s: %s (TMPDIR names another)", place,
		strerror(errno));
	r->base[0] = 0;
	return -1;
}

/* Returns half of what is free where the recording will be. */
static uint64_t half_of_free(const char *place)
{
	struct statvfs s;
	uint64_t half;

	if (statvfs(place, &s) != 0)
		return SIZE_MIN;
	half = (uint64_t)s.f_bavail * s.f_frsize / 2;
	return half > SIZE_MIN ? half : SIZE_MIN;
}

/* ---- starting ---- */

static void output_path(const struct top_recorder *r, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.4000s/output", r->base);
}

/* Runs in the child: becomes `magnet record`, away from the terminal. */
static void become_recorder(
	const struct top_recorder *r, const struct top_recorder_options *o, pid_t parent)
{
	char path[PATH_MAX], size[32];
	/* with samples of TCP's state, for the round trip */
	const char *argv[16] = {"magnet", "record", "--quiet", "--level", "light", "-o", r->dir};
	size_t n = 7, words = 0;
	const char **all;
	int nothing = open("/dev/null", O_RDWR), out;
	sigset_t none;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	output_path(r, path);
	out = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(nothing, STDIN_FILENO);
	dup2(o->output_to_stderr ? STDERR_FILENO : out, STDOUT_FILENO);
	if (!o->output_to_stderr)
		dup2(out, STDERR_FILENO);
	close(nothing);
	close(out);
	if (!o->output) {
		snprintf(size, sizeof(size), "%llu",
			(unsigned long long)(o->max_size ? o->max_size : half_of_free(r->base)));
		argv[n++] = "--max-size";
		argv[n++] = size;
	}
	if (o->layers) {
		argv[n++] = "--layers";
		argv[n++] = o->layers;
	}
	if (o->pid) {
		argv[n++] = "--pid";
		argv[n++] = o->pid;
	} else if (!o->command) {
		argv[n++] = "--all";
	}
	for (; o->command && o->command[words]; words++)
		;
	all = calloc(n + words + 2, sizeof(*all));
	if (!all)
		_exit(EXIT_FAILED);
	memcpy(all, argv, n * sizeof(*all));
	if (o->command) {
		all[n++] = "--";
		memcpy(all + n, o->command, words * sizeof(*all));
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv("/proc/self/exe", (char **)all);
	_exit(127);
}

int top_recorder_start(struct top_recorder *r, const struct top_recorder_options *o)
{
	pid_t parent = getpid();

	*r = (struct top_recorder){.is_kept = o->output, .runs_command = o->command};
	if (make_base(r))
		return -1;
	if (o->output)
		snprintf(r->dir, sizeof(r->dir), "%.4000s", o->output);
	else
		snprintf(r->dir, sizeof(r->dir), "%.4000s/recording", r->base);
	r->pid = fork();
	if (r->pid == 0)
		become_recorder(r, o, parent);
	if (r->pid > 0)
		return 0;
	mg_error("cannot start a process: %s", strerror(errno));
	r->pid = 0;
	record_dir_remove_tree(r->base, TREE_DEPTH);
	return -1;
}

/* ---- while it runs ---- */

void top_recorder_look(struct top_recorder *r)
{
	int status;

	if (r->pid <= 0 || waitpid(r->pid, &status, WNOHANG) != r->pid)
		return;
	r->was_killed = WIFSIGNALED(status);
	r->cannot_run =
		WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127);
	/* with COMMAND that may be its own status */
	r->has_failed = !r->runs_command && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILED;
	r->pid = 0;
}

void top_recorder_stop(struct top_recorder *r, uint64_t now_ns)
{
	if (r->pid <= 0 || (r->stop_at_ns && now_ns < r->stop_at_ns))
		return;
	kill(r->pid, SIGTERM);
	r->stop_at_ns = now_ns + GRACE_NS;
}

/* Adds the CPU time of a process if it is a recorder. Returns false if it cannot be read. */
static bool add_cpu(long pid, bool any, int64_t *ns)
{
	char path[64], line[1024];
	unsigned long user, system;
	const char *name, *behind;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, sizeof(line) - 1, f);
	line[n] = 0;
	fclose(f);
	name = strchr(line, '(');
	behind = strrchr(line, ')');
	if (!name || !behind ||
		sscanf(behind, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			&system) != 2)
		return false;
	if (any || strncmp(name, "(magnet", 7) == 0)
		*ns += (int64_t)((user + system) *
				 (1000000000ull / (unsigned long)sysconf(_SC_CLK_TCK)));
	return true;
}

/* The tracer and the collector are children of `magnet record`, as COMMAND is. */
int64_t top_recorder_cpu_ns(const struct top_recorder *r)
{
	char path[64];
	int64_t ns = 0;
	long child;
	FILE *f;

	if (r->pid <= 0 || !add_cpu(r->pid, true, &ns))
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)r->pid, (int)r->pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (fscanf(f, "%ld", &child) == 1)
		add_cpu(child, false, &ns);
	fclose(f);
	return ns;
}

/* ---- the end ---- */

/* Prints the end of what COMMAND and the recorder have printed. */
static void show_output(const struct top_recorder *r)
{
	char path[PATH_MAX], text[4096];
	FILE *f;
	long size;
	size_t n;

	output_path(r, path);
	f = fopen(path, "re");
	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	fseek(f, size > SHOWN_MAX ? size - SHOWN_MAX : 0, SEEK_SET);
	if (size > SHOWN_MAX)
		fprintf(stderr, "magnet: the last %d of %ld bytes that were printed:\n", SHOWN_MAX,
			size);
	while ((n = fread(text, 1, sizeof(text), f)) > 0)
		fwrite(text, 1, n, stderr);
	fclose(f);
}

/* Moves the recording; between file systems cp copies it. Returns whether it is there. */
static bool move(const char *from, const char *to)
{
	int status = -1;
	pid_t pid;

	if (rename(from, to) == 0)
		return true;
	if (errno != EXDEV)
		return false;
	pid = fork();
	if (pid == 0) {
		execlp("cp", "cp", "-a", "--", from, to, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	errno = EIO;
	return status == 0;
}

/* Saves the recording in the current directory. Returns whether nothing is lost by removing `base`.
 */
static bool save(const struct top_recorder *r)
{
	time_t now = time(NULL);
	char stamp[32], name[64];

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime(&now));
	snprintf(name, sizeof(name), PREFIX "%s", stamp);
	for (int i = 2; access(name, F_OK) == 0 && i < 1000; i++)
		snprintf(name, sizeof(name), PREFIX "%s-%d", stamp, i);
	if (move(r->dir, name)) {
		fprintf(stderr, "magnet: the recording is in %s\n", name);
		return true;
	}
	mg_error("cannot save the recording in %s: %s; it stays in %s", name, strerror(errno),
		r->dir);
	return false;
}

int top_recorder_finish(struct top_recorder *r)
{
	bool done = true;

	show_output(r);
	if (r->is_kept && access(r->dir, F_OK) == 0)
		fprintf(stderr, "magnet: the recording is in %s\n", r->dir);
	if (!r->is_kept && r->to_save && access(r->dir, F_OK) == 0)
		done = save(r);
	if (done && r->base[0])
		record_dir_remove_tree(r->base, TREE_DEPTH);
	return done ? EXIT_DONE : EXIT_FAILED;
}
