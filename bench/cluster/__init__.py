"""Servers of PostgreSQL, workers, servers and models, as the benchmarks of several processes need them."""
