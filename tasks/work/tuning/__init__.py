"""Which settings of a server and its client read one's own pages fastest, without reading them otherwise."""
