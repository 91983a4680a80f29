"""A package made of the system's headers, to test basin's recipe without a Conan server:
conan create tests/package/standin --name=xsimd --version=13.2.0"""
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.files import copy


class StandinConan(ConanFile):
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    # folder of headers, CMake's file, CMake's target: those of the real packages
    _known = {"xsimd": ("xsimd", "xsimd", "xsimd"), "eigen": ("Eigen", "Eigen3", "Eigen3::Eigen")}

    def package_id(self):
        self.info.clear()

    def package(self):
        folder = self._known[self.name][0]
        for root in ("/usr/include", "/usr/include/eigen3", "/usr/local/include", "/usr/local/include/eigen3"):
            if os.path.isdir(os.path.join(root, folder)):
                copy(self, f"{folder}/*", root, os.path.join(self.package_folder, "include"))
                return
        raise ConanException(f"no headers of {self.name} in the system's folders")

    def package_info(self):
        _, file, target = self._known[self.name]
        self.cpp_info.set_property("cmake_file_name", file)
        self.cpp_info.set_property("cmake_target_name", target)
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
