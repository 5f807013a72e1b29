/*
 * The signals that ask the program to end.
 */
#ifndef PVCBENCH_SIGNALS_H
#define PVCBENCH_SIGNALS_H

#include <stdatomic.h>

/* The number of the first that came; 0 until then. */
extern atomic_int signals_stop;

/*
 * SIGTERM, SIGINT, SIGHUP and SIGQUIT set signals_stop; one that comes more than 5 s after the
 * first ends the program at once. A pipe that nobody reads and a file that may not grow are
 * errors of the write, not the end.
 */
void signals_watch(void);

#endif
