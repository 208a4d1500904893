"""The server of llama.cpp itself, as the package ``xllamacpp`` ships it: a real model behind a real protocol.

``python -m tests.servers.llama_cpp_server`` prints its address and serves until it is killed.
"""

import argparse
import subprocess
import sys
import time
from contextlib import contextmanager

from semece.models.embedded.weights import SMOLLM2, find


def serve(port, slots, context, key, template):
    """Load the embedded model's weights and serve."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(find(SMOLLM2))
    parameters.n_ctx, parameters.n_parallel, parameters.port = context * slots, slots, port
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.fit_params, parameters.verbosity, parameters.ui = False, -1, False
    if template:
        parameters.chat_template = template
    if key:
        parameters.api_keys = [key]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


@contextmanager
def llama_cpp(*, port=0, slots=4, context=512, key="", template=""):
    """Start the server in a process of its own; gives its process and base URL."""
    words = [sys.executable, "-m", "tests.servers.llama_cpp_server", "--port", str(port), "--slots", str(slots)]
    words += ["--context", str(context), "--key", key, "--template", template]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process, f"{process.stdout.readline().strip()}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, default in (("port", 0), ("slots", 4), ("context", 512), ("key", ""), ("template", "")):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    given = parser.parse_args()
    serve(given.port, given.slots, given.context, given.key, given.template)
