// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "policies.hpp"

// Gradients of every backend against central differences of the reference's loss, in double.

using namespace basin_test;

namespace {

/// The slope of `loss` along x, of fourth order: exact to about 1e-11.
template <class Loss>
double slope_of(double& x, Loss const& loss) {
    double const before = x, h = 1e-3;
    auto const at = [&](double step) {
        x = before + step;
        double const y = loss();
        x = before;
        return y;
    };
    double const near = at(h) - at(-h), far = at(2 * h) - at(-2 * h);
    return (8 * near - far) / (12 * h);
}

struct slopes {
    std::vector<double> q, k, v;
    std::vector<std::vector<double>> learned;
};

std::string differ(std::string const& name, std::vector<double> const& got, std::vector<double> const& want) {
    double largest = 1e-2;
    for (double const x : want) largest = std::max(largest, std::abs(x));
    return difference(name.c_str(), got, want, [&](std::size_t) { return 1e-7 * largest; });
}

/// make(workshop) gives the policy; called again whenever a parameter has changed.
template <bool Weighs, class Make>
void check_gradients(shape const& s, std::uint64_t seed, bool terms, std::string const& what, Make const& make) {
    training<double> t(s, seed);
    parameters owned;
    auto const policy = [&]() -> any_policy<double, Weighs> {
        workshop w{s, owned, 0, seed};
        return make(w);
    };
    auto const loss = [&] {
        run_forward(t, policy());
        return t.loss(terms);
    };
    loss(); // makes the parameters
    slopes want;
    t.q.for_each([&](double& x) { want.q.push_back(slope_of(x, loss)); });
    t.k.for_each([&](double& x) { want.k.push_back(slope_of(x, loss)); });
    t.v.for_each([&](double& x) { want.v.push_back(slope_of(x, loss)); });
    for (trained& p : owned) {
        want.learned.emplace_back();
        for (double& x : p.value) want.learned.back().push_back(slope_of(x, loss));
    }
    loss();
    for (auto const& [backend, run] : backward_runs<double, Weighs>()) {
        t.blank_gradients();
        for (trained& p : owned) p.gradient.assign(p.gradient.size(), 0);
        run(t, policy(), terms);
        std::vector<std::string> words = {differ("d_q", t.d_q.numbers(), want.q),
                                          differ("d_k", t.d_k.numbers(), want.k),
                                          differ("d_v", t.d_v.numbers(), want.v)};
        for (std::size_t i = 0; i < owned.size(); ++i)
            words.push_back(differ("gradient of " + owned[i].name, owned[i].gradient, want.learned[i]));
        if (!(t.d_q.intact() && t.d_k.intact() && t.d_v.intact()))
            words.emplace_back("something was written between the elements");
        for (std::string const& w : words)
            if (!w.empty())
                FAIL_CHECK(std::string(backend)
                           << ", " << what << std::string(terms ? ", all terms, " : ", ") << s.text() << ": " << w);
    }
    CHECK(!backward_runs<double, Weighs>().empty());
}

} // namespace

TEST_CASE("every policy and parameter on every shape") {
    std::uint64_t seed = 1;
    for (auto const& maker : makers<double>())
        for (shape const& s : backward_shapes()) {
            ++seed;
            check_gradients<false>(s, seed, seed % 2 == 0, maker.name, maker.make);
        }
}

TEST_CASE("every policy with changed weights and values") {
    auto const shapes = backward_shapes();
    std::uint64_t seed = 1000;
    for (auto const& maker : makers<double>())
        for (int kind = 0; kind < 3; ++kind) {
            ++seed;
            check_gradients<true>(shapes[seed % shapes.size()], seed, seed % 2 == 0, maker.name,
                                  [&](workshop& w) { return weighed<double>(w, maker.make(w), kind); });
        }
}

TEST_CASE("policies put together at random, three levels deep") {
    auto const shapes = backward_shapes();
    for (std::uint64_t seed = 2000; seed < 2120; ++seed) {
        int const depth = 1 + static_cast<int>(seed % 3);
        std::string const what = "random policy " + std::to_string(seed);
        auto const make = [&](workshop& w) {
            random_numbers random{seed};
            return random_policy<double>(w, random, depth);
        };
        shape const& s = shapes[seed % shapes.size()];
        if (seed % 4 == 0)
            check_gradients<true>(s, seed, true, what,
                                  [&](workshop& w) { return weighed<double>(w, make(w), static_cast<int>(seed % 3)); });
        else
            check_gradients<false>(s, seed, seed % 2 == 0, what, make);
    }
}
