// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/attention_backward.hpp>
#include <support/backends.hpp>
#include <support/compare.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <cstring>

// Against PyTorch's autograd in float: pytorch_gradients.inc, made by make_pytorch_data.py.

using namespace basin;

namespace {

struct fixture {
    char const* of;
    char const* name;
    std::vector<double> numbers;
};
std::vector<fixture> const& fixtures() {
    static std::vector<fixture> const all = {
#include "pytorch_gradients.inc"
    };
    return all;
}

constexpr index_t batch = 2, heads_of_q = 4, heads_of_k = 2, queries = 5, keys = 7, channels = 4, values = 3;

/// The arrays of one case, drawn in the script's order; parameters follow them.
struct arrays {
    basin_test::random_numbers random{41};
    buffer<float, 4> q{batch, heads_of_q, queries, channels}, k{batch, heads_of_k, keys, channels},
        v{batch, heads_of_k, keys, values}, out{batch, heads_of_q, queries, values},
        d_out{batch, heads_of_q, queries, values};
    buffer<float, 3> lse{batch, heads_of_q, queries}, d_lse{batch, heads_of_q, queries},
        d_received{batch, heads_of_q, keys}, d_entropy{batch, heads_of_q, queries};
    buffer<float, 4> d_q{batch, heads_of_q, queries, channels}, d_k{batch, heads_of_k, keys, channels},
        d_v{batch, heads_of_k, keys, values};

    arrays() { draw(q), draw(k), draw(v), draw(d_out), draw(d_lse), draw(d_received), draw(d_entropy); }
    template <class Array>
    void draw(Array& x, double low = -1, double high = 1) {
        for (auto& y : x) y = static_cast<float>(random.uniform(low, high));
    }
};

template <class Array>
void compare(char const* of, char const* name, Array const& got) {
    for (fixture const& f : fixtures()) {
        if (std::strcmp(f.of, of) != 0 || std::strcmp(f.name, name) != 0) continue;
        std::vector<double> const numbers(got.begin(), got.end());
        double largest = 0;
        for (double const x : f.numbers) largest = std::max(largest, std::abs(x));
        std::string const words =
            basin_test::difference(name, numbers, f.numbers, [&](std::size_t) { return 5e-6 * largest; });
        CHECK_MESSAGE(words.empty(), words);
        return;
    }
    FAIL_CHECK("no data for " << of << ", " << name);
}

template <class Backend, bool Terms = true, class Policy>
void check(char const* of, arrays& a, Policy const& policy, options const& o = {}) {
    attention(reference_backend{}, a.q, a.k, a.v, a.out, policy, o, lse{a.lse});
    saved const from{a.q, a.k, a.v, a.out, a.lse};
    gradients const into{a.d_q, a.d_k, a.d_v};
    if constexpr (!Terms)
        attention_backward(Backend{}, from, upstream{a.d_out}, into, policy, o);
    else
        attention_backward(
            Backend{}, from,
            upstream{a.d_out, through_lse{a.d_lse}, through_received{a.d_received}, through_entropy{a.d_entropy}}, into,
            policy, o);
    compare(of, "q", a.d_q);
    compare(of, "k", a.d_k);
    compare(of, "v", a.d_v);
}

} // namespace

TEST_CASE("gradients equal those of PyTorch's autograd") {
    basin_test::for_each_backend([]<class Backend>() {
        CAPTURE(basin_test::name_of<Backend>);
        {
            arrays a;
            check<Backend, false>("causal", a, causal{});
        }
        {
            arrays a;
            std::vector<float> logits(heads_of_q), d_logits(heads_of_q);
            a.draw(logits);
            check<Backend>("window and sink logits", a, all_of(window{2, 3}, learned{sink_logit{logits}, d_logits}));
            compare("window and sink logits", "logits", d_logits);
        }
        {
            arrays a;
            std::vector<float> slopes(heads_of_q), d_slopes(heads_of_q);
            a.draw(slopes, 0);
            check<Backend>("softcap and alibi", a, all_of(softcap{2}, learned{alibi{slopes}, d_slopes}));
            compare("softcap and alibi", "slopes", d_slopes);
        }
        {
            arrays a;
            buffer<float, 4> table(1, heads_of_q, queries, keys), d_table(1, heads_of_q, queries, keys);
            buffer<float, 3> sink_k(heads_of_k, 2, channels), sink_v(heads_of_k, 2, values);
            buffer<float, 3> d_sink_k(heads_of_k, 2, channels), d_sink_v(heads_of_k, 2, values);
            a.draw(table), a.draw(sink_k), a.draw(sink_v);
            check<Backend>("bias and kv_sink", a,
                           all_of(learned{bias{table}, d_table}, learned{kv_sink{sink_k, sink_v}, d_sink_k, d_sink_v}));
            compare("bias and kv_sink", "table", d_table);
            compare("bias and kv_sink", "sink_k", d_sink_k);
            compare("bias and kv_sink", "sink_v", d_sink_v);
        }
        {
            arrays a;
            std::vector<float> degree(1), d_degree(1);
            a.draw(degree, 0.5, 1.5);
            std::vector<index_t> const lengths{7, 4};
            check<Backend>("padded", a, learned{temperature{static_cast<double>(degree[0])}, d_degree},
                           options{.key_lengths = lengths});
            compare("padded", "temperature", d_degree);
        }
    });
}
