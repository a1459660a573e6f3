"""Holds the operations of each client that `bench/clients.py` tries."""
