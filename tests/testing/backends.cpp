// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>
#include <basin/testing/laws.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace basin;

/// Runs the reference, then spoils something that a contract is about.
template <int Fault>
struct spoiled_backend {
    template <class Task>
    void run(Task const& task) const {
        reference_backend{}.run(task);
        if (task.observing || task.out.size() == 0) return;
        auto& first = task.out(0, 0, 0, 0);
        using T = typename Task::scalar_type;
        if (Fault == 0)
            first = static_cast<T>(static_cast<typename Task::accumulation>(first) + 0.5F); // wrong by a little
        if (Fault == 1 && task.q.extent(2) == 1)
            first = static_cast<T>(static_cast<typename Task::accumulation>(first) *
                                   1.0000005F);        // depends on the number of rows
        if (Fault == 2 && first != first) first = T{}; // swallows NaN
    }
};

TEST_CASE("faulty backends are found") {
    testing::check_options o;
    auto const says = [](testing::report const& r, char const* words) {
        CHECK_FALSE(r.ok());
        CHECK_MESSAGE(r.text().find(words) != std::string::npos, r.text());
    };
    says(testing::check_backend(spoiled_backend<0>{}, o, 8), "out at (0, 0, 0, 0) is");
    says(testing::check_backend(spoiled_backend<1>{}, o, 8), "a row does not depend on the other rows, to the bit");
    says(testing::check_backend(spoiled_backend<2>{}, o, 8), "a sink logit of NaN makes its head NaN");
}

TEST_CASE("the reference passes its own laws") {
    auto const r = testing::check_backend(reference_backend{}, {}, 8);
    CHECK_MESSAGE(r.ok(), r.text());
    CHECK(r.cases() > 100);
}

struct misses_the_end {
    constexpr bool visible(site s) const { return s.key <= s.query; }
    constexpr coverage cover(tile t) const { return t.key_end > t.query_end ? coverage::none : coverage::some; }
};
struct hides_the_third {
    constexpr bool visible(site s) const { return s.key != 2; }
    constexpr bool hides(head_site, index_t key) const { return key == 3; }
};

template <class P>
std::string said(P const& p, options const& how = {}) {
    testing::check_options o;
    o.batch = o.heads = 1;
    testing::sample<float> const x(o);
    buffer<float, 4> out(1, 1, o.queries, o.value_channels);
    out.fill(7);
    try {
        attention(testing::checked(reference_backend{}), x.q, x.k, x.v, out, p, how);
    } catch (argument_error const& e) {
        for (float const y : out) CHECK(y == 7); // nothing is written
        return e.what();
    }
    buffer<float, 4> plain(1, 1, o.queries, o.value_channels);
    attention(reference_backend{}, x.q, x.k, x.v, plain, p, how);
    for (std::ptrdiff_t i = 0; i < out.size(); ++i) CHECK(out.data()[i] == plain.data()[i]);
    return "";
}

TEST_CASE("checked(backend) verifies cover before it runs") {
    CHECK(said(causal{}) == "");
    CHECK(said(all_of(window{2, 3}, softcap{2}, sink_token{4})) == "");
    CHECK(said(misses_the_end{}) ==
          "cover: says none for the tile of batch 0, head 0, queries 0 ... 0, keys 0 ... 1, but query 0 sees key 0");
    CHECK(said(hides_the_third{}) == "hides: says that nobody sees key 3 of batch 0, head 0, but a query does");
    buffer<index_t, 1> places(19);
    for (index_t i = 0; i < 19; ++i) places(i) = 40 - i;
    CHECK(said(causal{}, {.query_position = places}) == "");
    CHECK(said(misses_the_end{}, {.query_position = 100}) == ""); // there it is right
}

TEST_CASE("infinities and NaN work in this build") {
    auto const r = testing::self_test();
    CHECK_MESSAGE(r.ok(), r.text());
    CHECK(r.cases() == 16);
}

} // namespace
