-- A filter that admits few chunks reads the vectors of their atoms only.
CREATE INDEX atom_vectors_by_owner ON pikerag.atom_vectors (base, owner, kind);
