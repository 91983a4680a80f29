import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.0"


class BasinConan(ConanFile):
    name = "basin"
    description = "Attention for diffusion language models, with attention sinks as first-class citizens"
    license = "MIT"
    topics = ("attention", "diffusion", "language-model", "simd", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    # with_sycl brings no package: a SYCL compiler (AdaptiveCpp, ...) is the user's toolchain.
    options = {"with_eigen": [True, False], "with_xsimd": [True, False], "with_sycl": [True, False]}
    default_options = {"with_eigen": True, "with_xsimd": True, "with_sycl": False}
    exports_sources = "include/*", "cmake/*", "LICENSE"
    no_copy_source = True
    test_package_folder = "tests/package"

    # The oldest compilers that the tests run on.
    _oldest = {"gcc": "12", "clang": "13"}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "include", "basin", "version.hpp"))
        self.version = ".".join(re.search(rf"BASIN_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))

    def layout(self):
        basic_layout(self, src_folder=".")

    def requirements(self):
        # Ranges, so that a project on one of these versions need not leave it; all of them are in Conan Center.
        if self.options.with_eigen:
            self.requires("eigen/[>=3.4.0 <6]")
        if self.options.with_xsimd:
            self.requires("xsimd/[>=13.0.0 <15]")

    def package_id(self):
        self.info.clear()

    def validate(self):
        if self.settings.get_safe("compiler.cppstd"):
            try:
                check_min_cppstd(self, 20)
            except ConanInvalidConfiguration as error:
                raise ConanInvalidConfiguration(
                    "basin needs C++20: set compiler.cppstd=20 or newer in the profile, or pass "
                    "-s compiler.cppstd=20") from error
        compiler = str(self.settings.compiler)
        oldest = self._oldest.get(compiler)
        if oldest and Version(self.settings.compiler.version) < oldest:
            raise ConanInvalidConfiguration(
                f"basin needs {compiler} {oldest} or newer, the profile has {self.settings.compiler.version}: "
                "choose another compiler or profile")

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))
        copy(self, "*.cmake", os.path.join(self.source_folder, "cmake"), os.path.join(self.package_folder, "cmake"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "basin")
        # The headers are those of the core; the other components add their dependency.
        core = self.cpp_info.components["basin"]
        core.set_property("cmake_target_name", "basin::basin")
        core.set_property("pkg_config_name", "basin")
        core.bindirs = core.libdirs = []
        backends = {"eigen": ["eigen::eigen"]} if self.options.with_eigen else {}
        if self.options.with_xsimd:
            backends["simd"] = ["xsimd::xsimd"]
        if self.options.with_sycl:
            backends["sycl"] = []
            # The function basin_enable_sycl, as find_package gives it.
            self.cpp_info.set_property("cmake_build_modules", [os.path.join("cmake", "basinEnableSycl.cmake")])
        for name, dependencies in backends.items():
            backend = self.cpp_info.components[name]
            backend.set_property("cmake_target_name", f"basin::{name}")
            backend.requires = ["basin", *dependencies]
            backend.includedirs = backend.bindirs = backend.libdirs = []
            if self.settings.os in ("Linux", "FreeBSD"):
                backend.system_libs = ["pthread"]
