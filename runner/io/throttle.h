/*
 * What the control groups of this process allow on a block device: io.max of version 2,
 * blkio.throttle of version 1.
 */
#ifndef PVCBENCH_THROTTLE_H
#define PVCBENCH_THROTTLE_H

#include "base/base.h"

/* A second; 0: no limit that is shown. */
struct throttle {
	uint64_t read_iops, write_iops, read_bytes, write_bytes;
};

/* On the device of this number and, of a partition, on its disk: the least of all groups. */
void throttle_read(struct throttle *throttle, unsigned major, unsigned minor);

/*
 * Lower what throttle holds by the limits on this one device, of the groups that own_cgroups names
 * below sys_root, as in host_visit_groups.
 */
void throttle_read_groups(struct throttle *throttle, FILE *own_cgroups, const char *sys_root,
                          unsigned major, unsigned minor);

#endif
