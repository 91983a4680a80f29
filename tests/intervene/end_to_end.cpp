// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/backends.hpp>

#include <basin/detect.hpp>
#include <basin/intervene.hpp>
#include <basin/measure.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace basin;

// The first paper's experiment from q, k and v on: definition, sweep of epsilon, masking of the top 1, 5, 10 with lag, and the
// control of equal size that it does not have.
namespace {

constexpr index_t head_count = 3, tokens = 96, channels = 8, steps = 5;

struct model {
    buffer<float, 4> q{1, head_count, tokens, channels}, k{1, head_count, tokens, channels},
        v{1, head_count, tokens, channels}, out{1, head_count, tokens, channels};
    /// Sinks of falling strength at keys 0, 7, 14, ...: as many as 14 are there, drifting by a token each step.
    void at(index_t step) {
        counter_random const random{5};
        for (index_t h = 0; h < head_count; ++h)
            for (index_t i = 0; i < tokens; ++i)
                for (index_t c = 0; c < channels; ++c) {
                    double const pull = i >= step && (i - step) % 7 == 0 ? 1.0 - 0.004 * (i - step) : 0;
                    q(0, h, i, c) = static_cast<float>(1 + 0.2 * random.normal(h, i, c, 1));
                    k(0, h, i, c) = static_cast<float>(pull + 0.1 * random.normal(h, i, c, 2));
                    v(0, h, i, c) = static_cast<float>(random.normal(h, i, c, 3));
                }
    }
};

} // namespace

TEST_CASE("the first paper's experiment, end to end on real maps") {
    using Backend =
#if defined(BASIN_TEST_SIMD_BACKEND)
        simd_backend;
#else
        reference_backend;
#endif
    model m;
    m.at(0);
    buffer<float, 3> mass(1, head_count, tokens);
    attention(Backend{}, m.q, m.k, m.v, m.out, full{}, received{mass});

    // The definition, literally: c_j against the mean of the others.
    auto const found = detect(Backend{}, evidence{mass}, exceeds_others{});
    index_t sinks = 0;
    for (index_t h = 0; h < head_count; ++h)
        for (index_t j = 0; j < tokens; ++j) {
            double others = 0;
            for (index_t k = 0; k < tokens; ++k) others += k == j ? 0 : static_cast<double>(mass(0, h, k));
            bool const is = static_cast<double>(mass(0, h, j)) > others / (tokens - 1) + 3;
            CHECK(found.keys().contains(0, h, j) == is);
            sinks += is ? 1 : 0;
        }
    CHECK(sinks > 5 * head_count);

    // The sweep of the paper: from "many" to "none", never up.
    std::vector<double> thresholds;
    for (int i = 0; i <= 40; ++i) thresholds.push_back(0.25 * i);
    auto const curve = sweep(evidence{mass}, exceeds_others{}, thresholds);
    for (std::size_t i = 1; i < curve.sinks.size(); ++i) CHECK(curve.sinks[i] <= curve.sinks[i - 1]);
    CHECK(curve.sinks[12] == sinks); // epsilon = 3
    CHECK(curve.filtered(0) < 0.9);

    for (index_t const k : {1, 5, 10}) {
        std::vector<index_t> budget; // of the sinks, for the control to meet
        for (bool const control : {false, true}) {
            lag memory{{.map = detect_on::unmasked_map}};
            for (index_t step = 0; step < steps; ++step) {
                m.at(step);
                key_set hidden;
                if (step > 0) hidden = memory.of(step, 0);
                auto const done = attention_lagged(Backend{}, m.q, m.k, m.v, m.out, full{}, exceeds_others{}, memory,
                                                   step, 0, [&](detection const& d) {
                                                       auto const top = strongest(d, k);
                                                       return control ? random_keys(d, top, 9) : top;
                                                   });
                if (control)
                    CHECK(done.killed == budget[static_cast<std::size_t>(step)]);
                else
                    budget.push_back(done.killed);
                CHECK(done.killed <= k * head_count);
                CHECK((step == 0) == (done.killed == 0));
                if (step > 0 && k <= 5) CHECK(done.killed == k * head_count); // there are more sinks than that
                if (step == 0) continue;
                // what was hidden is what the last step chose, and its mass went to the others
                buffer<float, 3> after(1, head_count, tokens);
                attention(Backend{}, m.q, m.k, m.v, m.out, sink_masked{hidden}, received{after});
                auto const left = absorption(after, hidden);
                for (index_t h = 0; h < head_count; ++h) CHECK(left(0, h) == 0);
                attention(Backend{}, m.q, m.k, m.v, m.out, full{}, received{mass});
                auto const before = absorption(mass, done.found.keys()), now = absorption(after, done.found.keys());
                bool const apart =
                    common(hidden, done.found.keys()).count() == 0; // a control may become a sink within the step
                for (index_t h = 0; h < head_count && control && apart; ++h)
                    CHECK(now(0, h) > before(0, h)); // sinks get what others lose
            }
        }
    }
}
