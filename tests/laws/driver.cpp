// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "laws.hpp"
#include "shrink.hpp"

#include <doctest/doctest.h>

#include <cstdio>

namespace laws {
namespace {

/// Says at the end of the program how many cases ran; CTest runs one law per process, and sees that law's count.
struct tally {
    long long cases = 0;
    ~tally() {
        if (cases > 0) std::printf("laws: %lld random cases ran\n", cases);
    }
};
tally& counted() {
    static tally t;
    return t;
}

std::string attempt(law holds, law_case const& c, runner const& r) {
    try {
        return holds(c, r);
    } catch (error const& e) {
        return std::string("threw: ") + e.what();
    }
}

} // namespace

std::vector<runner> const& all_runners() {
    static std::vector<runner> const list = [] {
        std::vector<runner> result = reference_runners();
        for (auto const& more : {eigen_runners(), simd_runners()})
            result.insert(result.end(), more.begin(), more.end());
        return result;
    }();
    return list;
}

std::string try_law(std::string const& name, law_case const& c, std::string const& runner_name) {
    for (auto const* const laws : {&attention_laws(), &policy_laws()})
        for (named_law const& l : *laws)
            for (runner const& r : all_runners())
                if (l.name == name && r.name == runner_name) return attempt(l.holds, c, r);
    return "there is no law or runner of that name";
}

void run_law(named_law const& l, runner const& r, long cases) {
    std::uint64_t seed = 0; // from the law's name: each law has cases of its own, the same in every run
    for (char const* letter = l.name; *letter != '\0'; ++letter)
        seed = testing::mixed(seed + static_cast<unsigned char>(*letter));
    for (long i = 0; i < cases; ++i) {
        law_case const c = random_case(seed + static_cast<std::uint64_t>(i));
        ++counted().cases;
        if (attempt(l.holds, c, r).empty()) continue;
        law_case const small = shrink(c, [&](law_case const& tried) { return !attempt(l.holds, tried, r).empty(); });
        FAIL_CHECK(std::string(l.name) << ", " << std::string(r.name) << ", case " << i << ": "
                                       << attempt(l.holds, small, r) << "\n"
                                       << text(small, l.name, r.name));
        return; // one failure per law and backend is enough to read
    }
}

} // namespace laws
