// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// What does each policy cost over full attention? ns per pair, GFLOP/s and share of peak count the pairs that are seen;
// the last column compares times.

#include "support.hpp"

namespace {

using basin::index_t;

/// A user's first policy: one pair at a time, no coverage. About one pair in seven is hidden, so no tile is simple.
struct every_seventh_hidden {
    constexpr bool visible(basin::site s) const { return (s.query + s.key) % 7 != 3; }
};
/// The same for scores.
struct distance_penalty {
    float score(float x, basin::site s) const {
        return x - 0.01F * static_cast<float>(s.query > s.key ? s.query - s.key : s.key - s.query);
    }
};

class course {
public:
    course(index_t n, index_t d, index_t heads) : x_(1, heads, n, n, d) { add("full", basin::full{}); }

    /// The pairs of one head that a policy shows.
    template <class Policy>
    double seen_share(Policy const& policy) const {
        index_t const n = x_.q.extent(2), h = x_.q.extent(1), d = x_.q.extent(3);
        auto const bound = basin::bind(policy, {1, h, h, n, n, d, d});
        double seen = 0;
        for (index_t i = 0; i < n; ++i) {
            index_t row = 0;
            for (index_t j = 0; j < n; ++j) row += basin::facet::visible(bound, basin::site{0, 0, i, j}) ? 1 : 0;
            seen += row;
        }
        return seen / n / n;
    }
    template <class Policy>
    void add(char const* name, Policy const& policy) {
        double const share = seen_share(policy);
        contenders_.push_back({name, share * x_.pairs(), share * x_.flops(),
                               [this, policy] { basin::attention(backend_, x_.q, x_.k, x_.v, x_.out, policy); }});
    }
    void add(bench::contender c) { contenders_.push_back(std::move(c)); }
    bench::heads<float>& arrays() { return x_; }

    void run(bench::arguments const& args) const {
        char title[64];
        std::snprintf(title, sizeof title, "N = %d, d = %d, %d head(s)", x_.q.extent(2), x_.q.extent(3),
                      x_.q.extent(1));
        bench::print_columns(title, "time over full");
        bench::print_over_first(bench::race(contenders_, args));
    }

private:
    bench::heads<float> x_;
    basin::simd_backend backend_{};
    std::vector<bench::contender> contenders_;
};

/// Keys of hidden sinks: a few, or every second one.
basin::key_set keys_of(index_t n, index_t step, index_t most) {
    basin::key_set keys(1, 1, n);
    for (index_t j = 0, count = 0; j < n && count < most; j += step, ++count) keys.insert(0, 0, j);
    return keys;
}

void all_policies(index_t n, bench::arguments const& args) {
    index_t const heads = 4, d = 64, more = 100;
    course c(n, d, heads);
    c.add("sink_token{0}", basin::sink_token{0});
    c.add("sink_masked, 3 keys", basin::sink_masked(keys_of(n, n / 3 + 1, 3)));
    c.add("sink_masked, half of the keys", basin::sink_masked(keys_of(n, 2, n)));

    // The same work in arrays that are longer than the text.
    bench::heads<float> padded(1, heads, n + more, n + more, d);
    std::vector<index_t> const lengths{n};
    double const pairs = c.arrays().pairs(), flops = c.arrays().flops();
    c.add({"padded: lengths", pairs, flops, [&] {
               basin::attention(basin::simd_backend{}, padded.q, padded.k, padded.v, padded.out, basin::full{},
                                basin::options{.lengths = lengths});
           }});

    c.add("causal", basin::causal{});
    c.add("block_causal{32}", basin::block_causal{32});
    c.add("window of 256", basin::window{128, 127});
    c.add("any_mask(causal)", basin::any_mask(basin::causal{}));
    c.add("own bool visible(site)", every_seventh_hidden{});
    c.add("key_bits, the same mask",
          basin::key_bits::of({{1, 1, n, n}}, [](basin::site s) { return every_seventh_hidden{}.visible(s); }));
    c.add("key_bits, causal", basin::key_bits::of({{1, 1, n, n}}, [](basin::site s) { return s.key <= s.query; }));
    c.add("softcap{30}, in lanes", basin::softcap{30});
    c.add("temperature{2}, in lanes", basin::temperature{2});
    c.add("alibi, in lanes", basin::alibi::geometric(heads));
    basin::buffer<float, 2> table(n, n);
    bench::fill(table, 7);
    c.add("bias, (query, key) table", basin::bias(table));
    c.add("own float score(float, site)", distance_penalty{});
    c.add("sink_logit{0}", basin::sink_logit{0.0});
    c.run(args);
}

} // namespace

int main(int argc, char** argv) {
    bench::arguments const args(argc, argv);
    bench::print_machine("Cost of each policy: float, 1 thread");
    for (index_t const n : {1024, 2048}) {
        if (args.quick && n > 1024) break;
        all_policies(n, args);
    }
    course c(args.quick ? 1024 : 8192, 64, 1);
    c.add("window of 256", basin::window{128, 127});
    c.add("sink_token{0} on that window", basin::sink_token{0, basin::window{128, 127}});
    c.add("causal", basin::causal{});
    c.run(args);
}
