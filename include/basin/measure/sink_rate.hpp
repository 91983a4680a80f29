// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/detection.hpp>

namespace basin {

/// In what share of (layer, head, text) a key is a sink: the sink rate of Gu et al. when the rule was mass_share{0.3}. Add
/// the detection of each layer; a head that did not observe the key does not count.
class sink_rate {
public:
    /// The sinks of one more call.
    void add(detection const& found) {
        auto const keys = static_cast<std::size_t>(found.keys().keys());
        if (sinks_.size() < keys) {
            sinks_.resize(keys);
            looks_.resize(keys);
        }
        auto const sinks = found.keys().bits(), observed = found.observed().bits();
        for (index_t b = 0; b < found.batch(); ++b)
            for (index_t h = 0; h < found.heads(); ++h)
                for (index_t key = 0; key < found.keys().keys(); ++key) {
                    sinks_[static_cast<std::size_t>(key)] += sinks.contains(b, h, key) ? 1 : 0;
                    looks_[static_cast<std::size_t>(key)] += observed.contains(b, h, key) ? 1 : 0;
                }
    }
    /// NaN for a key that was never observed.
    double of(index_t key) const {
        if (key < 0 || static_cast<std::size_t>(key) >= looks_.size() || looks_[static_cast<std::size_t>(key)] == 0)
            return __builtin_nan("");
        return static_cast<double>(sinks_[static_cast<std::size_t>(key)]) /
               static_cast<double>(looks_[static_cast<std::size_t>(key)]);
    }
    /// How many positions the longest detection had.
    index_t keys() const { return static_cast<index_t>(looks_.size()); }

private:
    std::vector<long long> sinks_, looks_;
};

} // namespace basin
