/*
 * What subcommands have in common.
 */
#include "command.h"

#include <getopt.h>

#include "base/err.h"

int command_usage_error(const struct command *command)
{
	fprintf(stderr, "usage: pvcbench %s %s (see pvcbench %s --help)\n", command->name,
	        command->usage, command->name);
	return ERR_PLAN;
}

int command_print_help(const struct command *command)
{
	printf("usage: pvcbench %s %s\n\n%s", command->name, command->usage, command->help);
	return 0;
}

int command_one_operand(const struct command *command, int argc, char **argv, const char **operand)
{
	static const struct option known[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option != 'h')
			return -1;
		command_print_help(command);
		return 1;
	}
	*operand = argv[optind];
	return argc - optind > 1 ? -1 : 0;
}
