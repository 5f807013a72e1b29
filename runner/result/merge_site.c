/*
 * A row for each text and each number of the conditions.
 */
#include "result/merge_site.h"

#include <math.h>
#include <string.h>

#define TEXT(title, member)                                           \
	.name = title, .offset = offsetof(struct conditions, member), \
	.size = sizeof(((struct conditions *)0)->member)

static const struct {
	const char *name;
	size_t offset, size;
	bool joined; /* all values are shown, one after the other */
	bool noted;  /* that it differs is news */
} texts[SITE_TEXTS] = {
        {TEXT("file system", fs), .noted = true},
        {TEXT("mount options", mount_options), .noted = true},
        {TEXT("mount source", mount_source), .joined = true},
        {TEXT("device", device)},
        {TEXT("scheduler", scheduler), .noted = true},
        {TEXT("write cache", write_cache), .noted = true},
        {TEXT("kernel", kernel), .joined = true, .noted = true},
        {TEXT("machine", machine), .joined = true, .noted = true},
        {TEXT("node", node), .joined = true},
        {TEXT("class", class), .noted = true},
};

enum {
	NUMBER_BLOCK,
	NUMBER_CAPACITY,
	NUMBER_FREE,
	NUMBER_MEMORY,
	NUMBER_HOST_MEMORY,
	NUMBER_QUOTA
};

static const char *text_of(const struct conditions *c, unsigned i)
{
	return (const char *)c + texts[i].offset;
}

static void numbers_of(const struct conditions *c, uint64_t out[SITE_NUMBERS])
{
	out[NUMBER_BLOCK] = c->block_bytes;
	out[NUMBER_CAPACITY] = c->capacity_bytes;
	out[NUMBER_FREE] = c->free_bytes;
	out[NUMBER_MEMORY] = c->memory_bytes;
	out[NUMBER_HOST_MEMORY] = c->host_memory_bytes;
	out[NUMBER_QUOTA] = c->cpu_quota;
}

static bool same_double(double a, double b)
{
	return (isnan(a) && isnan(b)) || !(a < b || a > b);
}

static bool same_limits(const struct published *a, const struct published *b)
{
	return a->capacity_bytes == b->capacity_bytes && same_double(a->iops, b->iops) &&
	       same_double(a->mib_per_s, b->mib_per_s) &&
	       same_double(a->burst_iops, b->burst_iops) &&
	       same_double(a->burst_mib_per_s, b->burst_mib_per_s) &&
	       same_double(a->burst_credit, b->burst_credit) && a->io_unit == b->io_unit &&
	       a->scope == b->scope && !strcmp(a->source, b->source);
}

void merge_site_add(struct site *site, const struct conditions *c)
{
	uint64_t number[SITE_NUMBERS];
	char cpus[32];

	numbers_of(c, number);
	if (!site->n++) {
		site->one = *c;
		memcpy(site->min, number, sizeof(number));
	}
	site->other_limits |= !same_limits(&site->one.class_limits, &c->class_limits);
	if (strcmp(site->one.class_note, c->class_note) != 0)
		site->one.class_note[0] = '\0';
	for (unsigned i = 0; i < SITE_TEXTS; i++)
		words_add(&site->text[i], text_of(c, i));
	for (unsigned i = 0; i < SITE_NUMBERS; i++) {
		site->min[i] = min_u64(site->min[i], number[i]);
		site->max[i] = max_u64(site->max[i], number[i]);
	}
	snprintf(cpus, sizeof(cpus), "%.4g", c->cpus);
	words_add(&site->cpus, c->cpus > 0 ? cpus : "unknown");
}

/* 0 stands for what is not known. */
static uint64_t same(const struct site *site, unsigned number)
{
	return site->min[number] == site->max[number] ? site->min[number] : 0;
}

void merge_site_finish(const struct site *site, struct conditions *out)
{
	*out = site->one;
	for (unsigned i = 0; i < SITE_TEXTS; i++) {
		char *text = (char *)out + texts[i].offset;

		if (site->text[i].n < 2)
			continue;
		*text = '\0';
		if (texts[i].joined)
			words_join(&site->text[i], false, text, texts[i].size);
	}
	out->block_bytes = same(site, NUMBER_BLOCK);
	out->capacity_bytes = same(site, NUMBER_CAPACITY);
	out->free_bytes = site->min[NUMBER_FREE];
	out->memory_bytes = same(site, NUMBER_MEMORY);
	out->host_memory_bytes = same(site, NUMBER_HOST_MEMORY);
	out->cpu_quota = same(site, NUMBER_QUOTA);
	if (site->cpus.n > 1)
		out->cpus = NAN;
	if (site->other_limits)
		out->class_limits = (struct published){0};
}

bool merge_site_is_shared(const struct site *site)
{
	const char *source = site->one.mount_source;

	for (unsigned i = 0; i < SITE_TEXTS; i++)
		if (site->text[i].n > 1 && texts[i].offset != offsetof(struct conditions, kernel) &&
		    texts[i].offset != offsetof(struct conditions, machine) &&
		    texts[i].offset != offsetof(struct conditions, node))
			return false;
	return !site->other_limits && (strchr(source, ':') || !strncmp(source, "//", 2));
}

static void note(struct result *result, const char *name, const struct words *words)
{
	char values[RESULT_TEXT_MAX], text[RESULT_TEXT_MAX];

	words_join(words, true, values, sizeof(values));
	snprintf(text, sizeof(text), "%s differs between the pods: %.200s", name, values);
	result_note(result, text);
}

void merge_site_note(const struct site *site, struct result *result)
{
	for (unsigned i = 0; i < SITE_TEXTS; i++)
		if (texts[i].noted && site->text[i].n > 1)
			note(result, texts[i].name, &site->text[i]);
	if (site->cpus.n > 1)
		note(result, "the number of CPUs", &site->cpus);
	if (site->min[NUMBER_MEMORY] != site->max[NUMBER_MEMORY])
		result_note(result, "memory differs between the pods");
	if (site->other_limits)
		result_note(result, "the published limits differ between the pods");
}
