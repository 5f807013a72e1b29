/*
 * The command line: a table of subcommands.
 */
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <string.h>

#include "base/workers.h"
#include "command.h"
#include "io/http.h"
#include "plan/plan.h"

static int list_plans(void)
{
	for (const struct plan_builtin *plan = plan_builtins; plan->name; plan++)
		puts(plan->name);
	return 0;
}

static int print_plan(const char *name)
{
	const struct plan_builtin *plan = plan_builtin_find(name);

	if (!plan) {
		fprintf(stderr, "pvcbench: no plan '%s' (pvcbench plans lists them)\n", name);
		return ERR_PLAN;
	}
	fwrite(plan->text, 1, plan->size, stdout);
	return 0;
}

/* Of a plan unless another is named. */
static int print_schema(const char *name)
{
	const char *schema = !name || !strcmp(name, "plan") ? plan_schema_json
	                     : !strcmp(name, "result")      ? result_schema_json
	                                                    : NULL;

	if (!schema) {
		fprintf(stderr, "pvcbench: no schema '%s' (there are: plan, result)\n", name);
		return ERR_PLAN;
	}
	fputs(schema, stdout);
	return 0;
}

static int command_plans(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"schema", no_argument, NULL, 's'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	bool schema = false;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option != 's')
			return option == 'h' ? command_print_help(command)
			                     : command_usage_error(command);
		schema = true;
	}
	if (argc - optind > 1)
		return command_usage_error(command);
	if (schema)
		return print_schema(argv[optind]);
	return argv[optind] ? print_plan(argv[optind]) : list_plans();
}

static int command_version(const struct command *command, int argc, char **argv)
{
	const char *operand = NULL;
	int ret = command_one_operand(command, argc, argv, &operand);

	if (ret || operand)
		return ret > 0 ? 0 : command_usage_error(command);
	const char *tls = http_tls_library(); /* "OpenSSL/3.0.19" */
	int length = (int)strcspn(tls, "/");

	printf("pvcbench %s\n%s%.*s %s\n", PVCBENCH_VERSION, PVCBENCH_LIBRARIES, length, tls,
	       tls + length + (tls[length] == '/'));
	return 0;
}

static const struct command commands[] = {
        {"run",
         "[PLAN] [--target PATH] [--set KEY=VALUE]... [--out FILE] "
         "[--metrics FILE] [--fio-json FILE] [--quiet]\n"
         "                  [--peers N --index I --coordinator HOST:PORT]",
         "Run a plan and print what was measured.\n"
         "  PLAN             a built-in plan's name or a file; without it "
         "/etc/pvcbench/plan.yaml,\n"
         "                   else dbench's variables with the plan dbench, else the plan cce\n"
         "  --target PATH    the directory or block device to measure\n"
         "  --set KEY=VALUE  set a key of every test; tests.NAME.KEY of one test\n"
         "  --out FILE       write the whole result as JSON\n"
         "  --metrics FILE   write its figures in Prometheus' text format\n"
         "  --fio-json FILE  write it as fio's JSON, for what reads that\n"
         "  --quiet          no progress while a test runs\n"
         "  --peers N        run it together with N - 1 others, begin each test with them, and "
         "sum up\n"
         "  --index I        which of them this is, from 0; index 0 prints what all measured\n"
         "  --coordinator HOST:PORT  where index 0 is; it listens there\n",
         command_run},
        {"check", "[PLAN] [--target PATH] [--set KEY=VALUE]...",
         "Say what a plan would do: time, bytes written, concessions. Touches nothing.\n",
         command_check},
        {"doctor", "[PATH]",
         "Say what this pod can do and, with PATH, what that volume can do, with a remedy for\n"
         "each limit. On PATH a directory is made, one file in it tried, and both removed.\n",
         command_doctor},
        {"plans", "[NAME] | --schema [plan|result]",
         "List the built-in plans, or print one.\n"
         "  --schema         print the JSON Schema of a plan, or of a result, for editors and "
         "programs\n",
         command_plans},
        {"compare",
         "FILE... [--baseline NAME] [--format text|markdown|csv|json]\n"
         "                  [--fail-if CONDITION]...",
         "Print results beside each other: a line for each test of each, the ratio to a baseline,\n"
         "and which differences their repeats show.\n"
         "  FILE             what --out wrote, or a log (of `kubectl logs`, also with --prefix);\n"
         "                   -: standard input\n"
         "  --baseline NAME  a result's class, file, pod or run (the first result)\n"
         "  --format FORMAT  text, markdown, csv or json\n"
         "  --fail-if CONDITION  exit with 99 where it holds of a result or cannot be judged, such "
         "as\n"
         "                   'read-iops.read.iops < 0.9 * baseline'\n",
         command_compare},
        {"merge", "FILE... [--out FILE] [--metrics FILE] [--fio-json FILE]",
         "Print the results of several pods that ran one plan together as one: all histograms\n"
         "added up, the sum of the rates, the spread of the pods.\n"
         "  FILE             what --out wrote, or a log (of `kubectl logs`, also with --prefix);\n"
         "                   -: standard input\n"
         "  --out FILE       write the merged result as JSON\n"
         "  --metrics FILE   write its figures in Prometheus' text format\n"
         "  --fio-json FILE  write it as fio's JSON, for what reads that\n",
         command_merge},
        {"report", "FILE... -o FILE",
         "Write results as one page for a browser: tables and charts of all classes and tests. It\n"
         "needs no network, and without scripts the tables stand.\n"
         "  FILE             what --out wrote, or a log (of `kubectl logs`, also with --prefix);\n"
         "                   -: standard input\n"
         "  -o, --out FILE   the page\n",
         command_report},
        {"verify", "LEDGER [--target PATH] [--remove]",
         "Read back the files of an earlier run that kept a ledger, also of one that a crash cut\n"
         "off: is all there that was acknowledged and synced?\n"
         "  --target PATH    the volume, where it is not mounted where it was\n"
         "  --remove         remove the run's directory when nothing is missing\n",
         command_verify},
        {"relay", "--listen ADDR:PORT [--allow URL]... [--timeout TIME] [--ca-file FILE]",
         "Be a hop of a chain of HTTP calls: answer, and call the next hop that a request names.\n"
         "  --listen ADDR:PORT  :8080 is every address; port 0 is any, and is told\n"
         "  --allow URL         what the URLs begin with that it may call; else it calls nobody\n"
         "  --timeout TIME      of a call, all hops behind it included (15s)\n"
         "  --ca-file FILE      certificates to trust (PEM), in place of the machine's\n",
         command_relay},
        {"version", "", "Print the version, and those of the libraries in it.\n", command_version},
};

static int print_commands(FILE *out)
{
	fprintf(out, "usage: pvcbench COMMAND ... (without one: run)\n\n");
	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  pvcbench %s %s\n", commands[i].name, commands[i].usage);
	fprintf(out, "\npvcbench COMMAND --help tells more.\n");
	return out == stdout ? 0 : ERR_PLAN;
}

/* dbench's image is started with nothing or with the one word "fio". */
static bool means_run(int argc, char **argv)
{
	return argc < 2 || (argc == 2 && !strcmp(argv[1], "fio"));
}

static int run_command(int argc, char **argv)
{
	char *run_alone[] = {"run", NULL};

	if (means_run(argc, argv))
		return commands[0].fn(&commands[0], 1, run_alone);

	const char *name = argv[1];

	argv[1] = argv[0]; /* getopt's messages begin with it */
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help"))
		return print_commands(stdout);
	if (!strcmp(name, "--version"))
		name = "version";
	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return commands[i].fn(&commands[i], argc - 1, argv + 1);
	fprintf(stderr, "pvcbench: no command '%s'%s\n", name,
	        plan_builtin_find(name) ? " (a plan is run by: pvcbench run PLAN)" : "");
	return print_commands(stderr);
}

/*
 * A closed standard stream would be the number of the next file that is opened, and
 * what is printed would go into it. Open for reading only, it refuses what is printed.
 */
static void occupy_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			_exit(ERR_PLAN);
}

int main(int argc, char **argv)
{
	struct err err;
	int code;

	mallopt(M_ARENA_MAX, 1); /* nobody allocates in the timed path, and an arena takes memory */
	occupy_standard_streams();
	if (workers_call_main(run_command, argc, argv, &code, &err)) {
		fprintf(stderr, "pvcbench: %s\n", err.text);
		return (int)err.class;
	}
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "pvcbench: cannot write all results to standard output\n");
	return code ? code : ERR_TEST;
}
