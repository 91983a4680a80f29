// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/basin.hpp>
#include <basin/testing/sample.hpp>

namespace basin_test {

using namespace basin;

/// Attention by the reference, to compare with.
struct expected {
    testing::sample<float> x;
    buffer<float, 4> out;
    buffer<float, 3> mass;
    static constexpr auto policy = causal{} & softcap{5};

    explicit expected(testing::check_options const& o)
        : x(o), out(o.batch, o.heads, o.queries, o.value_channels), mass(o.batch, o.heads, o.keys) {
        attention(reference_backend{}, x.q, x.k, x.v, out, policy, received{mass});
    }
    template <class Out, class Mass>
    bool near(Out const& got, Mass const& got_mass) const {
        bool same = true;
        for (std::ptrdiff_t i = 0; i < out.size(); ++i)
            same = same && testing::close(static_cast<double>(got.data()[i]), static_cast<double>(out.data()[i]), 1e-5);
        for (std::ptrdiff_t i = 0; i < mass.size(); ++i)
            same = same &&
                   testing::close(static_cast<double>(got_mass.data()[i]), static_cast<double>(mass.data()[i]), 1e-5);
        return same;
    }
};
inline testing::check_options small() {
    testing::check_options o;
    o.queries = o.keys = 70;
    return o;
}

} // namespace basin_test
