// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>

namespace basin {

/// A mask from a lambda: `mask_if([](auto s) { return s.key % 2 == 0; })`. Evaluated key by key; a lambda that is
/// generic in its site and takes lanes says so: `mask_if([](auto s) { ... }, supported{})`. Capture numbers, spans and views by
/// value. Captured references (`[&]`) work on CPUs while what they name lives, and are read by all threads; a device that
/// does not see the host's memory cannot follow them.
template <class Visible, class Lanes = void>
struct mask_if {
    using lanes = Lanes;
    Visible function;
    static_assert(
        std::is_trivially_copyable_v<Visible>,
        "basin: this lambda is not trivially copyable, as kernels need it: capture a std::span or a basin::view "
        "instead of a container, and numbers one by one instead of a std::pair or std::tuple");

    explicit constexpr mask_if(Visible f) : function(f) {}
    constexpr mask_if(Visible f, supported) : function(f) {}

    template <class Lane>
    auto visible(basic_site<Lane> const& s) const {
        return function(s);
    }
};
template <class Visible>
mask_if(Visible) -> mask_if<Visible, void>;
template <class Visible>
mask_if(Visible, supported) -> mask_if<Visible, supported>;

/// A change of scores from a lambda: `score_with([](auto x, auto s) { return x * 0.5f; })`.
template <class Score, class Lanes = void>
struct score_with {
    using lanes = Lanes;
    Score function;
    static_assert(
        std::is_trivially_copyable_v<Score>,
        "basin: this lambda is not trivially copyable, as kernels need it: capture a std::span or a basin::view "
        "instead of a container, and numbers one by one instead of a std::pair or std::tuple");

    explicit constexpr score_with(Score f) : function(f) {}
    constexpr score_with(Score f, supported) : function(f) {}

    template <class X, class Lane>
    auto score(X x, basic_site<Lane> const& s) const {
        return function(x, s);
    }
};
template <class Score>
score_with(Score) -> score_with<Score, void>;
template <class Score>
score_with(Score, supported) -> score_with<Score, supported>;

} // namespace basin
