/* SPDX-License-Identifier: MIT */
/* The same contract for ATM cells: the generic cell rate algorithm (ITU-T I.371). */
#include <math.h>

#include "stats.h"

#define CELL_PAYLOAD 48
#define TRAILER      8 /* trailer of AAL5 */

double stat_cells(double packet_bytes)
{
	return ceil((packet_bytes + TRAILER) / CELL_PAYLOAD);
}

/*
 * Uses virtual scheduling: a cell at t is early by TAT - t, with TAT = max(t, TAT) + 1/rate. A
 * packet's cells follow each other at line rate, so at a lower rate each is earlier than the one
 * before and the last one counts. At a higher rate a cell is early only by what earlier packets
 * left over.
 */
double stat_gcra_tau(const struct stat_unit *u, size_t n, double line_cells_s, double rate_cells_s)
{
	double increment = 1e9 / rate_cells_s, cell = 1e9 / line_cells_s;
	double tat = -INFINITY, free_at = -INFINITY, tau = 0;

	for (size_t i = 0; i < n; i++) {
		double cells = stat_cells(u[i].bytes);
		double t = u[i].t_ns > free_at ? u[i].t_ns : free_at;
		double last = t + (cells - 1) * cell, early;

		tau = tat - t > tau ? tat - t : tau;
		if (increment >= cell) {
			tat = (tat > t ? tat : t) + cells * increment;
			early = tat - increment - last;
		} else {
			double fallen = tat + cells * increment;

			tat = fallen > last + increment ? fallen : last + increment;
			early = 0;
		}
		tau = early > tau ? early : tau;
		free_at = last + cell;
	}
	return tau;
}

double stat_gcra_mbs(double tau_ns, double scr_cells_s, double pcr_cells_s)
{
	double apart = 1e9 / scr_cells_s - 1e9 / pcr_cells_s, cells;

	if (!(apart > 0))
		return NAN;
	cells = tau_ns / apart;
	return 1 + ceil(cells - 1e-9 * (cells + 1)); /* keeps whole numbers as they are */
}
