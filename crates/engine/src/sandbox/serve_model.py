"""Serves one model with llama.cpp's server from the package `xllamacpp`, and ends when standard input does.

Arguments: the file, tokens of one call, calls at a time. The key is in LLAMA_API_KEY. The first line of the output is the address.
"""

import os
import sys

import xllamacpp

path, tokens, parallel = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
params = xllamacpp.CommonParams()
params.model.path = path
params.hostnames = ["127.0.0.1"]
params.port = 0
params.api_keys = [os.environ["LLAMA_API_KEY"]]
params.n_parallel = parallel
params.n_ctx = parallel * tokens
params.use_jinja = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
# Nobody reads further lines.
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
# The program that started this one is gone when its pipe closes, also if it was killed.
sys.stdin.read()
os._exit(0)
