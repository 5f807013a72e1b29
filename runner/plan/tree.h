/*
 * A YAML document as a tree of nodes that know their place. The only user of libyaml.
 *
 * What is nested deeper than ours are, has very many anchors or is more than one
 * document is refused before the tree is built. Aliases point at nodes that are there
 * already, so they cannot blow up; whoever walks the tree bounds its depth.
 */
#ifndef PVCBENCH_YAML_TREE_H
#define PVCBENCH_YAML_TREE_H

#include "base/err.h"

struct tree {
	const char *name; /* stands for the document in messages; borrowed */
	bool no_places;   /* the name says all, there are no lines to speak of */
	void *document;   /* private */
};

struct node; /* lives as long as its tree */

enum node_type { NODE_SCALAR, NODE_LIST, NODE_MAPPING };

/* Read text. The error has file, line and column, class ERR_PLAN; then *tree holds nothing. */
int tree_read(struct tree *tree, const char *text, size_t size, struct err *err);
void tree_destroy(struct tree *tree);

/* NULL: the document is empty. */
const struct node *tree_root(const struct tree *tree);

enum node_type node_type(const struct node *node);

/* Elements of a list, pairs of a mapping. */
unsigned node_count(const struct node *node);
const struct node *tree_element(const struct tree *tree, const struct node *list, unsigned i);
const struct node *tree_key(const struct tree *tree, const struct node *mapping, unsigned i);
const struct node *tree_value(const struct tree *tree, const struct node *mapping, unsigned i);

/* A scalar's bytes, NUL-terminated; its length tells of a NUL within. */
const char *node_text(const struct node *node);
size_t node_length(const struct node *node);

/* Whether it is text that YAML was not told to take for something else (`!!int 1`). */
bool node_is_text(const struct node *node);

/* From 1. */
unsigned node_line(const struct node *node);
unsigned node_column(const struct node *node);

/* Put the node's place in front of the text that is in err. Returns -1. */
int tree_blame(const struct tree *tree, const struct node *node, struct err *err);

#endif
