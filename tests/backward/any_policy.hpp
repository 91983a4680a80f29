// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention_backward.hpp>
#include <basin/basin.hpp>

#include <functional>
#include <memory>
#include <vector>

// Any policy behind virtual functions, forwards and backwards, for calls in T: kernels are compiled once for all policies
// of the tests, and random trees are put together at run time. It is a policy, so that it composes with others again.
namespace basin_test {

using basin::index_t;

struct sink_visitor {
    virtual ~sink_visitor() = default;
    virtual void logit(double x) = 0;
    virtual void key_value(double const*, std::ptrdiff_t, double const*, std::ptrdiff_t) = 0;
    virtual void key_value(float const*, std::ptrdiff_t, float const*, std::ptrdiff_t) = 0;
    virtual void learn(index_t first) = 0;
};

template <class Visitor>
struct forwarding final : sink_visitor {
    Visitor& to;
    index_t offset;
    forwarding(Visitor& v, index_t o) : to(v), offset(o) {}
    void logit(double x) override { to.logit(x); }
    void key_value(double const* k, std::ptrdiff_t ks, double const* v, std::ptrdiff_t vs) override {
        to.key_value(k, ks, v, vs);
    }
    void key_value(float const* k, std::ptrdiff_t ks, float const* v, std::ptrdiff_t vs) override {
        to.key_value(k, ks, v, vs);
    }
    void learn(index_t first) override {
        if constexpr (requires { to.learn(first); }) to.learn(first < 0 ? first : first + offset);
    }
};

struct sum_sink {
    virtual ~sum_sink() = default;
    virtual void add(index_t slot, double x) = 0;
};
template <class Sums>
struct forwarding_sums final : sum_sink {
    Sums& to;
    index_t offset;
    forwarding_sums(Sums& s, index_t o) : to(s), offset(o) {}
    void add(index_t slot, double x) override { to.add(slot + offset, x); }
};

/// A bound policy of any type.
template <class A>
struct any_node {
    index_t sums = 0;
    virtual ~any_node() = default;
    virtual bool visible(basin::site const&) const = 0;
    virtual A score(A, basin::site const&) const = 0;
    virtual A weight(A, basin::site const&) const = 0;
    virtual A value(A, basin::value_site const&) const = 0;
    virtual basin::coverage cover(basin::tile const&) const = 0;
    virtual bool hides(basin::head_site const&, index_t) const = 0;
    virtual void visit_sinks(basin::head_site const&, sink_visitor&) const = 0;
    virtual A score_pullback(A, A, basin::site const&, sum_sink&) const = 0;
    virtual A weight_pullback(A, A, basin::site const&) const = 0;
    virtual A value_pullback(A, A, basin::value_site const&) const = 0;
    virtual bool shared(basin::shape_facts const&) const = 0;
    virtual void finish(basin::head_site const&, double const*) const = 0;
};

template <class A, class B>
struct any_node_of final : any_node<A> {
    B p;
    explicit any_node_of(B const& bound) : p(bound) {
        basin::facet::visit_learned(p, [&](auto& node) {
            node.first_sum = this->sums;
            this->sums += node.sums;
        });
    }
    bool visible(basin::site const& s) const override { return basin::facet::visible(p, s); }
    A score(A x, basin::site const& s) const override { return basin::facet::score(p, x, s); }
    A weight(A x, basin::site const& s) const override { return basin::facet::weight(p, x, s); }
    A value(A x, basin::value_site const& s) const override { return basin::facet::value(p, x, s); }
    basin::coverage cover(basin::tile const& t) const override { return basin::facet::cover(p, t); }
    bool hides(basin::head_site const& s, index_t key) const override { return basin::facet::hides(p, s, key); }
    void visit_sinks(basin::head_site const& s, sink_visitor& v) const override { basin::facet::visit_sinks(p, s, v); }
    A score_pullback(A x, A d, basin::site const& s, sum_sink& into) const override {
        return basin::facet::score_pullback(p, x, d, s, into);
    }
    A weight_pullback(A x, A d, basin::site const& s) const override {
        return basin::facet::weight_pullback(p, x, d, s);
    }
    A value_pullback(A x, A d, basin::value_site const& s) const override {
        return basin::facet::value_pullback(p, x, d, s);
    }
    bool shared(basin::shape_facts const& f) const override {
        bool any = false;
        basin::facet::visit_learned(p, [&](auto const& node) { any = any || node.shared(f); });
        return any;
    }
    void finish(basin::head_site const& s, double const* from) const override {
        basin::facet::visit_learned(p, [&](auto const& node) { node.finish(s, from); });
    }
};

/// Weighs: whether kernels see a weight and a value facet (they take another way then).
template <class A, bool Weighs = false>
class any_policy {
public:
    /// What the entry sees of all that is learned inside. Its gradients are zeroed by the tests.
    struct learned_inside {
        any_node<A> const* node;
        index_t first_sum = 0, sums = 0;
        bool adds = true;
        basin::view<double, 4> gradient{}, second{};
        bool shared(basin::shape_facts const& f) const { return node->shared(f); }
        void finish(basin::head_site const& s, double const* from) const { node->finish(s, from + first_sum); }
    };
    struct bound {
        static constexpr bool learns = true;
        learned_inside inside;

        bool visible(basin::site const& s) const { return inside.node->visible(s); }
        A score(A x, basin::site const& s) const { return inside.node->score(x, s); }
        A weight(A x, basin::site const& s) const
            requires Weighs
        {
            return inside.node->weight(x, s);
        }
        A value(A x, basin::value_site const& s) const
            requires Weighs
        {
            return inside.node->value(x, s);
        }
        basin::coverage cover(basin::tile const& t) const { return inside.node->cover(t); }
        bool hides(basin::head_site const& s, index_t key) const { return inside.node->hides(s, key); }
        template <class Visitor>
        void visit_sinks(basin::head_site const& s, Visitor& v) const {
            forwarding<Visitor> through(v, inside.first_sum);
            inside.node->visit_sinks(s, through);
        }
        template <class Sums>
        A score_pullback(A x, A d, basin::site const& s, Sums& sums) const {
            forwarding_sums<Sums> through(sums, inside.first_sum);
            return inside.node->score_pullback(x, d, s, through);
        }
        A weight_pullback(A x, A d, basin::site const& s) const { return inside.node->weight_pullback(x, d, s); }
        A value_pullback(A x, A d, basin::value_site const& s) const { return inside.node->value_pullback(x, d, s); }
        template <class Self, class F>
        static void visit_learned(Self& self, F const& f) {
            f(self.inside);
        }
    };

    template <class P>
        requires(!std::same_as<P, any_policy>)
    any_policy(P const& p) // NOLINT: any policy is one
        : bind_([p](basin::shape_facts const& f) -> std::shared_ptr<any_node<A>> {
              auto const made = basin::bind(p, f);
              return std::make_shared<any_node_of<A, std::remove_const_t<decltype(made)>>>(made);
          }) {}

    // The unbound form is a policy, but never asked.
    bool visible(basin::site const&) const { return true; }
    A score(A x, basin::site const&) const { return x; }
    A weight(A x, basin::site const&) const
        requires Weighs
    {
        return x;
    }
    A value(A x, basin::value_site const&) const
        requires Weighs
    {
        return x;
    }
    bound bind(basin::shape_facts const& f) const {
        kept_->push_back(bind_(f)); // lives as long as the policy
        bound result{{kept_->back().get()}};
        result.inside.sums = kept_->back()->sums;
        return result;
    }

private:
    std::function<std::shared_ptr<any_node<A>>(basin::shape_facts const&)> bind_;
    std::shared_ptr<std::vector<std::shared_ptr<any_node<A>>>> kept_ =
        std::make_shared<std::vector<std::shared_ptr<any_node<A>>>>();
};

} // namespace basin_test
