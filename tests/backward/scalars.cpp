// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "policies.hpp"

// Float, half and bfloat16 against the reference in double on the same numbers.

using namespace basin_test;

namespace {

/// What a gradient may be off, relative to the largest of its array. The output of 16-bit calls is rounded, and d_out . out
/// with it.
template <class T>
constexpr double allowed = 3e-5;
template <>
constexpr double allowed<basin::half> = 3e-3;
template <>
constexpr double allowed<basin::bfloat16> = 2e-2;

std::string differ(std::string const& name, std::vector<double> const& got, std::vector<double> const& want,
                   double tolerance) {
    double largest = 0.1;
    for (double const x : want) largest = std::max(largest, std::abs(x));
    return difference(name.c_str(), got, want, [&](std::size_t) { return tolerance * largest; });
}

template <class T>
void check(shape const& s, std::uint64_t seed, named_maker<double> const& in_double,
           named_maker<float> const& in_float) {
    bool const terms = seed % 2 == 0;
    training<T> t(s, seed);
    training<double> exact(s, seed);
    auto const copy = [](auto const& from, auto const& to) {
        std::vector<double> const numbers = from.numbers();
        std::size_t i = 0;
        to.for_each([&](double& x) { x = numbers[i++]; });
    };
    copy(t.q, exact.q), copy(t.k, exact.k), copy(t.v, exact.v), copy(t.d_out, exact.d_out), copy(t.d_lse, exact.d_lse);
    copy(t.d_received, exact.d_received), copy(t.d_entropy, exact.d_entropy);
    parameters owned, owned_exact;
    workshop w{s, owned, 0, seed}, w_exact{s, owned_exact, 0, seed};
    auto const policy = in_float.make(w);
    auto const policy_exact = in_double.make(w_exact);
    run_forward(exact, policy_exact);
    exact.blank_gradients();
    backward_runs<double, false>().front().run(exact, policy_exact, terms);
    run_forward(t, policy);
    for (auto const& [backend, run] : backward_runs<T, false>()) {
        t.blank_gradients();
        for (trained& p : owned) p.gradient.assign(p.gradient.size(), 0);
        run(t, policy, terms);
        std::vector<std::string> words = {differ("d_q", t.d_q.numbers(), exact.d_q.numbers(), allowed<T>),
                                          differ("d_k", t.d_k.numbers(), exact.d_k.numbers(), allowed<T>),
                                          differ("d_v", t.d_v.numbers(), exact.d_v.numbers(), allowed<T>)};
        for (std::size_t i = 0; i < owned.size(); ++i)
            words.push_back(
                differ("gradient of " + owned[i].name, owned[i].gradient, owned_exact[i].gradient, allowed<T>));
        for (std::string const& word : words)
            if (!word.empty())
                FAIL_CHECK(std::string(backend)
                           << ", " << std::string(name_of<T>) << ", " << std::string(in_float.name)
                           << std::string(terms ? ", all terms, " : ", ") << s.text() << ": " << word);
    }
    CHECK(!backward_runs<T, false>().empty());
}

} // namespace

TEST_CASE("float and 16-bit arrays give the gradients of double") {
    auto shapes = backward_shapes();
    shapes.push_back({.queries = 67, .keys = 131, .heads = 4, .kv_heads = 2, .channels = 24, .values = 17});
    std::uint64_t seed = 3000;
    for (std::size_t i = 0; i < makers<double>().size(); ++i)
        for (int turn = 0; turn < 3; ++turn) {
            shape const& s = turn == 0 ? shapes.back() : shapes[++seed % shapes.size()];
#if defined(BASIN_TEST_REDUCED)
            // One of the three, rarely the large one: sanitizers take minutes for what takes a second.
            if (turn != (i % 8 == 0 ? 0 : 1)) continue;
#endif
            check<float>(s, seed + i, makers<double>()[i], makers<float>()[i]);
            check<basin::half>(s, seed + i, makers<double>()[i], makers<float>()[i]);
            check<basin::bfloat16>(s, seed + i, makers<double>()[i], makers<float>()[i]);
        }
}
