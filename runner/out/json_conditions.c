/*
 * Under what conditions was measured, in a result document.
 */
#include "out/json_part.h"

static bool has_class_limits(const void *object)
{
	const struct conditions *c = object;

	return c->class_limits.source[0];
}

static bool has_class_note(const void *object)
{
	const struct conditions *c = object;

	return c->class_note[0];
}

static const struct member limit_members[] = {
        {"capacity_bytes", KNOWN_AT(struct published, capacity_bytes)},
        {"iops", DOUBLE_AT(struct published, iops)},
        {"mib_per_s", DOUBLE_AT(struct published, mib_per_s)},
        {"burst_iops", DOUBLE_AT(struct published, burst_iops)},
        {"burst_mib_per_s", DOUBLE_AT(struct published, burst_mib_per_s)},
        {"burst_credit", DOUBLE_AT(struct published, burst_credit)},
        {"io_unit", KNOWN_AT(struct published, io_unit)},
        {"scope", CHOICE_AT(struct published, scope, published_scope_names), .required = true},
        {"source", TEXT_AT(struct published, source), .required = true},
        {0},
};

static bool has_write_cache(const void *object)
{
	return ((const struct conditions *)object)->write_cache[0];
}

static bool has_cpu_quota(const void *object)
{
	return ((const struct conditions *)object)->cpu_quota;
}

static bool has_memory_limit(const void *object)
{
	return ((const struct conditions *)object)->host_memory_bytes;
}

static bool has_io_limits(const void *object)
{
	const struct io_limits *limits = &((const struct conditions *)object)->io_limits;

	return limits->read_iops || limits->write_iops || limits->read_bytes || limits->write_bytes;
}

static const struct member io_limit_members[] = {
        {"read_iops", KNOWN_AT(struct io_limits, read_iops)},
        {"write_iops", KNOWN_AT(struct io_limits, write_iops)},
        {"read_bytes", KNOWN_AT(struct io_limits, read_bytes)},
        {"write_bytes", KNOWN_AT(struct io_limits, write_bytes)},
        {0},
};

const struct member json_condition_members[] = {
        {"target", TEXT_AT(struct conditions, target)},
        {"fs", TEXT_AT(struct conditions, fs)},
        {"mount_options", TEXT_AT(struct conditions, mount_options)},
        {"mount_source", TEXT_AT(struct conditions, mount_source)},
        {"device", TEXT_AT(struct conditions, device)},
        {"scheduler", TEXT_AT(struct conditions, scheduler)},
        {"write_cache", TEXT_AT(struct conditions, write_cache), .present = has_write_cache},
        {"io_limits", OBJECT_AT(struct conditions, io_limits, io_limit_members),
         .present = has_io_limits},
        {"block_bytes", KNOWN_AT(struct conditions, block_bytes)},
        {"capacity_bytes", KNOWN_AT(struct conditions, capacity_bytes)},
        {"free_bytes", KNOWN_AT(struct conditions, free_bytes)},
        {"kernel", TEXT_AT(struct conditions, kernel)},
        {"machine", TEXT_AT(struct conditions, machine)},
        {"node", TEXT_AT(struct conditions, node)},
        {"cpus", DOUBLE_AT(struct conditions, cpus)},
        {"cpu_quota", BOOL_AT(struct conditions, cpu_quota), .present = has_cpu_quota},
        {"memory_bytes", KNOWN_AT(struct conditions, memory_bytes)},
        {"host_memory_bytes", KNOWN_AT(struct conditions, host_memory_bytes),
         .present = has_memory_limit},
        {"class", TEXT_AT(struct conditions, class)},
        {"class_note", TEXT_AT(struct conditions, class_note), .present = has_class_note},
        {"class_limits", OBJECT_AT(struct conditions, class_limits, limit_members),
         .present = has_class_limits},
        {0},
};
