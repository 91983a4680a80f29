// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>
#include <basin/core/view.hpp>

#include <initializer_list>

namespace basin {

/// The bits of a key_set as kernels see them; an extent of 1 on the batch or head axis means "shared by all".
struct key_set_view {
    /// One bit for each key, 64 to a word, row after row.
    std::uint64_t const* words = nullptr;
    /// Extents, and how many words of 64 keys a row has.
    index_t batch = 0, heads = 0, keys = 0, words_per_row = 0;

    /// The words of a head; a batch or head extent of 1 is shared by all.
    std::uint64_t const* row(index_t b, index_t h) const {
        std::ptrdiff_t const entry = batch == 1 ? 0 : b;
        std::ptrdiff_t const head = heads == 1 ? 0 : h;
        return words + (entry * heads + head) * words_per_row;
    }
    bool contains(index_t b, index_t h, index_t key) const {
        return ((row(b, h)[key >> 6] >> (static_cast<unsigned>(key) & 63U)) & 1U) != 0U;
    }
    /// How many keys of [begin, end) are in the set.
    index_t count(index_t b, index_t h, index_t begin, index_t end) const {
        std::uint64_t const* const bits = row(b, h);
        index_t total = 0;
        for (index_t word = begin >> 6; word < (end + 63) >> 6; ++word) {
            std::uint64_t x = bits[word];
            if (word == begin >> 6) x &= ~std::uint64_t{0} << (static_cast<unsigned>(begin) & 63U);
            if (word == (end - 1) >> 6) x &= ~std::uint64_t{0} >> (63U - (static_cast<unsigned>(end - 1) & 63U));
            total += __builtin_popcountll(x);
        }
        return total;
    }
    /// The same set with its bits elsewhere (see facet::carried).
    template <class Carrier>
    key_set_view carried(Carrier& carrier) const {
        key_set_view result = *this;
        result.words = carrier(words, std::ptrdiff_t{batch} * heads * words_per_row);
        return result;
    }
};

/// A set of keys for each batch entry and head: one bit each. Head (or batch) extent 1 is shared by all heads (entries).
class key_set {
public:
    key_set() = default;
    key_set(index_t batch, index_t heads, index_t keys)
        : batch_(batch), heads_(heads), keys_(keys), words_(batch, heads, (keys + 63) / 64) {}
    /// The same keys for every batch entry and head.
    key_set(index_t keys, std::initializer_list<index_t> members) : key_set(1, 1, keys) {
        for (index_t const key : members) insert(0, 0, key);
    }

    index_t batch() const { return batch_; }
    index_t heads() const { return heads_; }
    index_t keys() const { return keys_; }

    /// Puts a key into the set of a head.
    void insert(index_t b, index_t h, index_t key) { word(b, h, key) |= bit(key); }
    /// Several keys, each checked before the first is inserted.
    void insert(index_t b, index_t h, index_t const* keys, index_t n) {
        if (n <= 0) return;
        int outside = 0, scattered = 0; // tested once, at the end: compilers take many keys at once
        for (index_t i = 0; i < n; ++i) {
            outside |= static_cast<int>(keys[i] < 0) | static_cast<int>(keys[i] >= keys_);
            scattered |= static_cast<int>(
                keys[i] != static_cast<index_t>(static_cast<unsigned>(keys[0]) + static_cast<unsigned>(i)));
        }
        for (index_t i = 0; i < (outside != 0 ? n : 1); ++i) check(b, h, keys[i]);
        index_t const run = scattered != 0 ? 1 : n; // neighbours share words
        for (index_t i = 0; i < n; i += run) insert_run(b, h, keys[i], keys[i] + run);
    }
    /// Takes a key out of the set of a head.
    void erase(index_t b, index_t h, index_t key) { word(b, h, key) &= ~bit(key); }
    bool contains(index_t b, index_t h, index_t key) const {
        check(b, h, key);
        return (words_(b, h, key >> 6) & bit(key)) != 0U;
    }
    /// How many keys are in it, over all heads.
    index_t count() const {
        index_t total = 0;
        for (std::uint64_t const w : words_) total += __builtin_popcountll(w);
        return total;
    }
    /// How many keys a head has.
    index_t count(index_t b, index_t h) const {
        if (keys_ == 0) return 0;
        check(b, h, 0);
        return bits().count(b, h, 0, keys_);
    }
    /// The set of one head, for calls that have one head each.
    key_set of_head(index_t b, index_t h) const {
        key_set one(1, 1, keys_);
        for (index_t key = 0; key < keys_; ++key) {
            if (contains(b, h, key)) one.insert(0, 0, key);
        }
        return one;
    }
    /// The set as policies read it, without ownership.
    key_set_view bits() const { return {words_.data(), batch_, heads_, keys_, words_.extent(2)}; }

    friend bool operator==(key_set const& a, key_set const& b) {
        if (a.batch_ != b.batch_ || a.heads_ != b.heads_ || a.keys_ != b.keys_) return false;
        for (std::ptrdiff_t i = 0; i < a.words_.size(); ++i) {
            if (a.words_.data()[i] != b.words_.data()[i]) return false;
        }
        return true;
    }

private:
    static std::uint64_t bit(index_t key) { return std::uint64_t{1} << (static_cast<unsigned>(key) & 63U); }
    std::uint64_t& word(index_t b, index_t h, index_t key) {
        check(b, h, key);
        return words_(b, h, key >> 6);
    }
    /// The keys of [begin, end), which is not empty and inside.
    void insert_run(index_t b, index_t h, index_t begin, index_t end) {
        std::uint64_t const all = ~std::uint64_t{0};
        index_t const first = begin >> 6, last = (end - 1) >> 6;
        for (index_t at = first; at <= last; ++at) {
            std::uint64_t members = all;
            if (at == first) members &= all << (static_cast<unsigned>(begin) & 63U);
            if (at == last) members &= all >> (63U - (static_cast<unsigned>(end - 1) & 63U));
            words_(b, h, at) |= members;
        }
    }
    void check(index_t b, index_t h, index_t key) const {
        if (b < 0 || b >= batch_ || h < 0 || h >= heads_ || key < 0 || key >= keys_) {
            detail::fail<argument_error>("key_set: (", b, ", ", h, ", ", key, ") is outside of its extents (", batch_,
                                         ", ", heads_, ", ", keys_, ")");
        }
    }

    index_t batch_ = 0, heads_ = 0, keys_ = 0;
    buffer<std::uint64_t, 3> words_;
};

} // namespace basin
