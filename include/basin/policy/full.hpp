// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {

/// Everyone sees everyone: bidirectional attention as diffusion language models use it, and the identity of `all_of`.
struct full {
    using lanes = supported;
    template <class Lane>
    auto visible(basic_site<Lane> const&) const {
        return detail::uniform_mask<Lane>(true);
    }
    static constexpr coverage cover(tile const&) { return coverage::all; }
};

} // namespace basin
