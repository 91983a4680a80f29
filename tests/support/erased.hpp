// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/basin.hpp>

#include <cstdlib>
#include <memory>
#include <new>

namespace basin_test {

/// Any policy of masks, scores and sinks behind function pointers, for calls in T. Sixteen-bit arrays differ from float
/// ones where kernels read and write them, not in what policies are asked, so that one compiled kernel serves them all.
template <class T>
class erased {
    using A = basin::accumulation_t<T>;
    /// The sinks of a row, in order. A list, not a visitor that calls back: kernels may call functions of the host, but where they
    /// are compiled when the program runs, the host does not know theirs. It belongs to the host's thread, and functions are given
    /// copies: given the address of a work-item's own variable, those called from the tile kernel read something else, with
    /// AdaptiveCpp's generic flow on CPUs.
    class sink_list {
    public:
        void clear() { count_ = 0; }
        void logit(double x) { next() = {x, nullptr, 0, nullptr, 0}; }
        void key_value(T const* k, std::ptrdiff_t ks, T const* v, std::ptrdiff_t vs) { next() = {0, k, ks, v, vs}; }
        template <class Visitor>
        void tell(Visitor& v) const {
            for (int i = 0; i < count_; ++i) {
                entry const& e = entries_[i];
                if (e.key == nullptr)
                    v.logit(e.logit);
                else
                    v.key_value(e.key, e.key_stride, e.value, e.value_stride);
            }
        }

    private:
        struct entry {
            double logit;
            T const* key;
            std::ptrdiff_t key_stride;
            T const* value;
            std::ptrdiff_t value_stride;
        };
        static constexpr int capacity = 16;
        entry& next() {
            if (count_ == capacity) std::abort(); // a test with more sinks wants a longer list
            return entries_[count_++];
        }
        entry entries_[capacity];
        int count_ = 0;
    };

public:
    struct bound {
        static constexpr std::size_t capacity = 512;
        alignas(16) unsigned char storage[capacity];
        bool (*ask_visible)(void const*, basin::site);
        A (*ask_score)(void const*, A, basin::site);
        basin::coverage (*ask_cover)(void const*, basin::tile);
        bool (*ask_hides)(void const*, basin::head_site, basin::index_t);
        sink_list const& (*ask_sinks)(void const*, basin::head_site);

        bool visible(basin::site const& s) const { return ask_visible(storage, s); }
        A score(A x, basin::site const& s) const { return ask_score(storage, x, s); }
        basin::coverage cover(basin::tile const& t) const { return ask_cover(storage, t); }
        bool hides(basin::head_site const& s, basin::index_t key) const { return ask_hides(storage, s, key); }
        template <class Visitor>
        void visit_sinks(basin::head_site const& s, Visitor& v) const {
            ask_sinks(storage, s).tell(v);
        }
    };

    template <class P>
    explicit erased(P const& p)
        : held_(std::make_shared<P>(p)), bind_([](void const* held, basin::shape_facts const& facts) {
              using B = basin::bound_t<P>;
              static_assert(sizeof(B) <= bound::capacity);
              bound result{};
              ::new (static_cast<void*>(result.storage)) B(basin::bind(*static_cast<P const*>(held), facts));
              result.ask_visible = [](void const* b, basin::site s) {
                  return basin::facet::visible(*static_cast<B const*>(b), s);
              };
              result.ask_score = [](void const* b, A x, basin::site s) {
                  return basin::facet::score(*static_cast<B const*>(b), x, s);
              };
              result.ask_cover = [](void const* b, basin::tile t) {
                  return basin::facet::cover(*static_cast<B const*>(b), t);
              };
              result.ask_hides = [](void const* b, basin::head_site s, basin::index_t key) {
                  return basin::facet::hides(*static_cast<B const*>(b), s, key);
              };
              result.ask_sinks = [](void const* b, basin::head_site s) -> sink_list const& {
                  thread_local sink_list list;
                  list.clear();
                  basin::facet::visit_sinks(*static_cast<B const*>(b), s, list);
                  return list;
              };
              return result;
          }) {}

    // The unbound form is a policy, but never asked.
    bool visible(basin::site const&) const { return true; }
    A score(A x, basin::site const&) const { return x; }
    bound bind(basin::shape_facts const& facts) const { return bind_(held_.get(), facts); }

private:
    std::shared_ptr<void const> held_;
    bound (*bind_)(void const*, basin::shape_facts const&);
};

} // namespace basin_test
