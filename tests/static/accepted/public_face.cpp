// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <vector>

// The calls that the design promises, as they are written there.
void run(basin::buffer<float, 4> const& q, basin::buffer<float, 4> const& k, basin::buffer<float, 4> const& v,
         basin::buffer<float, 4>& out) {
    auto const policy = basin::any_of(basin::window{.before = 16, .after = 16}, basin::prefix{4});
    basin::attention(basin::reference_backend{}, q, k, v, out, policy);

    basin::buffer<float, 3> mass({1, 2, 3}), spread({1, 2, 3});
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::full{}, basin::received{mass},
                     basin::entropy{spread});

    struct same_parity {
        constexpr bool visible(basin::site s) const { return (s.query ^ s.key) % 2 == 0; }
    };
    auto const mine = basin::all_of(same_parity{}, basin::causal{}, basin::softcap{30.f});
    basin::attention(basin::reference_backend{}, q, k, v, out, mine);

    std::vector<basin::index_t> const lengths{3};
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::sink_masked{{3, {0}}},
                     basin::options{.scale = 0.5, .lengths = lengths}, basin::accumulate(basin::received{mass}));
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::sink_token{{0, 2}, basin::window{4, 4}, true});
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::sink_logit{{0.5, -1.0}});
    basin::observe(basin::reference_backend{}, q, k, spread, basin::full{}, basin::received{mass});
}
