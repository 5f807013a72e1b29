/*
 * The command line of relay.
 */
#include "command.h"

#include <getopt.h>

#include "base/units.h"
#include "relay.h"

static int add_allowed(struct relay_options *options, const char *url)
{
	if (options->n_allow == RELAY_ALLOW_MAX) {
		fprintf(stderr, "pvcbench: at most %d --allow\n", RELAY_ALLOW_MAX);
		return -1;
	}
	options->allow[options->n_allow++] = url;
	return 0;
}

static int take_timeout(uint64_t *timeout_ns)
{
	struct err err;

	if (!units_parse_time(optarg, timeout_ns, &err) && *timeout_ns)
		return 0;
	fprintf(stderr, "pvcbench: --timeout '%s': no time such as 500ms, 15s\n", optarg);
	return -1;
}

static int take_relay_option(struct relay_options *options, int option)
{
	switch (option) {
	case 'l':
		options->listen = optarg;
		return 0;
	case 'a':
		return add_allowed(options, optarg);
	case 'c':
		options->ca_file = optarg;
		return 0;
	case 't':
		return take_timeout(&options->timeout_ns);
	}
	return -1; /* getopt has said what is wrong */
}

int command_relay(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"listen", required_argument, NULL, 'l'},
	        {"allow", required_argument, NULL, 'a'},
	        {"ca-file", required_argument, NULL, 'c'},
	        {"timeout", required_argument, NULL, 't'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	struct relay_options options = {.timeout_ns = RELAY_TIMEOUT_NS};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option == 'h')
			return command_print_help(command);
		if (take_relay_option(&options, option))
			return command_usage_error(command);
	}
	if (!options.listen || optind < argc)
		return command_usage_error(command);
	return relay_run(&options);
}
