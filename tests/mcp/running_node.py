"""A real node for the tests of this folder."""
import contextlib
import os
import subprocess
import tempfile


@contextlib.contextmanager
def running(program):
    """The directory of a node that is ready, with its control API on a loopback port."""
    with tempfile.TemporaryDirectory(prefix="witan-") as folder:
        directory = folder + "/node"
        subprocess.run([program, "init", "--name", "mcp", "--partitions", "1", "--listen", "127.0.0.1:0", "--dir",
                        directory], check=True, capture_output=True)
        environment = {**os.environ, "WITAN_CONTROL_LISTEN": "127.0.0.1:0"}
        with open(folder + "/log", "wb") as log:
            process = subprocess.Popen([program, "up", "--dir", directory], stdout=log, stderr=log, env=environment)
        try:
            subprocess.run([program, "status", "--wait", "ready", "--timeout", "60", "--dir", directory], check=True,
                           capture_output=True)
            yield directory
        finally:
            process.terminate()
            code = process.wait()
        assert code == 0, code
