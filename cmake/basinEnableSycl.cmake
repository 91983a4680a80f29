# basin_enable_sycl(<target> [FLOW <flow>]): the sources of an executable or library of yours may use sycl_backend.
# AdaptiveCpp then compiles and links all of them, so a target that needs SYCL in one file is best a target of its own.
#   no FLOW        what AdaptiveCpp was told (ACPP_TARGETS), by default `generic`: compiled for the device when it runs
#   generic, omp.accelerated, ...    a flow of AdaptiveCpp, see its --acpp-targets
#   library-only   your own compiler, without AdaptiveCpp's: slow barriers, but sanitizers work
# With another SYCL 2020 compiler, link basin::sycl and use that compiler's flags instead.
function(basin_enable_sycl target)
    cmake_parse_arguments(arg "" "FLOW" "" ${ARGN})
    # Here, because its targets and variables belong to the folder that finds it: where basin is a subfolder, not this one.
    find_package(AdaptiveCpp QUIET)
    if(NOT AdaptiveCpp_FOUND)
        message(FATAL_ERROR "basin_enable_sycl(${target}): AdaptiveCpp was not found: install it and set AdaptiveCpp_DIR, see docs/sycl.md")
    endif()
    target_link_libraries(${target} PRIVATE basin::sycl)
    if(arg_FLOW STREQUAL "library-only")
        find_package(OpenMP REQUIRED COMPONENTS CXX)
        find_package(Boost REQUIRED COMPONENTS context fiber)
        target_link_libraries(${target} PRIVATE AdaptiveCpp::acpp-rt AdaptiveCpp::acpp-common Boost::context Boost::fiber
                                                OpenMP::OpenMP_CXX)
        # Without the third, programs link and then abort.
        target_compile_definitions(${target} PRIVATE __ADAPTIVECPP__ __ACPP__ __ACPP_ENABLE_OMPHOST_TARGET__
                                                     _ENABLE_EXTENDED_ALIGNED_STORAGE)
    else()
        if(arg_FLOW)
            string(APPEND ACPP_COMPILER_LAUNCH_RULE " --acpp-targets=${arg_FLOW}")
        endif()
        get_target_property(sources ${target} SOURCES)
        add_sycl_to_target(TARGET ${target} SOURCES ${sources})
    endif()
endfunction()
