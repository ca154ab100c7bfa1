/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "log.h"
#include "paths.h"

#define ARGUMENTS 64

/* Runs the module that its first argument names, as python3 -m does. */
static const char runner[] =
	"import importlib.util, runpy, sys\n"
	"module = sys.argv.pop(1)\n"
	"needs = {'magnet.export_perfetto': ['numpy', 'perfetto'],\n"
	"         'magnet.export_parquet': ['numpy', 'pyarrow']}.get(module, [])\n"
	"none = [n for n in needs if not importlib.util.find_spec(n)]\n"
	"if len(none) > 1:\n"
	"    sys.exit(f'magnet: {sys.executable} has no modules {\" and \".join(none)}: install "
	"them '\n"
	"             f'(pip install {\" \".join(none)}), or name another interpreter by "
	"MAGNET_PYTHON')\n"
	"try:\n"
	"    runpy.run_module(module, run_name='__main__', alter_sys=True)\n"
	"except ModuleNotFoundError as e:\n"
	"    name = (e.name or str(e)).split('.')[0]\n"
	"    if name == 'magnet':\n"
	"        sys.exit('magnet: the Python package magnet is not installed for '\n"
	"                 f'{sys.executable}, or has no {e.name}: pip install python/ of the "
	"source tree')\n"
	"    sys.exit(f'magnet: {sys.executable} has no module {name}: install it (pip install "
	"{name}), '\n"
	"             'or name another interpreter by MAGNET_PYTHON')\n"
	"except KeyboardInterrupt:\n"
	"    sys.exit(130)\n";

/* Has Python find the package of the source tree that magnet was built in. */
static void add_source_tree(void)
{
	char path[PATH_MAX], *search = NULL;
	const char *given = getenv("PYTHONPATH");

	if (!find_part(path, "../python", MAGNET_LIBDIR, "magnet/__init__.py"))
		return;
	*strrchr(path, '/') = 0;
	*strrchr(path, '/') = 0;
	if (asprintf(&search, "%s%s%s", path, given ? ":" : "", given ? given : "") < 0)
		return;
	setenv("PYTHONPATH", search, 1);
	free(search);
}

int python_run(const char *module, const char *const args[])
{
	const char *interpreter = getenv("MAGNET_PYTHON"), *argv[ARGUMENTS];
	char name[64];
	int n = 0, status;
	pid_t child;

	if (!interpreter || !*interpreter)
		interpreter = "python3";
	snprintf(name, sizeof(name), "magnet.%.50s", module);
	argv[n++] = interpreter;
	argv[n++] = "-c";
	argv[n++] = runner;
	argv[n++] = name;
	for (int i = 0; args[i] && n < ARGUMENTS - 1; i++)
		argv[n++] = args[i];
	argv[n] = NULL;
	fflush(NULL);
	child = fork();
	if (child < 0) {
		mg_error("cannot run %s: %s", interpreter, strerror(errno));
		return EXIT_FAILED;
	}
	if (child == 0) {
		add_source_tree();
		execvp(interpreter, (char *const *)argv);
		mg_error("cannot run %s: %s; name a Python interpreter by MAGNET_PYTHON",
			interpreter, strerror(errno));
		_exit(EXIT_FAILED);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}
