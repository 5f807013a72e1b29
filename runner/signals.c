#include "signals.h"

#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "base/base.h"

#define ECHO_NS (5 * NSEC_PER_SEC)

atomic_int signals_stop;

/*
 * A signal that comes soon after the first is its echo (a terminal and a wrapper
 * both send one); one that comes later is impatience, and the files stay.
 */
static void on_signal(int signum)
{
	static _Atomic uint64_t first_ns;
	int none = 0;

	if (atomic_compare_exchange_strong(&signals_stop, &none, signum))
		atomic_store(&first_ns, clock_now_ns());
	else if (clock_now_ns() - atomic_load(&first_ns) > ECHO_NS)
		_exit(128 + signum);
}

void signals_watch(void)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	static const int ignored[] = {SIGPIPE, SIGXFSZ};

	for (unsigned i = 0; i < ARRAY_SIZE(ends); i++)
		sigaction(ends[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
	for (unsigned i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
}
