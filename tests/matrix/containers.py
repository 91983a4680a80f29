"""Folders with a compiler, its libraries and our dependencies, made of Debian packages that are unpacked, not installed.

The mirror is the one that this machine's apt uses; lists, cache and status are folders of our own, so nothing of the
system is touched and no root is needed."""
import os
import pathlib
import re
import subprocess
import time

DEPENDENCIES = {"xsimd": "libxsimd-dev", "xtensor": "libxtensor-dev", "Eigen": "libeigen3-dev", "doctest": "doctest-dev"}


def output(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def mirror_and_suite():
    """Where this machine gets its packages, and the name of its release."""
    for line in output(["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(COMPONENT) $(ORIGIN)",
                        "Created-By: Packages"]).splitlines():
        site, codename, component, origin = (line.split() + [""] * 4)[:4]
        if component == "main" and origin == "Debian" and re.fullmatch(r"[a-z]+", codename):
            return site, codename
    raise SystemExit("this machine's apt names no Debian mirror: the matrix runs on Debian")


class Suite:
    """One release of Debian, as far as apt is concerned."""

    def __init__(self, work, mirror, name):
        self.name, self.home = name, work / "apt" / name
        for folder in ("lists/partial", "cache/archives/partial", "empty/partial"):
            (self.home / folder).mkdir(parents=True, exist_ok=True)
        (self.home / "status").write_text("")
        (self.home / "sources.list").write_text(f"deb {mirror} {name} main\n")
        (self.home / "apt.conf").write_text(
            f'Dir::State "{self.home}"; Dir::State::Lists "{self.home}/lists"; Dir::State::status "{self.home}/status";\n'
            f'Dir::Cache "{self.home}/cache"; Dir::Etc::sourcelist "{self.home}/sources.list";\n'
            'Dir::Etc::sourceparts "/dev/null"; APT::Sandbox::User ""; APT::Install-Recommends "false";\n')
        self.environment = {**os.environ, "APT_CONFIG": str(self.home / "apt.conf"), "LC_ALL": "C"}
        updated = self.home / "updated"
        if not updated.exists() or time.time() - updated.stat().st_mtime > 86400:
            self.apt("apt-get", "update", "-qq")
            updated.touch()
        self.versions = {}

    def apt(self, *words):
        return output(words, env=self.environment)

    def look_up(self, packages):
        """Remembers the versions of packages, without Debian's own numbers."""
        for line in self.apt("apt-cache", "madison", *packages).splitlines():
            package, number = [word.strip() for word in line.split("|")[:2]]
            self.versions.setdefault(package, re.match(r"(?:\d+:)?([\d.]+\d)", number)[1])

    def version(self, package):
        """Of a package that was looked up; None if there is none."""
        return self.versions.get(package)

    def folder(self, name, packages, alone=False):
        """Unpacks packages with all that they need (or alone) into a folder, once."""
        root = self.home.parent.parent / "containers" / name
        if (root / "complete").exists():
            return root
        for link in ("bin", "sbin", "lib", "lib64"): # as every Debian has them now; older packages do not bring them
            (root / "usr" / link).mkdir(parents=True, exist_ok=True)
            if not (root / link).is_symlink():
                (root / link).symlink_to("usr/" + link)
        (root / "tmp").mkdir(exist_ok=True)
        # With an empty cache: apt names only what it would download.
        uris = self.apt("apt-get", "-o", f"Dir::Cache::archives={self.home}/empty", "install", "--print-uris", "-qq", "-y",
                        *packages)
        wanted = [line.split()[1] for line in uris.splitlines() if line.startswith("'")]
        self.apt("apt-get", "install", "--download-only", "-qq", "-y", *packages)
        for file in wanted:
            if alone and file.split("_")[0] not in packages:
                continue
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", self.home / "cache/archives" / file],
                                  stdout=subprocess.PIPE) as archive:
                subprocess.run(["tar", "-x", "--keep-directory-symlink", "--no-same-owner", "-C", root],
                               stdin=archive.stdout, check=True)
        (root / "complete").touch()
        return root


def inside(root, command, **options):
    """Runs a command in a folder as if it were the whole system."""
    enter = ["chroot"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/tmp", "TMPDIR": "/tmp"}
    return subprocess.run([*enter, str(root), *command], capture_output=True, text=True, env=environment, **options)


def give(root, source, name):
    """A copy of a folder inside of another."""
    target = pathlib.Path(root) / "source" / name
    target.parent.mkdir(exist_ok=True)
    subprocess.run(["rm", "-rf", target], check=True)
    subprocess.run(["cp", "-r", source, target], check=True)
