/* SPDX-License-Identifier: MIT */
/* The client of the control socket: `magnet-kernel-tracer ctl ...`. */
#ifndef MAGNET_KERNEL_TRACER_CONTROL_CTL_H
#define MAGNET_KERNEL_TRACER_CONTROL_CTL_H

/* Runs the command. Returns the exit status. */
int ctl_main(int argc, char **argv);

#endif
