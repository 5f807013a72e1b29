/*
 * A subcommand: a row of main.c's table, and a function that reads what stands behind its name.
 */
#ifndef PVCBENCH_COMMAND_H
#define PVCBENCH_COMMAND_H

struct command {
	const char *name;
	const char *usage; /* behind the name */
	const char *help;
	int (*fn)(const struct command *command, int argc, char **argv); /* the exit code */
};

/* Say on stderr how it is used; the exit code. */
int command_usage_error(const struct command *command);

/* Say on stdout how it is used, and what for; the exit code. */
int command_print_help(const struct command *command);

/* For commands whose only option is --help: the operand, if any. -1: a usage error, 1: help. */
int command_one_operand(const struct command *command, int argc, char **argv, const char **operand);

int command_run(const struct command *command, int argc, char **argv);
int command_check(const struct command *command, int argc, char **argv);
int command_doctor(const struct command *command, int argc, char **argv);
int command_verify(const struct command *command, int argc, char **argv);
int command_merge(const struct command *command, int argc, char **argv);
int command_compare(const struct command *command, int argc, char **argv);
int command_report(const struct command *command, int argc, char **argv);
int command_relay(const struct command *command, int argc, char **argv);

#endif
