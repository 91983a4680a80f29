// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rule.hpp>

namespace basin {

/// Importance above a share: the mean probability over the queries that see the key. 0.3 in Gu et al., 0.8 in Barbero et al.
/// It falls with length: the same head has fewer such sinks in a longer text.
struct mass_share {
    /// What the mean probability must exceed.
    double share = 0.3;

    template <class T>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const&) const {
        return {key.share > static_cast<T>(share), key.share, static_cast<T>(share), "mass_share", false};
    }
    template <class T>
    T critical(key_facts<T> const& key, head_facts<T> const&) const {
        return key.share;
    }
    template <class T>
    void check(head_facts<T> const&) const {
        if (!(share >= 0)) detail::fail<argument_error>("mass_share: share is ", share, "; shares are in [0, 1]");
        if (share >= 1)
            detail::fail<argument_error>("mass_share: a share of ", share,
                                         " can never be exceeded: it is a part of 1, not a sum or a percentage");
    }
};

} // namespace basin
