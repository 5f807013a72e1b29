/*
 * crc32c: the checksum of iSCSI, ext4 and btrfs (Castagnoli's polynomial, reflected), by
 * the CPU's own instruction where it has one.
 */
#ifndef PVCBENCH_CRC32C_H
#define PVCBENCH_CRC32C_H

#include "base/base.h"

/* The checksum of what crc stands for (0: nothing) followed by these bytes, of any alignment. */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);

/* The same without that instruction. */
uint32_t crc32c_by_table(uint32_t crc, const void *data, size_t bytes);

#endif
