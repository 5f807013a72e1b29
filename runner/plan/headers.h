/*
 * The readers of what a plan says of an HTTP request: its URL and its headers.
 */
#ifndef PVCBENCH_PLAN_HEADERS_H
#define PVCBENCH_PLAN_HEADERS_H

#include "plan/sink.h"
#include "plan/tree.h"

/*
 * A mapping of names to values into headers[PLAN_HEADERS_MAX], which holds *n of 0 before. The
 * error has its place and repeats nothing that may be a secret; also is what else a secret may
 * be given by (", or ...", ""), for its remedy.
 */
int plan_headers_read(struct plan_header *headers, unsigned *n, const char *also,
                      const struct tree *tree, const struct node *node, struct err *err);

/* A URL into the member of *object that row names; *is_secret: a variable, maybe one, is in it. */
int plan_url_read(void *object, bool *is_secret, const struct field *row, const struct tree *tree,
                  const struct node *node, struct err *err);

#endif
