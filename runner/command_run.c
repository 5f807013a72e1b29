/*
 * The command lines of run and check.
 */
#include "command.h"

#include <getopt.h>
#include <string.h>

#include "run.h"

struct options {
	struct run_options run;
	struct plan_override overrides[PLAN_OVERRIDES_MAX];
	bool help;
};

static int add_override(struct options *o, struct plan_override override)
{
	if (o->run.n_overrides == PLAN_OVERRIDES_MAX) {
		fprintf(stderr, "pvcbench: at most %d --set\n", PLAN_OVERRIDES_MAX);
		return -1;
	}
	o->overrides[o->run.n_overrides++] = override;
	return 0;
}

/* KEY=VALUE, cut in place. */
static int add_set(struct options *o, char *text)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text) {
		fprintf(stderr, "pvcbench: --set '%s': not KEY=VALUE\n", text);
		return -1;
	}
	*equals = '\0';
	return add_override(o, (struct plan_override){text, equals + 1, false, "--set"});
}

/* The value of an option. */
static int take_number(const char *option, unsigned least, unsigned most, unsigned *out)
{
	char *end;
	unsigned long value = strtoul(optarg, &end, 10);

	*out = (unsigned)value;
	if (optarg[0] >= '0' && optarg[0] <= '9' && !*end && value >= least && value <= most)
		return 0;
	fprintf(stderr, "pvcbench: %s '%s': not a number from %u to %u\n", option, optarg, least,
	        most);
	return -1;
}

static int take_option(struct options *o, int option)
{
	unsigned number;

	switch (option) {
	case 't':
		return add_override(o, (struct plan_override){"target", optarg, true, "--target"});
	case 's':
		return add_set(o, optarg);
	case 'o':
		o->run.output[OUTPUT_JSON] = optarg;
		return 0;
	case 'm':
		o->run.output[OUTPUT_METRICS] = optarg;
		return 0;
	case 'f':
		o->run.output[OUTPUT_FIO] = optarg;
		return 0;
	case 'q':
		o->run.quiet = true;
		return 0;
	case 'n':
		return take_number("--peers", 1, ROSTER_PEERS_MAX, &o->run.peering.n);
	case 'i':
		if (take_number("--index", 0, ROSTER_PEERS_MAX - 1, &number))
			return -1;
		o->run.peering.index = (int)number;
		return 0;
	case 'c':
		o->run.peering.coordinator = optarg;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	}
	return -1; /* getopt has said what is wrong */
}

/* The operand is the plan. */
static int read_options(struct options *o, const struct option *known, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0)
		if (take_option(o, option))
			return -1;
	if (argc - optind > 1) {
		fprintf(stderr, "pvcbench: one plan, not '%s' too\n", argv[optind + 1]);
		return -1;
	}
	o->run.plan = argv[optind];
	o->run.overrides = o->overrides;
	return 0;
}

int command_run(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"target", required_argument, NULL, 't'},
	        {"set", required_argument, NULL, 's'},
	        {"out", required_argument, NULL, 'o'},
	        {"metrics", required_argument, NULL, 'm'},
	        {"fio-json", required_argument, NULL, 'f'},
	        {"quiet", no_argument, NULL, 'q'},
	        {"peers", required_argument, NULL, 'n'},
	        {"index", required_argument, NULL, 'i'},
	        {"coordinator", required_argument, NULL, 'c'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	struct options options = {.run.peering.index = -1};

	if (read_options(&options, known, argc, argv))
		return command_usage_error(command);
	return options.help ? command_print_help(command) : run_plan(&options.run);
}

int command_check(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"target", required_argument, NULL, 't'},
	        {"set", required_argument, NULL, 's'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	struct options options = {.run.peering.index = -1};

	if (read_options(&options, known, argc, argv))
		return command_usage_error(command);
	return options.help ? command_print_help(command) : run_check(&options.run);
}
