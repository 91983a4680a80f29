// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/rule.hpp>

namespace basin {

/// The first positions of a text, whatever they receive: the sinks of autoregressive models by decree (StreamingLLM keeps
/// the first four). `all_of(first_token{}, mass_share{0.3})` asks for the mass too.
struct first_token {
    /// So many keys from the beginning of the text.
    index_t count = 1;

    template <class T>
    verdict<T> operator()(key_facts<T> const& key, head_facts<T> const&) const {
        return {key.key < count, static_cast<T>(key.key), static_cast<T>(count), "first_token", true};
    }
    template <class T>
    void check(head_facts<T> const&) const {
        if (count < 0) detail::fail<argument_error>("first_token: count is ", count);
    }
};

} // namespace basin
