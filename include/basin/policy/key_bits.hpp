// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>
#include <basin/core/view.hpp>

namespace basin {
namespace detail {

// What kernels take of the policy. No class of its own: kernels are named after their types, and SYCL names kernels only
// by what can be declared ahead.
struct bound_key_bits {
    using lanes = supported;
    std::uint64_t const* words; ///< one bit for each key, 64 to a word, row after row
    /// How far apart batch entries, heads and queries lie, in words (0 broadcasts), and how many words there are.
    std::ptrdiff_t batch_stride, head_stride, query_stride, count;

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return math::lookup_bit(row(s.batch, s.head, math::first_of(s.query)), s.key);
    }
    /// Reads every word of the tile: 64 pairs at a time.
    coverage cover(tile const& t) const {
        bool any = false, all = true;
        for (index_t query = t.query_begin; query < t.query_end; ++query) {
            std::uint64_t const* const bits = row(t.batch, t.head, query);
            for (index_t word = t.key_begin >> 6; word <= (t.key_end - 1) >> 6; ++word) {
                std::uint64_t asked = ~std::uint64_t{0};
                if (word == t.key_begin >> 6) asked &= ~std::uint64_t{0} << (static_cast<unsigned>(t.key_begin) & 63U);
                if (word == (t.key_end - 1) >> 6)
                    asked &= ~std::uint64_t{0} >> (63U - (static_cast<unsigned>(t.key_end - 1) & 63U));
                any = any || (bits[word] & asked) != 0U;
                all = all && (bits[word] & asked) == asked;
            }
            if (any && !all) return coverage::some;
        }
        return all ? coverage::all : coverage::none;
    }
    template <class Carrier>
    bound_key_bits carried(Carrier& carrier) const {
        bound_key_bits result = *this;
        result.words = carrier(words, count);
        return result;
    }

private:
    std::uint64_t const* row(index_t b, index_t h, index_t query) const {
        return words + b * batch_stride + h * head_stride + query * query_stride;
    }
};

} // namespace detail

/// Any mask at all, one bit per pair: (batch, head, query, key), where a batch or head extent of 1 is shared by all.
/// `key_bits::of({1, 1, n, n}, [](basin::site s) { return ...; })` fills it. For masks that have a formula, prefer a
/// policy: it costs no memory and knows which tiles it may skip.
class key_bits {
public:
    using bound = detail::bound_key_bits;

    /// All bits zero: nobody sees anybody.
    explicit key_bits(tuple_of<index_t, 4> const& extents)
        : extents_(extents), words_(extents[0], extents[1], extents[2], (extents[3] + 63) / 64) {}
    /// The bits of all pairs for which visible(site) holds.
    template <class Visible>
    static key_bits of(tuple_of<index_t, 4> const& extents, Visible const& visible) {
        key_bits result(extents);
        for (index_t b = 0; b < extents[0]; ++b)
            for (index_t h = 0; h < extents[1]; ++h)
                for (index_t query = 0; query < extents[2]; ++query)
                    for (index_t key = 0; key < extents[3]; ++key)
                        if (visible(site{b, h, query, key})) result.show(b, h, query, key);
        return result;
    }

    /// Lets the query see the key.
    void show(index_t b, index_t h, index_t query, index_t key) { word(b, h, query, key) |= bit(key); }
    /// Hides the key from the query.
    void hide(index_t b, index_t h, index_t query, index_t key) { word(b, h, query, key) &= ~bit(key); }

    bound bind(shape_facts const& facts) const {
        auto const fits = [](index_t have, index_t need) { return have == 1 || have >= need; };
        if (!fits(extents_[0], facts.batch) || !fits(extents_[1], facts.heads) || extents_[2] < facts.queries ||
            extents_[3] < facts.keys) {
            detail::fail<shape_error>("key_bits: extents are (", extents_[0], ", ", extents_[1], ", ", extents_[2],
                                      ", ", extents_[3], "), but the call needs (", facts.batch, ", ", facts.heads,
                                      ", ", facts.queries, ", ", facts.keys, ")");
        }
        auto const stride = [&](std::size_t axis) {
            return extents_[axis] == 1 ? std::ptrdiff_t{0} : words_.stride(axis);
        };
        return {words_.data(), stride(0), stride(1), words_.stride(2), words_.size()};
    }
    bool visible(site const& s) const {
        index_t const b = extents_[0] == 1 ? 0 : s.batch;
        index_t const h = extents_[1] == 1 ? 0 : s.head;
        check(b, h, s.query, s.key);
        return (words_(b, h, s.query, s.key >> 6) & bit(s.key)) != 0U;
    }

private:
    static std::uint64_t bit(index_t key) { return std::uint64_t{1} << (static_cast<unsigned>(key) & 63U); }
    std::uint64_t& word(index_t b, index_t h, index_t query, index_t key) {
        check(b, h, query, key);
        return words_(b, h, query, key >> 6);
    }
    void check(index_t b, index_t h, index_t query, index_t key) const {
        if (b < 0 || b >= extents_[0] || h < 0 || h >= extents_[1] || query < 0 || query >= extents_[2] || key < 0 ||
            key >= extents_[3]) {
            detail::fail<argument_error>("key_bits: (", b, ", ", h, ", ", query, ", ", key,
                                         ") is outside of its extents");
        }
    }

    tuple_of<index_t, 4> extents_;
    buffer<std::uint64_t, 4> words_;
};

} // namespace basin
