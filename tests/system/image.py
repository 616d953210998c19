"""A Dockerfile carried out without Docker: the same files and commands, below a directory instead of the root.

What it downloads is here already: packages of Python are taken from the environment of the tests, which has them in the
same versions, and those of the system are those of this machine.
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
    """One FROM: its base, what later instructions set, and the directory that stands for its root."""

    base: str
    root: Path
    workdir: str = "/"
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)


class Build:
    """Carries out the instructions of a Dockerfile. `stages[-1]` is the image."""

    def __init__(self, context: Path, directory: Path) -> None:
        self.context, self.directory = context, directory
        self.names: dict[str, Stage] = {}
        self.stages: list[Stage] = []
        steps = {"FROM": self.base, "WORKDIR": self.workdir, "ENV": self.env, "COPY": self.copy, "RUN": self.run}
        for name, value in instructions((context / "Dockerfile").read_text()):
            if name in steps:
                steps[name](value)
            else:
                assert name in ("USER", "VOLUME", "EXPOSE", "HEALTHCHECK", "CMD"), f"{name} is not carried out here"
                self.stages[-1].settings[name] = value

    def base(self, value: str) -> None:
        base, _, name = value.partition(" AS ")
        root = self.directory / f"stage-{len(self.stages)}"
        programs = root / "usr/bin"
        programs.mkdir(parents=True)
        (programs / "python").symlink_to(Path(sys.base_prefix) / "bin/python3")  # the one that the base image has
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
        command = re.sub(r"--(owner|group)=\d+ ", "", command)  # giving away files is for root alone
        kept = {name: os.environ[name] for name in ("TMPDIR", "LANG") if name in os.environ}
        done = subprocess.run(
            ["/bin/sh", "-ec", command], cwd=stage.root / stage.workdir.lstrip("/"), text=True,
            env=kept | stage.environment, capture_output=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, f"RUN {command} failed:\n{done.stdout}{done.stderr}"


def instructions(text: str) -> list[tuple[str, str]]:
    """(instruction, arguments), continued lines joined, comments left out."""
    kept = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    logical = [re.sub(r"\s*\\\n\s*", " ", each) for each in re.split(r"(?<!\\)\n", kept) if each.strip()]
    return [(name, rest.strip()) for name, _, rest in (line.partition(" ") for line in logical)]


def inside(stage: Stage, text: str) -> str:
    """Every path of the image below the stage's directory."""
    return re.sub(rf"(?<![\w/.])({'|'.join(_OURS)})(?![\w-])", rf"{stage.root}\1", text)


def exec_form(value: str) -> list[str]:
    """The arguments of a CMD in exec form."""
    return json.loads(value[value.index("[") :])


def adapt_paths(place: Path, before: Path, after: Path) -> None:
    """Scripts of an environment name its interpreter by its path, which stays the same in an image, but not here."""
    for script in place.glob("bin/*"):
        if script.is_file() and not script.is_symlink():
            content = script.read_bytes()
            script.write_bytes(content.replace(str(before).encode(), str(after).encode()))


def locked(lock: Path) -> dict[str, str]:
    """The name and version of each package that a lock file asks for on this machine, and its hashes."""
    found = {}
    for line in lock.read_text().replace(" \\\n", " ").splitlines():
        wanted, *hashes = line.split(" --hash=")
        if hashes:
            requirement = Requirement(wanted)
            if requirement.marker is None or requirement.marker.evaluate():
                found[f"{requirement.name}{requirement.specifier}"] = " ".join(sorted(hashes))
    return found


def install(lock: Path, environment: Path) -> None:
    """What a lock file asks for, and nothing else, as links to what is installed here."""
    for pinned in locked(lock):
        name, _, version = pinned.partition("==")
        installed = distribution(name)
        assert installed.version == version, f"{name} is {installed.version} here, and {version} in the image"
        assert installed.files is not None
        sources = [Path(os.path.normpath(str(file.locate()))) for file in installed.files]
        # What Python has compiled since belongs to them, as pip would compile it in the image.
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
    """The files below `source` that .dockerignore lets into the build, relative to the context."""
    patterns = [
        line for line in (context / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")
    ]
    found = [context / source] if (context / source).is_file() else _files_below(context / source, context, patterns)
    files = [path.relative_to(context) for path in found]
    let_in = [path for path in files if not ignored(PurePosixPath(path), patterns)]
    assert let_in, f"COPY {source} copies nothing"
    return sorted(let_in)


def _files_below(directory: Path, context: Path, patterns: list[str]) -> Iterator[Path]:
    """But those in folders of which nothing is let in, which are large."""
    for path in directory.iterdir():
        if path.is_file():
            yield path
        elif path.is_dir() and not path.is_symlink():
            name = path.relative_to(context)
            if not ignored(PurePosixPath(name), patterns) or any(each.startswith(f"!{name}/") for each in patterns):
                yield from _files_below(path, context, patterns)


def ignored(path: PurePosixPath, patterns: list[str]) -> bool:
    """As .dockerignore is read: the last pattern that matches the path, or a folder above it, decides."""
    names = [str(each) for each in (path, *path.parents) if str(each) != "."]
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
