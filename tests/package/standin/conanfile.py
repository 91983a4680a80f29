"""A package made of the system's headers, to test basin's recipe without a Conan server:
conan create tests/package/standin --name=xsimd --version=13.2.0"""
import os

from conan import ConanFile
from conan.errors import ConanException
from conan.tools.files import copy


class StandinConan(ConanFile):
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    # folder of headers, CMake's file, CMake's target, component and folder of includes: those of the real packages
    _known = {"xsimd": ("xsimd", "xsimd", "xsimd", None, "include"),
              "eigen": ("Eigen", "Eigen3", "Eigen3::Eigen", "eigen3", "include/eigen3")}

    def package_id(self):
        self.info.clear()

    def package(self):
        folder, *_, includes = self._known[self.name]
        for root in ("/usr/include", "/usr/include/eigen3", "/usr/local/include", "/usr/local/include/eigen3"):
            if os.path.isdir(os.path.join(root, folder)):
                copy(self, f"{folder}/*", root, os.path.join(self.package_folder, includes))
                return
        raise ConanException(f"no headers of {self.name} in the system's folders")

    def package_info(self):
        _, file, target, component, includes = self._known[self.name]
        self.cpp_info.set_property("cmake_file_name", file)
        info = self.cpp_info.components[component] if component else self.cpp_info
        info.set_property("cmake_target_name", target)
        info.includedirs = [includes]
        info.bindirs = info.libdirs = []
