// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/facts.hpp>

#include <vector>

namespace basin {

/// What can happen to a sink from one step to the next.
enum class happening : std::uint8_t { born, stayed, moved, strengthened, split, merged, died };

/// `born` for happening::born, and so on.
constexpr char const* name_of(happening what) {
    constexpr char const* names[7] = {"born", "stayed", "moved", "strengthened", "split", "merged", "died"};
    return names[static_cast<int>(what)];
}

/// Something that happened to a track. A `split` is a birth beside a track that lives on (`other`), a `merged` is a death beside one.
struct track_event {
    /// What happened.
    happening what = happening::born;
    index_t step = 0, layer = 0, batch = 0, head = 0;
    /// Its number, and that of the track beside it at a split or merger; -1: none.
    index_t track = -1, other = -1;
    index_t from = -1, to = -1; ///< keys; -1 where there is none
    double mass = 0;            ///< received now; for a death, the last that was seen
    token_kind kind = token_kind::unknown;

    friend bool operator==(track_event const&, track_event const&) = default;
};

/// A stretch of a life at one key as one kind of token.
struct waypoint {
    index_t step = 0, last = 0; ///< first and last step
    index_t key = 0;
    token_kind kind = token_kind::unknown;
    index_t steps = 0; ///< in which it was seen
    double mass = 0;   ///< received, summed over them

    friend bool operator==(waypoint const&, waypoint const&) = default;
};

/// All that is kept of a track.
struct life {
    index_t track = -1, layer = 0, batch = 0, head = 0;
    /// The first and the last step in which it was seen.
    index_t born = 0, last_seen = 0;
    index_t died = -1; ///< the step at which it was missed for good; -1 while it lives
    /// The track it split from and the one it merged into; -1: none.
    index_t parent = -1, merged_into = -1;
    index_t steps = 0;         ///< in which it was seen
    double mass = 0, peak = 0; ///< received: summed over those steps, and the largest
    /// Where it stood, from its birth on: see tracking::keep_paths.
    std::vector<waypoint> path;

    /// Whether it has not died yet.
    bool alive() const { return died < 0; }
    friend bool operator==(life const&, life const&) = default;
};

} // namespace basin
