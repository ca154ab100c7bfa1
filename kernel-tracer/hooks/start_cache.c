/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "hooks/start_cache.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "log.h"
#include "hooks/hook_choice.h"
#include "hooks/hook_objects.h"

#define FILE_MAX  (32u << 20) /* bytes */
#define FILES_MAX 8           /* one for each kernel and each set of layers, of late */

struct head {
	char magic[8];
	uint64_t key[2], check[2];
	struct types_hash types;
	uint64_t size;
};
static const char magic[8] = "magnet1";

/* ---- hashes, against mistakes and not against enemies ---- */

static void mix(uint64_t hash[2], const void *data, size_t size)
{
	const uint8_t *at = data;

	for (; size; at += size < 8 ? size : 8, size -= size < 8 ? size : 8) {
		uint64_t word = 0;

		memcpy(&word, at, size < 8 ? size : 8);
		hash[0] = (hash[0] ^ word) * 0x9e3779b97f4a7c15ull;
		hash[0] ^= hash[0] >> 32;
		hash[1] = (hash[1] + word) * 0xc2b2ae3d27d4eb4full;
		hash[1] ^= hash[1] >> 29;
	}
}

static void mix_text(uint64_t hash[2], const char *text)
{
	mix(hash, text, strlen(text) + 1);
}

int types_hash(struct types_hash *hash)
{
	int fd = open(VMLINUX_BTF, O_RDONLY | O_CLOEXEC), err = 0;
	static uint8_t page[4096];
	struct stat st;
	void *all;
	ssize_t n;

	memset(hash, 0, sizeof(*hash));
	if (fd < 0 || fstat(fd, &st) != 0) {
		err = -errno;
	} else if ((all = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) !=
		   MAP_FAILED) { /* since Linux 6.16 */
		mix(hash->half, all, (size_t)st.st_size);
		munmap(all, (size_t)st.st_size);
	} else { /* the kernel gives a page at a time */
		while ((n = read(fd, page, sizeof(page))) > 0)
			mix(hash->half, page, (size_t)n);
		err = n < 0 ? -errno : 0;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* Modules have types too. Their order in the directory says nothing. */
static void mix_modules(uint64_t hash[2])
{
	DIR *d = opendir("/sys/kernel/btf");
	uint64_t sum[2] = {0};
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		uint64_t one[2] = {0};

		if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, 0) != 0)
			continue;
		mix_text(one, e->d_name);
		mix(one, &st.st_size, sizeof(st.st_size));
		sum[0] += one[0];
		sum[1] += one[1];
	}
	if (d)
		closedir(d);
	mix(hash, sum, sizeof(sum));
}

/* Whatever replaces a program changes the time of its inode. Returns false without it. */
static bool mix_program(uint64_t hash[2])
{
	struct stat st;

	if (stat("/proc/self/exe", &st) != 0)
		return false;
	mix(hash, &st.st_dev, sizeof(st.st_dev));
	mix(hash, &st.st_ino, sizeof(st.st_ino));
	mix(hash, &st.st_size, sizeof(st.st_size));
	mix(hash, &st.st_ctim, sizeof(st.st_ctim));
	return true;
}

static bool make_key(uint64_t key[2], const struct hook_options *o, bool sees_modules)
{
	const uint32_t options[] = {o->layers, o->without, o->fresh, sees_modules,
		o->settings.active, o->settings.protocols};
	struct utsname u;

	key[0] = key[1] = 0;
	uname(&u);
	mix_text(key, u.release);
	mix_text(key, u.version);
	mix_text(key, u.machine);
	mix_text(key, libbpf_version_string());
	mix(key, options, sizeof(options));
	mix_modules(key);
	return mix_program(key);
}

/* ---- files ---- */

/* Returns whether only root can read or change it. */
static bool is_roots(int fd, mode_t kind, struct stat *st)
{
	return fstat(fd, st) == 0 && (st->st_mode & S_IFMT) == kind && st->st_uid == 0 &&
	       !(st->st_mode & 077);
}

void start_cache_open(struct start_cache *cache, const struct hook_options *o, bool sees_modules)
{
	const char *dir = secure_getenv("MAGNET_CACHE");
	struct stat st;

	memset(cache, 0, sizeof(*cache));
	cache->dir = -1;
	dir = dir ? dir : START_CACHE_DIR;
	if (geteuid() != 0 || !dir[0] || !make_key(cache->key, o, sees_modules))
		return;
	snprintf(cache->name, sizeof(cache->name), "%016llx%016llx",
		(unsigned long long)cache->key[0], (unsigned long long)cache->key[1]);
	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		mg_debug("%s: %s", dir, strerror(errno));
	cache->dir = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (cache->dir < 0 || is_roots(cache->dir, S_IFDIR, &st))
		return;
	mg_debug("%s is not used: others than root can enter it", dir);
	start_cache_close(cache);
}

void start_cache_close(struct start_cache *cache)
{
	if (cache->dir >= 0)
		close(cache->dir);
	cache->dir = -1;
}

static bool read_all(int fd, uint8_t *data, size_t size)
{
	ssize_t n;

	for (; size; data += n, size -= (size_t)n) {
		n = read(fd, data, size);
		if (n <= 0)
			return false;
	}
	return true;
}

static bool is_whole(const struct start_cache *cache, const struct head *head, size_t size)
{
	uint64_t check[2] = {0};

	if (size < sizeof(*head) || memcmp(head->magic, magic, sizeof(magic)) != 0 ||
		memcmp(head->key, cache->key, sizeof(head->key)) != 0 ||
		head->size != size - sizeof(*head))
		return false;
	mix(check, &head->types, sizeof(head->types));
	mix(check, head + 1, head->size);
	return memcmp(check, head->check, sizeof(check)) == 0;
}

int start_cache_read(
	const struct start_cache *cache, struct program_images *images, struct types_hash *types)
{
	int fd = cache->dir < 0 ? -1
				: openat(cache->dir, cache->name,
					  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct head *head = NULL;
	struct stat st;

	if (fd < 0)
		return -ENOENT;
	if (is_roots(fd, S_IFREG, &st) && st.st_size > 0 && st.st_size <= FILE_MAX)
		head = malloc((size_t)st.st_size);
	if (head && read_all(fd, (uint8_t *)head, (size_t)st.st_size) &&
		is_whole(cache, head, (size_t)st.st_size)) {
		close(fd);
		*types = head->types;
		return program_images_read(images, head, (uint8_t *)(head + 1), head->size);
	}
	free(head);
	close(fd);
	return -EINVAL;
}

/* Removes the oldest files beyond the most that are kept. */
static void tidy(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), count;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	do {
		char oldest[sizeof(((struct dirent *)0)->d_name)] = "";
		struct timespec least = {0};
		struct dirent *e;
		struct stat st;

		count = 0;
		while (d && (e = readdir(d))) {
			if (fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
				!S_ISREG(st.st_mode))
				continue;
			count++;
			if (oldest[0] && (st.st_mtim.tv_sec > least.tv_sec ||
						 (st.st_mtim.tv_sec == least.tv_sec &&
							 st.st_mtim.tv_nsec >= least.tv_nsec)))
				continue;
			least = st.st_mtim;
			memcpy(oldest, e->d_name, sizeof(oldest));
		}
		if (count > FILES_MAX && unlinkat(dir, oldest, 0) != 0)
			break;
		if (d)
			rewinddir(d);
	} while (count > FILES_MAX);
	if (d)
		closedir(d);
}

static bool write_all(int fd, const void *data, size_t size)
{
	for (const uint8_t *at = data; size;) {
		ssize_t n = write(fd, at, size);

		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

void start_cache_write(const struct start_cache *cache, const uint8_t *images, size_t size,
	const struct types_hash *types)
{
	struct head head = {.key = {cache->key[0], cache->key[1]}, .types = *types, .size = size};
	char temporary[64];
	bool ok;
	int fd;

	if (cache->dir < 0 || size > FILE_MAX - sizeof(head))
		return;
	memcpy(head.magic, magic, sizeof(magic));
	mix(head.check, &head.types, sizeof(head.types));
	mix(head.check, images, size);
	snprintf(temporary, sizeof(temporary), "%s.%d", cache->name, (int)getpid());
	fd = openat(cache->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ok = fd >= 0 && write_all(fd, &head, sizeof(head)) && write_all(fd, images, size);
	if (fd >= 0)
		ok &= close(fd) == 0;
	if (!ok || renameat(cache->dir, temporary, cache->dir, cache->name) != 0) {
		mg_debug("the programs are not kept for the next start: %s", strerror(errno));
		unlinkat(cache->dir, temporary, 0);
	}
	tidy(cache->dir);
}

void start_cache_remove(const struct start_cache *cache)
{
	if (cache->dir >= 0)
		unlinkat(cache->dir, cache->name, 0);
}
