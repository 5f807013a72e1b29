/*
 * The command line: a table of subcommands.
 */
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <string.h>

#include "attend.h"
#include "audit.h"
#include "base/units.h"
#include "base/workers.h"
#include "compare.h"
#include "doctor.h"
#include "io/http.h"
#include "merge.h"
#include "relay.h"
#include "report.h"
#include "run.h"
#include "signals.h"

/* How long a volume is waited for where no plan says it. */
#define ANSWER_NS (300 * NSEC_PER_SEC)

struct command {
	const char *name;
	const char *usage; /* behind the name */
	const char *help;
	int (*fn)(const struct command *command, int argc, char **argv);
};

static int usage_error(const struct command *command)
{
	fprintf(stderr, "usage: pvcbench %s %s (see pvcbench %s --help)\n", command->name,
	        command->usage, command->name);
	return ERR_PLAN;
}

static int print_help(const struct command *command)
{
	printf("usage: pvcbench %s %s\n\n%s", command->name, command->usage, command->help);
	return 0;
}

/* ---- options of run and check ---- */

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

/* ---- commands ---- */

static int command_run(const struct command *command, int argc, char **argv)
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
		return usage_error(command);
	return options.help ? print_help(command) : run_plan(&options.run);
}

static int command_check(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"target", required_argument, NULL, 't'},
	        {"set", required_argument, NULL, 's'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	struct options options = {.run.peering.index = -1};

	if (read_options(&options, known, argc, argv))
		return usage_error(command);
	return options.help ? print_help(command) : run_check(&options.run);
}

/* For commands whose only option is --help: the operand, if any. -1: a usage error, 1: help. */
static int one_operand(const struct command *command, int argc, char **argv, const char **operand)
{
	static const struct option known[] = {{"help", no_argument, NULL, 'h'}, {0}};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option != 'h')
			return -1;
		print_help(command);
		return 1;
	}
	*operand = argv[optind];
	return argc - optind > 1 ? -1 : 0;
}

/* What asks volumes, with what came of it; it may outlive our patience. */
struct errand {
	int (*run)(struct errand *errand, struct err *err);
	const char *path; /* of the doctor; NULL: the pod only */
	struct audit_options audit;
	struct attended *self; /* NULL: nobody attends to it */
	struct progress_view view;
	struct err err;
	int ret;
};

static void on_errand_step(void *arg, const char *what)
{
	struct errand *errand = arg;

	if (errand->self)
		attended_step(errand->self, what, true);
}

static void run_errand(void *arg, struct attended *self)
{
	struct errand *errand = arg;

	errand->self = self;
	errand->ret = errand->run(errand, &errand->err);
}

/* What was found is told as it is found. 128 + n where signal n ended it. */
static int go(struct errand *errand)
{
	struct attend_params params = {
	        .work = run_errand,
	        .arg = errand,
	        .view = &errand->view,
	        .stop = &signals_stop,
	        .limit_ns = ANSWER_NS,
	};
	struct attended *attended = NULL;
	enum attend_end end = ATTEND_DONE;
	struct err *err = &errand->err, gave_up;
	char what[ATTEND_STEP_MAX];
	int signum;

	signals_watch();
	errand->view.out = stdout;
	/* Without threads the doctor says so, and who waits for a volume waits in silence. */
	if (workers_make_threads_possible(err) || attend_start(&attended, &params, err)) {
		run_errand(errand, NULL);
	} else {
		end = attend(attended);
		if (end == ATTEND_DONE)
			attend_free(attended);
	}
	if (end == ATTEND_DONE && !errand->ret)
		return 0;
	if (end != ATTEND_DONE) {
		attend_waits_for(attended, what);
		err = &gave_up; /* the thread may still set the other */
		err_set(err, ERR_TARGET, "%s (%s)",
		        end == ATTEND_STOPPED ? "interrupted while waiting for the volume"
		                              : "the volume does not answer",
		        what);
	}
	fflush(stdout);
	fprintf(stderr, "pvcbench: %s\n", err->text);
	signum = atomic_load(&signals_stop);
	return signum ? 128 + signum : (int)err->class;
}

static int look_around(struct errand *errand, struct err *err)
{
	int ret;

	on_errand_step(errand, "the check after the last line");
	ret = doctor_run(errand->path, stdout, err);
	if (!ret && errand->path)
		doctor_check_plan(errand->path, stdout);
	return ret;
}

static int command_doctor(const struct command *command, int argc, char **argv)
{
	static struct errand errand = {.run = look_around};
	int ret = one_operand(command, argc, argv, &errand.path);

	if (ret)
		return ret < 0 ? usage_error(command) : 0;
	return go(&errand);
}

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
			return option == 'h' ? print_help(command) : usage_error(command);
		schema = true;
	}
	if (argc - optind > 1)
		return usage_error(command);
	if (schema)
		return print_schema(argv[optind]);
	return argv[optind] ? print_plan(argv[optind]) : list_plans();
}

static int command_merge(const struct command *command, int argc, char **argv)
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
			return option == 'h' ? print_help(command) : usage_error(command);
	}
	options.names = argv + optind;
	options.n_names = argc - optind;
	return options.n_names ? merge_run(&options) : usage_error(command);
}

static int command_report(const struct command *command, int argc, char **argv)
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
			return option == 'h' ? print_help(command) : usage_error(command);
		options.output = optarg;
	}
	options.names = argv + optind;
	options.n_names = argc - optind;
	return options.n_names && options.output ? report_run(&options) : usage_error(command);
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

static int command_compare(const struct command *command, int argc, char **argv)
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
			return print_help(command);
		if (take_compare_option(&options, option))
			return usage_error(command);
	}
	options.names = argv + optind;
	options.n_names = argc - optind;
	return options.n_names ? compare_run(&options) : usage_error(command);
}

static int read_back(struct errand *errand, struct err *err)
{
	return audit_run(&errand->audit, stdout, err);
}

static int command_verify(const struct command *command, int argc, char **argv)
{
	static const struct option known[] = {
	        {"target", required_argument, NULL, 't'},
	        {"remove", no_argument, NULL, 'r'},
	        {"help", no_argument, NULL, 'h'},
	        {0},
	};
	static struct errand errand = {.run = read_back};
	struct audit_options *options = &errand.audit;
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (option == 't')
			options->target = optarg;
		else if (option == 'r')
			options->remove = true;
		else
			return option == 'h' ? print_help(command) : usage_error(command);
	}
	options->ledger = argv[optind];
	if (argc - optind != 1)
		return usage_error(command);
	options->stop = &signals_stop;
	options->step = on_errand_step;
	options->arg = &errand;
	return go(&errand);
}

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

static int command_relay(const struct command *command, int argc, char **argv)
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
			return print_help(command);
		if (take_relay_option(&options, option))
			return usage_error(command);
	}
	if (!options.listen || optind < argc)
		return usage_error(command);
	return relay_run(&options);
}

static int command_version(const struct command *command, int argc, char **argv)
{
	const char *operand = NULL;
	int ret = one_operand(command, argc, argv, &operand);

	if (ret || operand)
		return ret > 0 ? 0 : usage_error(command);
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
