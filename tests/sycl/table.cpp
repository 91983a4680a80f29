// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/backends.hpp>

#include <basin/attention_backward.hpp>
#include <basin/testing/sample.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace basin;

// The tile kernels with the library's own table, which the suites replace by a smaller one: several tiles of queries and keys,
// the last ones cut off, and every scalar and number of channels that another path is compiled for.
namespace {

/// How far a backend may be from the reference, whose output is rounded to T as well.
template <class T>
constexpr double rounding = 2e-5;
template <>
constexpr double rounding<double> = 1e-12;
template <>
constexpr double rounding<half> = 2e-3;
template <>
constexpr double rounding<bfloat16> = 2e-2;

template <class T>
struct answer {
    using A = accumulation_t<T>;
    buffer<T, 4> out;
    buffer<A, 4> most;
    buffer<A, 3> mass, spread, share, rows;
    buffer<index_t, 3> place;

    answer(testing::check_options const& o, index_t groups)
        : out(o.batch, o.heads, o.queries, o.value_channels), most(o.batch, o.heads, groups, o.keys),
          mass(o.batch, o.heads, o.keys), spread(o.batch, o.heads, o.queries), share(spread.extents()),
          rows(spread.extents()), place(spread.extents()) {}
};

template <class Backend, class T, class Policy>
answer<T> run(Backend const& backend, testing::check_options const& o, testing::sample<T> const& x,
              Policy const& policy, options const& where = {}) {
    index_t const groups = 3;
    std::vector<index_t> ids;
    for (index_t i = 0; i < o.queries; ++i)
        ids.push_back(i < 70 ? 0 : i % 2 + 1); // a tile in which nobody is in group 1
    view<index_t const, 1> const list(ids.data(), {{o.queries}});
    answer<T> a(o, groups);
    attention(backend, x.q, x.k, x.v, a.out, policy, where, received{a.mass}, peak{a.most, by_group(list, groups)},
              entropy{a.spread}, favourite{a.place, a.share}, lse{a.rows});
    return a;
}

template <class X, std::size_t R>
double largest_difference(buffer<X, R> const& a, buffer<X, R> const& b) {
    double worst = 0;
    for (std::ptrdiff_t i = 0; i < a.size(); ++i) {
        auto const x = static_cast<double>(a.data()[i]), y = static_cast<double>(b.data()[i]);
        double const off = x == y ? 0 : math::abs(x - y) / (1 + math::abs(y));
        if (!(off <= worst)) worst = off; // NaN stays
        if (worst != worst) break;
    }
    return worst;
}

template <class T, class Policy>
void compare(testing::check_options const& o, Policy const& policy, options const& where = {}) {
    CAPTURE(o.value_channels);
    INFO(std::string(basin_test::name_of<T>));
    testing::sample<T> const x(o);
    auto const want = run(reference_backend{}, o, x, policy, where),
               got = run(basin_test::sycl_tile{}, o, x, policy, where);
    CHECK(largest_difference(got.out, want.out) < rounding<T>);
    double const bound = rounding<accumulation_t<T>>; // what statistics are summed in
    CHECK(largest_difference(got.mass, want.mass) < 5 * bound);
    CHECK(largest_difference(got.most, want.most) < bound);
    CHECK(largest_difference(got.spread, want.spread) < 5 * bound);
    CHECK(largest_difference(got.share, want.share) < bound);
    CHECK(largest_difference(got.rows, want.rows) < bound);
    CHECK(largest_difference(got.place, want.place) == 0);
}

testing::check_options shape(index_t channels) {
    return {.batch = 1,
            .heads = 2,
            .key_value_heads = 1,
            .queries = 150,
            .keys = 139,
            .channels = channels,
            .value_channels = channels};
}

/// A weight that leaves something even where there was nothing.
struct faint_weight {
    template <class X, class Lane>
    X weight(X p, basic_site<Lane> const&) const {
        return p * X(0.875F) + X(0.0625F);
    }
};

} // namespace

TEST_CASE("the library's own table of tiles gives what the reference gives, in every scalar and number of channels") {
    basin_test::for_each_type(basin_test::scalars{}, []<class T>() {
        for (index_t const channels : {64, 128, 130}) compare<T>(shape(channels), causal{});
    });
}

TEST_CASE("the library's own table of tiles computes sinks and weights") {
    for (index_t const channels : {64, 128, 130}) {
        compare<float>(shape(channels), sink_token{{0, 1, 70}, window{20, 9}});
        compare<float>(shape(channels), faint_weight{} & sink_logit{0.5});
    }
}

TEST_CASE(
    "values that are not finite reach the rows that give them a share, and no other, in the library's own tiles") {
    basin_test::for_each_type(basin_test::list<float, double>{}, []<class T>() {
        // In even rows key 0 has a share on the way, and none at the end: it underflows when shares are divided by their sum, or when
        // a key of a later tile takes all.
        T const nearly_nothing = sizeof(T) == 4 ? T(-100) : T(-743);
        for (index_t const channels : {64, 128})
            for (bool const late : {false, true}) {
                auto const o = shape(channels);
                testing::sample<T> x(o);
                x.q.fill(T(0)); // the table alone decides
                buffer<T, 2> table(o.queries, o.keys);
                for (index_t i = 0; i < o.queries; i += 2) {
                    if (late)
                        table(i, o.keys - 1) = T(2000);
                    else
                        table(i, 0) = nearly_nothing;
                }
                x.v(0, 0, 0, 1) = math::infinity<T>;
                x.v(0, 0, 0, 2) = -math::infinity<T>;
                buffer<T, 4> want(o.batch, o.heads, o.queries, channels), got(want.extents());
                attention(reference_backend{}, x.q, x.k, x.v, want, bias{table});
                CHECK(want(0, 0, 1, 1) == math::infinity<T>);
                CHECK(want(0, 1, 2, 1) - want(0, 1, 2, 1) == T(0));
                attention(basin_test::sycl_tile{}, x.q, x.k, x.v, got, bias{table});
                CHECK(largest_difference(got, want) < rounding<T>);
                attention(basin_test::sycl_coarse{}, x.q, x.k, x.v, got, bias{table});
                CHECK(largest_difference(got, want) < rounding<T>);
            }
    });
}

TEST_CASE("sums of large values do not overflow before they are divided") {
    auto const o = shape(64);
    testing::sample<float> x(o);
    x.v.fill(1e37F);
    buffer<float, 4> out(o.batch, o.heads, o.queries, o.value_channels);
    for (auto const kernel : {sycl_kernel::coarse, sycl_kernel::tile}) {
        attention(sycl_backend{.queue = basin_test::sycl_queue(), .kernel = kernel}, x.q, x.k, x.v, out, full{});
        for (float const y : out) CHECK(y == doctest::Approx(1e37).epsilon(1e-5));
    }
}

TEST_CASE("packed texts of any length are tiles of their own, some of them empty") {
    std::vector<index_t> const queries{0, 1, 1, 70, 130, 130, 147}, keys{0, 0, 64, 70, 71, 71, 136}; // and padding
    compare<float>(shape(64), causal{}, {.query_offsets = queries, .key_offsets = keys});
    std::vector<index_t> const nothing{0};
    compare<float>(shape(64), causal{}, {.query_offsets = nothing, .key_offsets = nothing});
}

TEST_CASE("packed texts cost as many tiles as their tokens need, and one for each text at most") {
    namespace device = basin::detail::device;
    index_t const heads = 3, side = 64;
    for (std::vector<index_t> const& borders :
         {std::vector<index_t>{0, 1000}, {0, 0, 0, 64, 128, 129, 129, 300}, {0, 63, 126, 190, 191, 1000}, {0, 0}}) {
        layout where;
        where.batch = 1;
        where.queries = where.keys = 1000;
        view<index_t const, 1> const list(borders.data(), {{static_cast<index_t>(borders.size())}});
        where.query_offsets = where.key_offsets = list;
        for (bool const of_queries : {true, false}) {
            auto const tiles = of_queries ? device::query_tiles(where, side) : device::key_tiles(where, side);
            index_t const count = tiles.per_head(where);
            CHECK(count <= 1000 / side + static_cast<index_t>(borders.size()) - 1);
            std::vector<int> owned(1000);
            for (index_t n = 0; n < count * heads; ++n) {
                auto const at = tiles.at(where, heads, of_queries, n);
                CHECK(at.head == n / count);
                CHECK((at.begin - at.t.query_begin) % side == 0);
                for (index_t i = at.begin; i < math::min(at.begin + side, at.t.query_end); ++i)
                    ++owned[static_cast<std::size_t>(i)];
            }
            for (index_t i = 0; i < 1000; ++i)
                CHECK(owned[static_cast<std::size_t>(i)] == (i < borders.back() ? heads : 0));
        }
    }
    layout many; // 512 texts of 128 tokens
    std::vector<index_t> borders;
    for (index_t i = 0; i <= 512; ++i) borders.push_back(128 * i);
    many.batch = 1;
    many.queries = 65536;
    many.query_offsets = view<index_t const, 1>(borders.data(), {{513}});
    CHECK(device::query_tiles(many, side).per_head(many) == 1536);
}

TEST_CASE("a call with too many tiles or rows is refused before anything is written or allocated") {
    index_t const tokens = 1 << 28;
    float number = 1, result = 7;
    view<float const, 4> const few(&number, {{1, 5, 1, 1}}, {{0, 0, 0, 0}}),
        many(&number, {{1, 5, tokens, 1}}, {{0, 0, 0, 0}});
    view<float, 4> const out(&result, {{1, 5, tokens, 1}});
    auto const words = [](auto const& f) -> std::string {
        try {
            f();
        } catch (backend_error const& e) {
            return e.what();
        }
        return "";
    };
    CHECK(words([&] { attention(basin_test::sycl_tile{}, many, few, few, out, full{}); }) ==
          "sycl_backend: 20971520 tiles are too many for one call; give fewer texts, heads or tokens at a time");
    view<float const, 4> const most(&number, {{2, 5, tokens, 1}}, {{0, 0, 0, 0}}),
        pair(&number, {{2, 5, 1, 1}}, {{0, 0, 0, 0}});
    view<float, 4> const into(&result, {{2, 5, tokens, 1}});
    for (auto const kernel : {sycl_kernel::coarse, sycl_kernel::tile}) {
        sycl_backend const backend{.queue = basin_test::sycl_queue(), .kernel = kernel};
        CHECK(words([&] { attention(backend, most, pair, pair, into, full{}); }) ==
              "sycl_backend: 2684354560 pieces are too many for one call; give fewer texts, heads or tokens at a time");
    }
    CHECK(result == 7);
}

TEST_CASE("packed gradients by plain loops are those of the reference") {
    testing::check_options o = shape(8);
    testing::sample<float> const x(o);
    std::vector<index_t> const queries{0, 1, 1, 70, 130, 130, 147}, keys{0, 0, 64, 70, 71, 71, 136};
    options const where{.query_offsets = queries, .key_offsets = keys};
    auto const policy = window{9, 4} & sink_logit{0.5};
    buffer<float, 4> out(x.q.extents()), d_out(x.q.extents());
    buffer<float, 3> rows(1, 2, o.queries);
    attention(reference_backend{}, x.q, x.k, x.v, out, policy, where, lse{rows});
    int n = 0;
    for (float& y : d_out) y = static_cast<float>(n++ % 13) / 13 - 0.5F;
    struct result {
        buffer<float, 4> d_q, d_k, d_v;
    };
    auto const pull = [&](auto const& backend) {
        result r{buffer<float, 4>(x.q.extents()), buffer<float, 4>(x.k.extents()), buffer<float, 4>(x.v.extents())};
        attention_backward(backend, saved{x.q, x.k, x.v, out, rows}, upstream{d_out}, gradients{r.d_q, r.d_k, r.d_v},
                           policy, where);
        return r;
    };
    result const want = pull(reference_backend{}), got = pull(basin_test::sycl_tile{});
    CHECK(largest_difference(got.d_q, want.d_q) < 1e-5);
    CHECK(largest_difference(got.d_k, want.d_k) < 1e-5);
    CHECK(largest_difference(got.d_v, want.d_v) < 1e-5);
}
