// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/policy/full.hpp>

#include <new>

namespace basin {

/// A mask chosen at run time: `any_mask chosen = wide ? any_mask(full{}) : any_mask(window{8, 8});`. Kernels are compiled
/// once for any_mask instead of once per choice; a tile asks the mask what it covers first, so that only
/// mixed tiles pay for the indirect call per pair.
class any_mask {
public:
    /// The bound mask inside, with the two questions as functions. Lives on CPUs: devices do not follow function pointers.
    struct bound {
        /// Bytes that a mask may have once it is bound.
        static constexpr std::size_t capacity = 96;
        /// The bound mask itself.
        alignas(16) unsigned char storage[capacity];
        /// What the mask that was given answers.
        bool (*ask_visible)(void const*, site const&);
        /// What the mask that was given answers.
        coverage (*ask_cover)(void const*, tile const&);
        /// What the mask that was given answers.
        bool (*ask_hides)(void const*, head_site const&, index_t);

        bool visible(site const& s) const { return ask_visible(storage, s); }
        coverage cover(tile const& t) const { return ask_cover(storage, t); }
        bool hides(head_site const& s, index_t key) const { return ask_hides(storage, s, key); }
    };

    any_mask() : any_mask(full{}) {}
    template <class M>
        requires(!std::same_as<M, any_mask>) &&
                mask<M> // in this order: asking whether any_mask is a mask asks for this constructor
    explicit any_mask(M const& m) : held_(new holder<M>(m)) {}
    any_mask(any_mask const& other) : held_(other.held_->clone()) {}
    any_mask(any_mask&& other) noexcept : held_(other.held_) { other.held_ = nullptr; }
    any_mask& operator=(any_mask other) noexcept {
        held const* const mine = held_;
        held_ = other.held_;
        other.held_ = mine;
        return *this;
    }
    ~any_mask() { delete held_; }

    bool visible(site const& s) const { return held_->visible(s); }
    bound bind(shape_facts const& facts) const { return held_->bind(facts); }

private:
    struct held {
        virtual ~held() = default;
        virtual held const* clone() const = 0;
        virtual bool visible(site const& s) const = 0;
        virtual bound bind(shape_facts const& facts) const = 0;
    };
    template <class M>
    struct holder final : held {
        M m;
        explicit holder(M const& from) : m(from) {}
        held const* clone() const override { return new holder(m); }
        bool visible(site const& s) const override { return facet::visible(m, s); }
        bound bind(shape_facts const& facts) const override {
            using B = bound_t<M>;
            static_assert(sizeof(B) <= bound::capacity,
                          "basin: this mask is too large for any_mask; put it in a key_bits or combine fewer masks");
            bound result{};
            ::new (static_cast<void*>(result.storage)) B(basin::bind(m, facts));
            result.ask_visible = [](void const* p, site const& s) {
                return facet::visible(*static_cast<B const*>(p), s);
            };
            result.ask_cover = [](void const* p, tile const& t) { return facet::cover(*static_cast<B const*>(p), t); };
            result.ask_hides = [](void const* p, head_site const& s, index_t key) {
                return facet::hides(*static_cast<B const*>(p), s, key);
            };
            return result;
        }
    };

    held const* held_;
};

} // namespace basin
