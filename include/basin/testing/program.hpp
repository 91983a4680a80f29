// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/policy/block_diffusion.hpp>
#include <basin/policy/causal.hpp>
#include <basin/policy/prefix.hpp>
#include <basin/policy/sink_token.hpp>
#include <basin/policy/softcap.hpp>
#include <basin/policy/temperature.hpp>
#include <basin/policy/window.hpp>
#include <basin/testing/random.hpp>

#include <string>

namespace basin::testing {
namespace inner {

/// A base whose answer is known already: program computes on answers, sink_token on policies.
template <class Answer>
struct given_answer {
    using lanes = supported;
    Answer answer;
    template <class Lane>
    auto visible(basic_site<Lane> const&) const {
        if constexpr (detail::is_lane<Lane> || std::same_as<Answer, bool>)
            return answer;
        else
            return true;
    }
};
struct given_cover {
    coverage answer;
    bool visible(site const&) const { return true; }
    coverage cover(tile const&) const { return answer; }
};

} // namespace inner

/// A composed policy that is made at run time: masks in postfix order, changes of scores, a sink logit. One type covers
/// all trees, so that a kernel is compiled once and tested with thousands of policies. A test's tool: it is slow.
///   program{}.window(2, 3).prefix(4).any_of()        any_of(window{2, 3}, prefix{4})
class program {
public:
    using lanes = supported;
    enum class op : std::uint8_t {
        full,
        causal,
        window,
        prefix,
        blocks,
        block_causal,
        block_diffusion,
        comb,
        stripe,
        sink_token,
        none_of,
        all_of,
        any_of
    };
    enum class change : std::uint8_t { temperature, softcap, slope, shift, forbid };
    struct node {
        op what;
        index_t a, b;
    };
    struct score_node {
        change what;
        double x;
        node where; // a leaf: only there
    };
    static constexpr int capacity = 24, score_capacity = 4;

    // Leaves. comb hides every a-th key, from all; stripe depends on batch and head as well.
    program& full() { return push({op::full, 0, 0}); }
    program& causal() { return push({op::causal, 0, 0}); }
    program& window(index_t before, index_t after) { return push({op::window, before, after}); }
    program& prefix(index_t length) { return push({op::prefix, length, 0}); }
    program& blocks(index_t size) { return push({op::blocks, size, 0}); }
    program& block_causal(index_t size) { return push({op::block_causal, size, 0}); }
    program& block_diffusion(index_t size, index_t length) { return push({op::block_diffusion, size, length}); }
    program& comb(index_t step, index_t first) { return push({op::comb, step, first}); }
    program& stripe(index_t step, index_t first) { return push({op::stripe, step, first}); }
    // Of what was pushed before.
    program& sink_token(index_t token, bool mutual = false) { return push({op::sink_token, token, mutual ? 1 : 0}); }
    program& none_of() { return push({op::none_of, 0, 0}); }
    program& all_of() { return push({op::all_of, 0, 0}); }
    program& any_of() { return push({op::any_of, 0, 0}); }
    // Scores, left to right, and the sink.
    program& scores(change what, double x, node where = {op::full, 0, 0}) {
        if (score_count == score_capacity) detail::fail<argument_error>("program: too many changes of scores");
        score_nodes[score_count++] = {what, x, where};
        return *this;
    }
    program& sink(double logit) {
        sink_base = logit;
        return *this;
    }
    program& push(node const& n) {
        if (count == capacity) detail::fail<argument_error>("program: too many nodes");
        nodes[count++] = n;
        return *this;
    }

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        using answer = decltype(detail::uniform_mask<Lane>(true));
        return fold<answer>(
            detail::uniform_mask<Lane>(true), [&](node const& n) { return leaf_visible(n, s); },
            [&](node const& n, answer x) {
                if (n.what == op::none_of) return answer(!x);
                return answer(basin::sink_token<inner::given_answer<answer>>{n.a, {x}, n.b != 0}.visible(s));
            },
            [](node const& n, answer x, answer y) { return answer(n.what == op::all_of ? x && y : x || y); });
    }
    coverage cover(tile const& t) const {
        return fold<coverage>(
            coverage::all, [&](node const& n) { return leaf_cover(n, t); },
            [&](node const& n, coverage x) { return unary_cover(n, x, t); },
            [](node const& n, coverage x, coverage y) { return n.what == op::all_of ? meet(x, y) : join(x, y); });
    }
    /// As cover, of the keys that are not hidden. comb and prefix show what they do not hide to everyone.
    coverage cover_unhidden(tile const& t) const {
        struct both_covers {
            coverage whole, unhidden;
        };
        auto const alike = [](coverage x) { return both_covers{x, x}; };
        return fold<both_covers>(
                   alike(coverage::all),
                   [&](node const& n) {
                       bool const hides_the_rest = n.what == op::comb || n.what == op::prefix;
                       return both_covers{leaf_cover(n, t), hides_the_rest ? coverage::all : leaf_cover(n, t)};
                   },
                   [&](node const& n, both_covers x) { return alike(unary_cover(n, x.whole, t)); },
                   [&](node const& n, both_covers x, both_covers y) {
                       if (n.what == op::any_of) return alike(join(x.whole, y.whole)); // hides what both hide
                       return both_covers{meet(x.whole, y.whole), meet(x.unhidden, y.unhidden)};
                   })
            .unhidden;
    }
    bool hides(head_site const& s, index_t key) const {
        return fold<bool>(
            false,
            [&](node const& n) {
                if (n.what == op::prefix) return basin::prefix{n.a}.hides(s, key);
                return n.what == op::comb && key % n.a == n.b;
            },
            [&](node const& n, bool x) { return n.what == op::sink_token && x && key != n.a; },
            [](node const& n, bool x, bool y) { return n.what == op::all_of ? x || y : x && y; });
    }
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const& s) const {
        for (int i = 0; i < score_count; ++i) {
            score_node const& n = score_nodes[i];
            X changed = x;
            if (n.what == change::temperature) changed = basin::temperature{n.x}.score(x, s);
            if (n.what == change::softcap) changed = basin::softcap{n.x}.score(x, s);
            if (n.what == change::slope) changed = x - math::convert<X>(math::abs(s.query - s.key)) * X(n.x);
            if (n.what == change::shift) changed = x + X(n.x);
            if (n.what == change::forbid) changed = X(-math::infinity<double>);
            x = n.where.what == op::full ? changed : math::select(leaf_visible(n.where, s), changed, x);
        }
        return x;
    }
    double sink_logit(head_site const& s) const { return sink_base + 0.25 * s.head; }

    /// As the calls that build it.
    std::string text() const;

    int count = 0, score_count = 0;
    node nodes[capacity] = {};
    score_node score_nodes[score_capacity] = {};
    double sink_base = -math::infinity<double>;

private:
    template <class Answer, class Leaf, class Unary, class Binary>
    Answer fold(Answer empty, Leaf const& leaf, Unary const& unary, Binary const& binary) const {
        Answer stack[capacity + 1];
        stack[0] = empty;
        int top = 0; // a program without masks is full
        for (int i = 0; i < count; ++i) {
            node const& n = nodes[i];
            if (n.what >= op::all_of) {
                --top;
                stack[top] = binary(n, stack[top], stack[top + 1]);
            } else if (n.what >= op::sink_token)
                stack[top] = unary(n, stack[top]);
            else
                stack[++top] = leaf(n);
        }
        return stack[top];
    }
    template <class Lane>
    static auto leaf_visible(node const& n, basic_site<Lane> const& s) {
        using answer = decltype(detail::uniform_mask<Lane>(true));
        switch (n.what) {
        case op::causal:
            return answer(basin::causal{}.visible(s));
        case op::window:
            return answer(basin::window{n.a, n.b}.visible(s));
        case op::prefix:
            return answer(basin::prefix{n.a}.visible(s));
        case op::blocks:
            return answer(basin::blocks{n.a}.visible(s));
        case op::block_causal:
            return answer(basin::block_causal{n.a}.visible(s));
        case op::block_diffusion:
            return answer(basin::block_diffusion{n.a, n.b}.visible(s));
        case op::comb:
            return answer(s.key % Lane(n.a) != Lane(n.b));
        case op::stripe:
            return answer((s.query + s.key + Lane(s.head + 2 * s.batch)) % Lane(n.a) != Lane(n.b));
        default:
            return detail::uniform_mask<Lane>(true);
        }
    }
    static coverage unary_cover(node const& n, coverage x, tile const& t) {
        if (n.what == op::none_of) return complement(x);
        return basin::sink_token<inner::given_cover>{n.a, {x}, n.b != 0}.cover(t);
    }
    static coverage leaf_cover(node const& n, tile const& t) {
        switch (n.what) {
        case op::causal:
            return basin::causal::cover(t);
        case op::window:
            return basin::window{n.a, n.b}.cover(t);
        case op::prefix:
            return basin::prefix{n.a}.cover(t);
        case op::blocks:
            return basin::blocks{n.a}.cover(t);
        case op::block_causal:
            return basin::block_causal{n.a}.cover(t);
        case op::block_diffusion:
            return basin::block_diffusion{n.a, n.b}.cover(t);
        case op::full:
            return coverage::all;
        default:
            return coverage::some;
        }
    }
};

inline std::string program::text() const {
    static char const* const names[] = {"full",         "causal",          "window", "prefix", "blocks",
                                        "block_causal", "block_diffusion", "comb",   "stripe", "sink_token",
                                        "none_of",      "all_of",          "any_of"};
    static char const* const changes[] = {"temperature", "softcap", "slope", "shift", "forbid"};
    static int const arguments[] = {0, 0, 2, 1, 1, 1, 2, 2, 2, 2, 0, 0, 0};
    auto const list = [&](node const& n) {
        int const k = arguments[static_cast<int>(n.what)];
        std::string const second = n.what == op::sink_token ? (n.b != 0 ? "true" : "false") : std::to_string(n.b);
        return k == 0 ? std::string{} : k == 1 ? std::to_string(n.a) : std::to_string(n.a) + ", " + second;
    };
    std::string result = "program{}";
    for (int i = 0; i < count; ++i)
        result += "." + std::string(names[static_cast<int>(nodes[i].what)]) + "(" + list(nodes[i]) + ")";
    for (int i = 0; i < score_count; ++i) {
        score_node const& n = score_nodes[i];
        result += ".scores(program::change::" + std::string(changes[static_cast<int>(n.what)]) + ", " +
                  std::to_string(n.x) + ", {program::op::" + names[static_cast<int>(n.where.what)] + ", " +
                  std::to_string(n.where.a) + ", " + std::to_string(n.where.b) + "})";
    }
    if (sink_base > -math::infinity<double>) result += ".sink(" + std::to_string(sink_base) + ")";
    return result;
}

/// A random tree of masks of at most `depth` levels over positions below `positions`.
inline void random_mask(program& p, random_source& r, int depth, index_t positions) {
    index_t const kind = depth <= 1 ? 0 : r.below(8);
    if (kind >= 4) {
        random_mask(p, r, depth - 1, positions);
        random_mask(p, r, depth - 1, positions);
        p.push({kind < 6 ? program::op::all_of : program::op::any_of, 0, 0});
    } else if (kind >= 2) {
        random_mask(p, r, depth - 1, positions);
        if (kind == 2)
            p.none_of();
        else
            p.sink_token(r.below(positions), r.chance(2));
    } else {
        auto const what = static_cast<program::op>(r.below(9));
        bool const two = what == program::op::comb || what == program::op::stripe;
        index_t const a = two                           ? r.between(2, 5)
                          : what == program::op::window ? r.below(positions)
                                                        : r.between(1, positions);
        p.push({what, a,
                two                                    ? r.below(a)
                : what == program::op::block_diffusion ? r.between(1, positions)
                                                       : r.below(positions)});
    }
}

/// A random policy: masks to `depth`, changes of scores, a sink, each or not.
inline program random_program(random_source& r, int depth, index_t positions) {
    program p;
    if (!r.chance(8)) random_mask(p, r, depth, positions);
    for (int i = r.chance(2) ? r.below(program::score_capacity) : 0; i > 0; --i) {
        auto const what = static_cast<program::change>(r.below(5));
        bool const everywhere = what != program::change::forbid && r.chance(2);
        program::node const where =
            everywhere ? program::node{program::op::full, 0, 0} : program::node{program::op::comb, r.between(2, 5), 0};
        p.scores(what, 0.25 * (what == program::change::shift ? r.between(-8, 8) : r.between(1, 8)), where);
    }
    if (r.chance(3)) p.sink(0.25 * r.between(-12, 12));
    return p;
}

} // namespace basin::testing
