import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class TestPackageConan(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    test_type = "explicit"

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires(self.tested_reference_str)

    def generate(self):
        options = self.dependencies["basin"].options
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["WITH_EIGEN"] = bool(options.with_eigen)
        toolchain.cache_variables["WITH_XSIMD"] = bool(options.with_xsimd)
        toolchain.cache_variables["WITH_SYCL"] = bool(options.with_sycl)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "test_package"), env="conanrun")
