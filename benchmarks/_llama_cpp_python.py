"""The server of ``llama-cpp-python``, in an environment of its own: it is built from source once, in some ten minutes.

``LLAMA_CPP_PYTHON`` may name a Python that has the package with its extra ``server``; then nothing is built.
"""

import os
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

from platformdirs import user_cache_path

VERSION = "0.3.36"
CMAKE = "-DGGML_NATIVE=OFF -DGGML_OPENMP=OFF -DLLAMA_CURL=OFF -DMTMD_BUILD=OFF -DLLAVA_BUILD=OFF " + " ".join(
    f"-DLLAMA_BUILD_{part}=OFF" for part in ("TESTS", "EXAMPLES", "TOOLS", "SERVER")
)


def python_with_it() -> str:
    """Give a Python that has the package; make its environment if there is none. A compiler of C++ is needed."""
    if given := os.environ.get("LLAMA_CPP_PYTHON"):
        return given
    folder = user_cache_path("semece") / f"llama-cpp-python-{VERSION}"
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        words = [str(python), "-m", "pip", "install", "--quiet", f"llama-cpp-python[server]=={VERSION}"]
        subprocess.run(words, check=True, env=os.environ | {"CMAKE_ARGS": CMAKE, "CXXFLAGS": "-O1", "CFLAGS": "-O1"})
        (folder / "done").touch()
    return str(python)


@contextmanager
def llama_cpp_python(python: str, *, port: int, context: int = 512, key: str = ""):
    """Start the server in a process of its own, with one thread; gives its process and base URL."""
    from semece.models.embedded.weights import SMOLLM2, find

    words = [python, "-m", "llama_cpp.server", "--model", str(find(SMOLLM2)), "--host", "127.0.0.1"]
    words += ["--port", str(port), "--n_ctx", str(context), "--n_threads", "1", "--n_threads_batch", "1"]
    words += ["--api_key", key] if key else []
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=Path(python).parent)
    try:
        address = f"http://127.0.0.1:{port}/v1"
        while process.poll() is None:
            request = urllib.request.Request(f"{address}/models", headers={"Authorization": f"Bearer {key}"})
            with suppress(OSError), urllib.request.urlopen(request, timeout=5):
                break
            time.sleep(0.1)
        yield process, address
    finally:
        process.kill()
        process.wait()
