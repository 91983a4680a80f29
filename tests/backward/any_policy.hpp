// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/attention_backward.hpp>
#include <basin/basin.hpp>

#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

// Any policy behind virtual functions, forwards and backwards, for calls in T: kernels are compiled once for all policies
// of the tests, and random trees are put together at run time. It is a policy, so that it composes with others again.
namespace basin_test {

using basin::index_t;

// What a node of the host tells a kernel comes as a list: a kernel that is compiled when the program runs may call functions of
// the host, but the host does not know the kernel's.
template <class Entry>
class told {
public:
    Entry const* begin() const { return entries_; }
    Entry const* end() const { return entries_ + count_; }
    void push(Entry const& e) {
        if (count_ == capacity) std::abort(); // a test with more wants a longer list
        entries_[count_++] = e;
    }

private:
    static constexpr int capacity = 32;
    Entry entries_[capacity];
    int count_ = 0;
};

/// Sinks of a row, each perhaps after the place of what is learned about it.
class sink_list {
public:
    void logit(double x) { list_.push({kind::logit, x, {}, {}, 0}); }
    void key_value(double const* k, std::ptrdiff_t ks, double const* v, std::ptrdiff_t vs) {
        list_.push({kind::doubles, 0, {k, ks, v, vs}, {}, 0});
    }
    void key_value(float const* k, std::ptrdiff_t ks, float const* v, std::ptrdiff_t vs) {
        list_.push({kind::floats, 0, {}, {k, ks, v, vs}, 0});
    }
    void learn(index_t first) { list_.push({kind::learned, 0, {}, {}, first}); }

    template <class Visitor>
    void tell(Visitor& to, index_t offset) const {
        for (entry const& e : list_) {
            if (e.what == kind::logit) to.logit(e.logit);
            if (e.what == kind::doubles) to.key_value(e.doubles.k, e.doubles.ks, e.doubles.v, e.doubles.vs);
            if (e.what == kind::floats) to.key_value(e.floats.k, e.floats.ks, e.floats.v, e.floats.vs);
            if constexpr (requires { to.learn(e.first); }) {
                if (e.what == kind::learned) to.learn(e.first < 0 ? e.first : e.first + offset);
            }
        }
    }

private:
    enum class kind : unsigned char { logit, doubles, floats, learned };
    template <class T>
    struct pair {
        T const* k = nullptr;
        std::ptrdiff_t ks = 0;
        T const* v = nullptr;
        std::ptrdiff_t vs = 0;
    };
    struct entry {
        kind what = kind::logit;
        double logit = 0;
        pair<double> doubles{};
        pair<float> floats{};
        index_t first = 0;
    };
    told<entry> list_;
};

/// Parts of the gradients of what is learned.
class sum_list {
public:
    void add(index_t slot, double x) { list_.push({slot, x}); }
    template <class Sums>
    void tell(Sums& to, index_t offset) const {
        for (entry const& e : list_) to.add(e.slot + offset, e.x);
    }

private:
    struct entry {
        index_t slot;
        double x;
    };
    told<entry> list_;
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
    virtual void visit_sinks(basin::head_site const&, sink_list&) const = 0;
    virtual A score_pullback(A, A, basin::site const&, sum_list&) const = 0;
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
    void visit_sinks(basin::head_site const& s, sink_list& v) const override { basin::facet::visit_sinks(p, s, v); }
    A score_pullback(A x, A d, basin::site const& s, sum_list& into) const override {
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
            sink_list list;
            inside.node->visit_sinks(s, list);
            list.tell(v, inside.first_sum);
        }
        template <class Sums>
        A score_pullback(A x, A d, basin::site const& s, Sums& sums) const {
            sum_list list;
            A const pulled = inside.node->score_pullback(x, d, s, list);
            list.tell(sums, inside.first_sum);
            return pulled;
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
