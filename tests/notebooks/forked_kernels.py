"""Kernels that are forked from one process, which has imported what most notebooks import, once for all of them.

    python tests/notebooks/forked_kernels.py serve SOCKET               the process they are forked from
    python tests/notebooks/forked_kernels.py kernel SOCKET CONNECTION   a kernel, as Jupyter starts one

Each notebook still has a process of its own, with nothing in it but these modules. `kernel` stands for it: it hands its
environment, folder and output on, lives as long as the kernel does, and passes an interrupt to it.
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import sys
import time

MODULES = ("torch", "torch._dynamo", "matplotlib.pyplot", "scipy.stats", "sklearn.linear_model", "ipykernel.kernelapp")
LONGEST = 2**20  # bytes of a request
START_SECONDS = 600  # a busy machine is no failure


def serve(path: str) -> None:
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as in a kernel, read by an import
    for name in MODULES:
        importlib.import_module(name)
    gc.freeze()  # else each kernel's first collection copies all that was imported
    signal.signal(signal.SIGCHLD, wait_for_those_that_ended)
    signal.signal(signal.SIGTERM, end)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            connection, _ = server.accept()
            request, outputs, *_ = socket.recv_fds(connection, LONGEST, 2)
            if os.fork() == 0:
                server.close()
                run(connection, outputs, **json.loads(request))
            connection.close()
            for output in outputs:
                os.close(output)


def wait_for_those_that_ended(*_) -> None:
    """A kernel's connection tells its end; it is waited for so that its CPU time counts as that of this process."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


def end(*_) -> None:
    """Asked to: wait for the last kernels, which end with the processes that stand for them, and exit."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    os._exit(0)


def run(connection: socket.socket, outputs: list[int], file: str, folder: str, environment: dict) -> None:
    """In the fork: be the kernel, and end with the process that stands for it."""
    from threading import Thread

    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for number, output in zip((1, 2), outputs, strict=True):
        os.dup2(output, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    connection.sendall(str(os.getpid()).encode())
    Thread(target=lambda: connection.recv(1) or os._exit(1), daemon=True).start()
    IPKernelApp.launch_instance(["-f", file])
    os._exit(0)


def kernel(path: str, file: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        until = time.monotonic() + START_SECONDS
        while connection.connect_ex(path):
            if time.monotonic() > until:
                sys.exit(f"The server of kernels did not start within {START_SECONDS} s: {path}")
            time.sleep(0.05)
        request = {"file": file, "folder": os.getcwd(), "environment": dict(os.environ)}
        socket.send_fds(connection, [json.dumps(request).encode()], [1, 2])
        pid = int(connection.recv(64))
        signal.signal(signal.SIGINT, lambda *_: os.kill(pid, signal.SIGINT))
        while connection.recv(1):  # ends with the kernel
            pass


if __name__ == "__main__":
    sys.path.pop(0)  # this folder
    {"serve": serve, "kernel": kernel}[sys.argv[1]](*sys.argv[2:])  # type: ignore[operator]
