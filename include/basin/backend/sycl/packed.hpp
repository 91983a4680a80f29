// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/layout.hpp>

// Which work-item or group owns what, where texts are packed: as many as the tokens need, not a longest text for each.
namespace basin::detail::device {

/// The last of some texts that begins at `place` or before it; begins_at(i) never falls.
template <class F>
index_t text_before(index_t texts, F const& begins_at, index_t place) {
    index_t low = 0, high = texts - 1;
    while (low < high) {
        index_t const middle = low + (high - low + 1) / 2;
        if (begins_at(middle) <= place)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/// The text of a call to which one token of an entry belongs, or the last before it where that is padding.
inline text text_with(layout const& where, counts const& offsets, index_t entry, index_t place) {
    if (!offsets.given()) return where.at(entry);
    return where.at(text_before(where.texts(), [&](index_t i) { return offsets[i]; }, place));
}

/// The tiles of one axis of a call, `side` queries or keys each: numbers for every head of every entry. Text i of packed
/// ones begins at tile number `its first token / side + i`, which is room enough, with one empty tile per text at most.
struct tile_numbers {
    counts const& offsets;
    index_t tokens, side;

    index_t per_head(layout const& where) const {
        if (!offsets.given()) return tokens / side + (tokens % side != 0 ? 1 : 0);
        return where.texts() == 0 ? 0 : tokens / side + where.texts();
    }
    struct place {
        text t;
        index_t head, begin; // begin: the first token of the tile; past the text's end where the tile is empty
    };
    place at(layout const& where, index_t heads, bool of_queries, index_t number) const {
        index_t const tiles = per_head(where), head = number / tiles % heads, entry = number / tiles / heads;
        index_t tile = number % tiles, i = entry;
        if (offsets.given()) {
            auto const begins_at = [&](index_t j) { return offsets[j] / side + j; };
            i = text_before(where.texts(), begins_at, tile);
            tile -= begins_at(i);
        }
        text t = where.at(i);
        t.entry = entry; // 0 where texts are packed; a number that no list was read for needs fewer registers
        return {t, head, (of_queries ? t.query_begin : t.key_begin) + tile * side};
    }
};
inline tile_numbers query_tiles(layout const& where, index_t side) {
    return {where.query_offsets, where.queries, side};
}
inline tile_numbers key_tiles(layout const& where, index_t side) { return {where.key_offsets, where.keys, side}; }

} // namespace basin::detail::device
