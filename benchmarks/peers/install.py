# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Installs the rivals from PyPI into the environment it runs in, without gigabytes of CUDA where that is possible.

PyTorch's build on PyPI is linked against CUDA; it is installed without its dependencies, and only those libraries that
it cannot be loaded without are added, one by one. A torch that is already in the environment is taken as it is.
"""
import re
import subprocess
import sys

PLAIN = ["numpy", "matplotlib", "onnx", "onnxruntime", "openvino"]
TORCH_NEEDS = ["setuptools", "typing_extensions", "sympy", "networkx", "jinja2", "filelock", "fsspec"]

# A missing library, or the prefix of a missing symbol, and the package that has it.
CUDA = {
    "libcudart": "nvidia-cuda-runtime", "libcupti": "nvidia-cuda-cupti", "libnvrtc": "nvidia-cuda-nvrtc",
    "libcublas": "nvidia-cublas", "libcufft": "nvidia-cufft", "libcufile": "nvidia-cufile",
    "libcusolver": "nvidia-cusolver", "libcusparseLt": "nvidia-cusparselt", "libcusparse": "nvidia-cusparse",
    "libcurand": "nvidia-curand", "libcudnn": "nvidia-cudnn", "libnccl": "nvidia-nccl",
    "libnvshmem": "nvidia-nvshmem", "libnvJitLink": "nvidia-nvjitlink", "libnvToolsExt": "nvidia-nvtx",
}


def pip(*words):
    """What pip says is shown only if it fails: it complains about dependencies left out on purpose."""
    run = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *words],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"pip install {' '.join(words)} failed:\n{run.stderr}")


def torch_problem():
    """The last line of what importing torch says, or nothing."""
    run = subprocess.run([sys.executable, "-c", "import torch; torch.ones(2) @ torch.ones(2)"], capture_output=True,
                         text=True, check=False)
    return "" if run.returncode == 0 else run.stderr.strip().splitlines()[-1]


def package_for(problem):
    missing = re.search(r"(lib\w+)\.so[.\d]*: cannot open shared object", problem)
    if missing:
        names = [n for n in CUDA if missing.group(1).startswith(n)]
    else: # a library of the system's own CUDA that is too old
        symbol = re.search(r"undefined symbol: (\w+)", problem)
        names = [n for n in CUDA if symbol and symbol.group(1).startswith(n.removeprefix("lib"))]
    if not names:
        raise SystemExit(f"torch cannot be imported: {problem}")
    name = CUDA[max(names, key=len)]
    # torch names some of them with the version of CUDA, and pins them.
    from importlib.metadata import requires
    for line in requires("torch") or []:
        pinned = re.match(rf"({re.escape(name)}(?:-cu\d+)?)(==[\d.]+)?\s*(;|$)", line)
        if pinned:
            return pinned.group(1) + (pinned.group(2) or "")
    return name


def main():
    if torch_problem():
        pip("torch", "--no-deps")
        pip("--upgrade", *TORCH_NEEDS)
    tried = set()
    while problem := torch_problem():
        package = package_for(problem)
        if package in tried:
            raise SystemExit(f"torch cannot be imported, even with {package}: {problem}")
        tried.add(package)
        print(f"torch needs {package} to be loaded", flush=True)
        pip("--no-deps", package)
    pip(*PLAIN)


if __name__ == "__main__":
    main()
