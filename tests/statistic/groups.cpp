// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "check.hpp"

using namespace basin_test;

namespace {

/// By-key statistics into (batch, head, group, key). With votes simd goes another way than without.
template <class T, class Groups>
void run_grouped(problem<T>& p, checker<T> const& c, Groups const& ids) {
    shape const& s = p.is;
    for_each_backend([&]<class Backend>() {
        auto const split = basin::by_group(ids, s.group_count);
        auto const run = [&](statistics<T>& got, auto const&... more) {
            basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), statistic_policy, p.options(),
                             basin::received{got.received.view(), split}, basin::peak{got.peak.view(), split},
                             basin::received_value{got.received_value.view(), split},
                             basin::seen{got.seen.view(), split}, basin::entropy{got.entropy.flat()}, more...);
            for (std::string const& words :
                 {c.by_key("received", got.received.numbers(), c.want.received),
                  c.by_key("peak", got.peak.numbers(), c.want.peak),
                  c.by_key("received_value", got.received_value.numbers(), c.want.received_value),
                  c.exact("seen", got.seen.numbers(), c.want.seen),
                  c.by_query("entropy", got.entropy.numbers(), c.want.entropy)})
                check_none(words, name_of<Backend>, name_of<T>, s);
            CHECK(got.received.intact());
        };
        statistics<T> with(s), without(s);
        run(without);
        run(with, basin::votes{with.votes.view(), split});
        auto const votes = with.votes.numbers();
        for (std::size_t i = 0; i < votes.size(); ++i) {
            CHECK(votes[i] >= c.want.votes[i]);
            CHECK(votes[i] <= c.want.votes_most[i]);
        }
    });
}

} // namespace

TEST_CASE("statistics by group of queries against the oracle") {
    std::uint64_t seed = 500;
    auto shapes = statistic_shapes();
    shapes.push_back( // several blocks of queries, heads that share their groups, texts that do not
        {.queries = 203, .keys = 140, .batch = 2, .heads = 3, .query_lengths = {203, 101}, .key_lengths = {140, 131}});
    for (shape s : shapes) {
        random_numbers r{seed, 0};
        s.group_count = 3;
        for (int i = 0; i < s.batch * s.queries; ++i)
            s.groups.push_back(r.below(3) == 0 ? 2 : 0); // group 1 stays empty
        problem<float> p(s, seed++);
        basin::view<index_t const, 2> const ids(s.groups.data(), {{s.batch, s.queries}});
        run_grouped(p, expect(p, statistic_formulas(s)), ids);
    }
}

TEST_CASE("one list of groups is shared by the batch, double") {
    shape s{.queries = 11, .keys = 13, .batch = 2, .heads = 2};
    s.group_count = 2;
    std::vector<int> const ids = {0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0};
    s.groups = ids;
    s.groups.insert(s.groups.end(), ids.begin(), ids.end());
    problem<double> p(s, 77);
    run_grouped(p, expect(p, statistic_formulas(s)), ids);
}

TEST_CASE("groups add up to the whole") {
    shape const s{.queries = 40, .keys = 40};
    problem<float> p(s, 3);
    std::vector<int> ids(40);
    for (std::size_t i = 0; i < 40; ++i) ids[i] = static_cast<int>(i % 4);
    for_each_backend([&]<class Backend>() {
        basin::buffer<float, 2> split(4, 40);
        basin::buffer<float, 1> whole(40);
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::full{},
                         basin::received{split, basin::by_group(ids, 4)}, basin::received{whole});
        for (int key = 0; key < 40; ++key)
            CHECK(split(0, key) + split(1, key) + split(2, key) + split(3, key) ==
                  doctest::Approx(whole(key)).epsilon(1e-5));
    });
}

TEST_CASE("ids of groups may lie apart, as a column of a matrix does") {
    shape const s{.queries = 70, .keys = 20, .batch = 2};
    problem<float> p(s, 21);
    random_numbers r{5, 0};
    std::vector<int> ids, table;
    for (int i = 0; i < s.batch * s.queries; ++i) {
        ids.push_back(r.below(2));
        table.insert(table.end(), {ids.back(), 1 - ids.back(), -7}); // what lies between would be another group
    }
    basin::view<index_t const, 2> const dense(ids.data(), {{s.batch, s.queries}});
    basin::view<index_t const, 2> const apart(table.data(), {{s.batch, s.queries}}, {{3 * s.queries, 3}});
    for_each_backend([&]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        basin::buffer<float, 4> one(s.batch, 1, 2, s.keys), other(s.batch, 1, 2, s.keys);
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::full{},
                         basin::received{one, basin::by_group(dense, 2)});
        basin::attention(Backend{}, p.query(), p.key(), p.value(), p.out.view(), basin::full{},
                         basin::received{other, basin::by_group(apart, 2)});
        CHECK(std::equal(one.begin(), one.end(), other.begin()));
    });
}

TEST_CASE("a group's rows that do not see a key add nothing to it, whatever was there before") {
    // Rows walk over the keys in blocks; a window ends in the middle of every block, after one that saw the same keys whole.
    constexpr int n = 300;
    basin::window const policy{.before = 80, .after = 80};
    problem<float> p({.queries = n, .keys = n}, 9);
    std::vector<int> ids(n);
    for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<int>(i % 2);
    auto const run = [&](auto const& backend, auto& mass, auto& peak) {
        basin::attention(backend, p.query(), p.key(), p.value(), p.out.view(), policy,
                         basin::received{mass, basin::by_group(ids, 2)}, basin::peak{peak, basin::by_group(ids, 2)});
    };
    for_each_backend([&]<class Backend>() {
        INFO(std::string(name_of<Backend>));
        basin::buffer<float, 2> mass(2, n), peak(2, n), expected_mass(2, n), expected_peak(2, n);
        run(Backend{}, mass, peak);
        run(basin::reference_backend{}, expected_mass, expected_peak);
        for (int group = 0; group < 2; ++group) {
            for (int key = 0; key < n; ++key) {
                CHECK(std::fabs(mass(group, key) - expected_mass(group, key)) < 1e-4F);
                CHECK(std::fabs(peak(group, key) - expected_peak(group, key)) < 1e-5F);
            }
        }
    });
}
