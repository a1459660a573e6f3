//! Stores and reads the entity graph, the tree, tags, judgments and derived schemas, and exports the graph.
