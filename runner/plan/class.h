/*
 * class.yaml: what class of volume is measured, and what is published about it. Its keys are
 * those of docs/class.schema.json.
 */
#ifndef PVCBENCH_CLASS_H
#define PVCBENCH_CLASS_H

#include "base/err.h"
#include "plan/published.h"

#define CLASS_NAME_MAX 53 /* with the final NUL, as is CLASS_NOTE_MAX */
#define CLASS_NOTE_MAX 512
#define CLASS_FILE_MAX (64 * KIB)
#define CLASS_MOUNTED  "/etc/pvcbench/class.yaml"

struct class_burst {
	double iops, mib_per_s; /* 0: not stated */
	double credit;          /* requests; 0: not stated */
};

struct class_published {
	struct published_rule iops, mib_per_s;
	struct class_burst burst;
	uint64_t io_unit;                  /* bytes; 0: a request always counts as one */
	int scope;                         /* enum published_scope */
	char source[PUBLISHED_SOURCE_MAX]; /* "": nothing is published */
};

struct class
{
	char name[CLASS_NAME_MAX]; /* "": there is no class */
	uint64_t capacity_bytes;   /* that the claim asks for; 0: not stated */
	uint64_t size_bytes;       /* the largest working set that makes sense; 0: any */
	char note[CLASS_NOTE_MAX]; /* what else a reader of the figures has to know; "": nothing */
	struct class_published published;
};

/*
 * Read a class from text; name stands in messages ("class.yaml:3:9: ..."). Every error has
 * file:line:column, the key, what is allowed and the nearest known key, class ERR_PLAN; then
 * *class is all zero.
 */
int class_read(struct class *class, const char *name, const char *text, size_t size,
               struct err *err);

/*
 * Read class.yaml in the folder of a plan's file, or where there is none (or plan_path is
 * NULL: the plan is no file) CLASS_MOUNTED. Neither is there: *class is all zero, and that
 * is no error.
 */
int class_load(struct class *class, const char *plan_path, struct err *err);

/* The figures for the class's capacity. */
struct published class_figures(const struct class *class);

#endif
