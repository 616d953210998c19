"""A Dockerfile run without Docker: the same files and commands, below a directory instead of the root.

Nothing is downloaded: Python packages come from the environment of the tests, which has the same versions, and system
packages are those of this machine.
"""

import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import distribution
from importlib.util import cache_from_source
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

_OURS = ("/venv", "/app", "/data", "/build", "/tmp", "/run/secrets")


@dataclass
class Stage:
    """A FROM: its base, the settings of later instructions, and the directory in place of its root."""

    base: str
    root: Path
    workdir: str = "/"
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


class Build:
    """A build, which runs the instructions of a Dockerfile. `stages[-1]` is the image."""

    def __init__(self, context: Path, directory: Path) -> None:
        self.context, self.directory = context, directory
        self.names: dict[str, Stage] = {}
        self.stages: list[Stage] = []
        steps = {"FROM": self.base, "WORKDIR": self.workdir, "ENV": self.env, "COPY": self.copy, "RUN": self.run}
        for name, value in instructions((context / "Dockerfile").read_text()):
            if name in steps:
                steps[name](value)
            else:
                assert name in ("USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"), f"{name} is not supported here"
                self.stages[-1].settings[name] = value

    def base(self, value: str) -> None:
        base, _, name = value.partition(" AS ")
        root = self.directory / f"stage-{len(self.stages)}"
        programs = root / "usr/bin"
        programs.mkdir(parents=True)
        (programs / "python").symlink_to(Path(sys.base_prefix) / "bin/python3")  # as in the base image
        stage = Stage(base, root, environment={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(root)})
        self.stages.append(stage)
        self.names[name] = stage

    def workdir(self, value: str) -> None:
        self.stages[-1].workdir = value
        (self.stages[-1].root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def env(self, value: str) -> None:
        stage = self.stages[-1]
        for pair in shlex.split(value):
            name, _, content = pair.partition("=")
            stage.environment[name] = inside(stage, content).replace("$PATH", stage.environment["PATH"])

    def copy(self, value: str) -> None:
        stage = self.stages[-1]
        option, *words = value.split() if value.startswith("--from=") else ["", *value.split()]
        source, target = words
        place = stage.root / str(PurePosixPath(stage.workdir, target)).lstrip("/")
        if option:
            other = self.names[option.removeprefix("--from=")]
            subprocess.run(["cp", "-a", other.root / source.lstrip("/"), place], check=True)  # thousands of links
            adapt_paths(place, other.root, stage.root)
            return
        for path in context_files(self.context, source):
            to = place / (path if target == "." else path.relative_to(source))
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.context / path, to)

    def run(self, value: str) -> None:
        stage = self.stages[-1]
        words = value.split()
        if "apt-get" in words:
            chosen = words[words.index("--no-install-recommends") + 1 : words.index("&&", words.index("install"))]
            value = shlex.join(["dpkg-query", "--show", *chosen])
        elif words[0].endswith("/pip"):
            return install(stage.root / stage.workdir.lstrip("/") / words[-1], stage.root / "venv")
        elif words[1:3] == ["-m", "venv"]:
            value += " --without-pip"
        command = inside(stage, value)
        command = re.sub(r"--(owner|group)=\d+ ", "", command)  # only root can change an owner
        inherited = {name: os.environ[name] for name in ("TMPDIR", "LANG") if name in os.environ}
        done = subprocess.run(
            ["/bin/sh", "-ec", command], cwd=stage.root / stage.workdir.lstrip("/"), text=True,
            env=inherited | stage.environment, capture_output=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"RUN {command} failed:\n{done.stdout}{done.stderr}"


def instructions(text: str) -> list[tuple[str, str]]:
    """Return pairs of instruction and arguments, with continued lines joined and without comments."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    logical = [re.sub(r"\s*\\\n\s*", " ", line) for line in re.split(r"(?<!\\)\n", code) if line.strip()]
    return [(name, arguments.strip()) for name, _, arguments in (line.partition(" ") for line in logical)]


def inside(stage: Stage, text: str) -> str:
    """Move every path of the image in a text below the stage's directory."""
    return re.sub(rf"(?<![\w/.])({'|'.join(_OURS)})(?![\w-])", rf"{stage.root}\1", text)


def exec_form(value: str) -> list[str]:
    """Return the arguments of a CMD in exec form."""
    return json.loads(value[value.index("[") :])


def adapt_paths(place: Path, before: Path, after: Path) -> None:
    """Replace the path of the interpreter in the scripts of an environment: unlike in an image, it differs here."""
    for script in place.glob("bin/*"):
        if script.is_file() and not script.is_symlink():
            content = script.read_bytes()
            script.write_bytes(content.replace(str(before).encode(), str(after).encode()))


def locked(lock: Path) -> dict[str, str]:
    """Return the hashes of each package of a lock file that applies to this machine, by name and version."""
    packages = {}
    for line in lock.read_text().replace(" \\\n", " ").splitlines():
        wanted, *hashes = line.split(" --hash=")
        if hashes:
            requirement = Requirement(wanted)
            if requirement.marker is None or requirement.marker.evaluate():
                packages[f"{requirement.name}{requirement.specifier}"] = " ".join(sorted(hashes))
    return packages


def install(lock: Path, environment: Path) -> None:
    """Install the packages of a lock file, and no others, as links to the packages of this environment."""
    for pinned in locked(lock):
        name, _, version = pinned.partition("==")
        installed = distribution(name)
        assert installed.version == version, f"{name} is {installed.version} here, and {version} in the image"
        assert installed.files is not None
        sources = [Path(os.path.normpath(str(file.locate()))) for file in installed.files]
        # Include compiled files, which pip would compile in the image.
        compiled = [Path(cache_from_source(str(source))) for source in sources if source.suffix == ".py"]
        for source in {*sources, *filter(Path.exists, compiled)}:
            link = environment / source.relative_to(sys.prefix)
            link.parent.mkdir(parents=True, exist_ok=True)
            if link.parent.name == "bin":
                shutil.copy(source, link)
            else:
                link.symlink_to(source)
    adapt_paths(environment, Path(sys.prefix), environment)


def context_files(context: Path, source: str) -> list[Path]:
    """Return the files below `source` that .dockerignore does not exclude, relative to the context."""
    patterns = [
        line for line in (context / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")
    ]
    paths = [context / source] if (context / source).is_file() else _files_below(context / source, context, patterns)
    files = [path.relative_to(context) for path in paths]
    included = [path for path in files if not ignored(PurePosixPath(path), patterns)]
    assert included, f"COPY {source} copies nothing"
    return sorted(included)


def _files_below(directory: Path, context: Path, patterns: list[str]) -> Iterator[Path]:
    """Yield the files below a directory. Skips folders that are excluded as a whole, because they are large."""
    for path in directory.iterdir():
        if path.is_file():
            yield path
        elif path.is_dir() and not path.is_symlink():
            name = path.relative_to(context)
            if not ignored(PurePosixPath(name), patterns) or any(
                pattern.startswith(f"!{name}/") for pattern in patterns
            ):
                yield from _files_below(path, context, patterns)


def ignored(path: PurePosixPath, patterns: list[str]) -> bool:
    """Whether .dockerignore excludes a path: the last pattern that matches the path or a parent decides."""
    names = [str(parent) for parent in (path, *path.parents) if str(parent) != "."]
    verdict = False
    for pattern in patterns:
        wanted = pattern.removeprefix("!").rstrip("/")
        if any(matches(name, wanted) for name in names):
            verdict = not pattern.startswith("!")
    return verdict


def matches(name: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch.fnmatchcase(PurePosixPath(name).name, pattern[3:])
    return name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern)
