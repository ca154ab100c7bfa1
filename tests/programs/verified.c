/* SPDX-License-Identifier: MIT */
/*
 * verified OBJECT PROGRAM...: loads programs of a BPF object, each by itself, and attaches none.
 * Prints how many instructions the verifier walked for each; nothing for one that this kernel has
 * no tracepoint for. Exits with 1 if a program is refused.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* Has the loader take this program alone, and rings of one CPU. */
static struct bpf_program *choose(struct bpf_object *object, const char *name)
{
	struct bpf_map *rings = bpf_object__find_map_by_name(object, "rings");
	struct bpf_program *p;

	bpf_object__for_each_program (p, object)
		bpf_program__set_autoload(p, strcmp(bpf_program__name(p), name) == 0);
	if (rings)
		bpf_map__set_max_entries(rings, 1);
	return bpf_object__find_program_by_name(object, name);
}

/* Returns 0, or the error for which the program is not loaded. */
static int verify(const char *path, const char *name)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *p = object ? choose(object, name) : NULL;
	struct bpf_prog_info info = {0};
	__u32 size = sizeof(info);
	int err = p ? bpf_object__load(object) : -ENOENT;

	if (!err)
		err = bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size);
	if (!err)
		printf("%s %u\n", name, info.verified_insns);
	bpf_object__close(object);
	return err;
}

int main(int argc, char **argv)
{
	int failed = 0;

	libbpf_set_print(quiet);
	for (int i = 2; i < argc; i++) {
		int err = verify(argv[1], argv[i]);

		if (err && err != -ESRCH) { /* ESRCH: no such tracepoint */
			fprintf(stderr, "%s: %s\n", argv[i], strerror(-err));
			failed = 1;
		}
	}
	return failed;
}
