"""Serves a small model by llama.cpp on loopback until its standard input closes.

Run in its own process: `python -m tests.llama_server MODEL_FILE` prints the address once it is up.
"""

from __future__ import annotations

import sys

import xllamacpp


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.n_ctx = params.n_batch = params.n_ubatch = 512
    params.n_parallel = 1
    params.warmup = False
    # llama.cpp spins where threads wait for each other: on busy cores one is several times as fast.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.port = 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
