/*
 * The command lines of those that read results: merge, compare, report.
 */
#include "command.h"

#include <getopt.h>
#include <string.h>

#include "compare.h"
#include "merge.h"
#include "report.h"

int command_merge(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"out", required_argument, NULL, 'o'},
	        {"metrics", required_argument, NULL, 'm'},
	        {"fio-json", required_argument, NULL, 'f'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	struct merge_options options = {0};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option == 'o')
			options.output[OUTPUT_JSON] = optarg;
		else if (option == 'm')
			options.output[OUTPUT_METRICS] = optarg;
		else if (option == 'f')
			options.output[OUTPUT_FIO] = optarg;
		else
			return option == 'h' ? command_print_help(command)
			                     : command_usage_error(command);
	}
	options.names = argv + optind;
	options.n_names = argc - optind;
	return options.n_names ? merge_run(&options) : command_usage_error(command);
}

int command_report(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"out", required_argument, NULL, 'o'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	struct report_options options = {0};
	int option;

	while ((option = getopt_long(argc, argv, "o:", known, NULL)) >= 0) {
		if (option != 'o')
			return option == 'h' ? command_print_help(command)
			                     : command_usage_error(command);
		options.output = optarg;
	}
	options.names = argv + optind;
	options.n_names = argc - optind;
	return options.n_names && options.output ? report_run(&options)
	                                         : command_usage_error(command);
}

static int take_form(enum compare_form *form)
{
	for (unsigned i = 0; compare_form_names[i]; i++) {
		if (!strcmp(optarg, compare_form_names[i])) {
			*form = (enum compare_form)i;
			return 0;
		}
	}
	fprintf(stderr, "pvcbench: --format '%s': none of text, markdown, csv, json\n", optarg);
	return -1;
}

static int take_compare_option(struct compare_options *options, int option)
{
	switch (option) {
	case 'b':
		options->baseline = optarg;
		return 0;
	case 'f':
		return take_form(&options->form);
	case 'i':
		if (options->n_gates == COMPARE_GATES_MAX) {
			fprintf(stderr, "pvcbench: at most %d --fail-if\n", COMPARE_GATES_MAX);
			return -1;
		}
		options->gates[options->n_gates++] = optarg;
		return 0;
	}
	return -1; /* getopt has said what is wrong */
}

int command_compare(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"baseline", required_argument, NULL, 'b'},
	        {"format", required_argument, NULL, 'f'},
	        {"fail-if", required_argument, NULL, 'i'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	struct compare_options options = {0};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option == 'h')
			return command_print_help(command);
		if (take_compare_option(&options, option))
			return command_usage_error(command);
	}
	options.names = argv + optind;
	options.n_names = argc - optind;
	return options.n_names ? compare_run(&options) : command_usage_error(command);
}
