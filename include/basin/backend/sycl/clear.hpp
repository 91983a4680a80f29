// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/device_task.hpp>

namespace basin::detail::device {

/// The entry's clearing, on the device: outputs of padded queries become 0, statistics their identities.
template <class Task>
struct clear_kernel {
    Task x;

    index_t tokens() const { return math::max(x.where.queries, x.where.keys); }
    std::ptrdiff_t units() const { return std::ptrdiff_t{x.where.batch} * x.query_heads() * tokens(); }
    void operator()(index_t unit) const {
        index_t const token = unit % tokens(), head = unit / tokens() % x.query_heads(),
                      entry = unit / tokens() / x.query_heads();
        if constexpr (!Task::observing) {
            if (token < x.where.queries && !in_a_text(entry, token))
                for (index_t c = 0; c < x.out.extent(3); ++c)
                    x.out(entry, head, token, c) = typename Task::scalar_type{};
        }
        x.statistics.each([&](auto, auto const& s) {
            if (s.adds || token >= s.output.extent(3)) return;
            for (index_t g = 0; g < s.output.extent(2); ++g) s.output(entry, head, g, token) = s.identity();
            if constexpr (requires { s.keys; }) s.keys(entry, head, 0, token) = -1;
        });
    }

private:
    bool in_a_text(index_t entry, index_t query) const {
        if (x.where.query_offsets.given()) return query < x.where.query_offsets[x.where.query_offsets.size() - 1];
        return !x.where.query_lengths.given() || query < x.where.query_lengths[entry];
    }
};

} // namespace basin::detail::device
