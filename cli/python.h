/* SPDX-License-Identifier: MIT */
/* Runs modules of the Python package magnet, beside the source tree or installed. */
#ifndef MAGNET_CLI_PYTHON_H
#define MAGNET_CLI_PYTHON_H

/*
 * Runs `magnet.MODULE` with these arguments, of which the last is NULL, by $MAGNET_PYTHON or
 * python3, and waits for it. Returns its exit status; EXIT_FAILED after a message if it could not
 * be run. A library that it lacks is named in one line.
 */
int python_run(const char *module, const char *const args[]);

#endif
