"""Builds the wheel with the standard library, so that `pip install ./clients/python` needs no network (PEP 517)."""
import base64
import hashlib
import pathlib
import tarfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent.parent
DATE = (2020, 1, 1, 0, 0, 0)  # the same bytes each time


def _project():
    return tomllib.loads((HERE / "pyproject.toml").read_text())["project"]


def _sources():
    return sorted(path for path in (HERE / "witan").iterdir() if path.suffix in (".py", ".typed"))


def _write_wheel(directory, files):
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    info = f"{stem}.dist-info"
    metadata = (f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
                f"Summary: {project['description']}\nRequires-Python: {project['requires-python']}\n")
    files = dict(files)
    files[f"{info}/METADATA"] = metadata.encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: witan\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            wheel.writestr(zipfile.ZipInfo(path, DATE), content)
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {f"witan/{path.name}": path.read_bytes() for path in _sources()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {"witan.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    stem = f"{project['name']}-{project['version']}"
    with tarfile.open(pathlib.Path(sdist_directory) / f"{stem}.tar.gz", "w:gz") as archive:
        for path in [HERE / "pyproject.toml", HERE / "build_backend/wheel_backend.py", *_sources()]:
            archive.add(path, f"{stem}/{path.relative_to(HERE)}")
    return f"{stem}.tar.gz"
