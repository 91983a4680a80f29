// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#if defined(BASIN_TEST_EIGEN) && __has_include(<basin/backend/eigen.hpp>)
#include <basin/backend/eigen.hpp>
#include <basin/basin.hpp>
#include <basin/testing/laws.hpp>

#include <doctest/doctest.h>

namespace {

using namespace basin;

TEST_CASE("eigen_backend passes check_backend") {
    auto const r = testing::check_backend(eigen_backend{});
    CHECK_MESSAGE(r.ok(), r.text());
}

TEST_CASE("composed policies on eigen_backend") {
    auto const passes = [](testing::report const& r) { CHECK_MESSAGE(r.ok(), r.text()); };
    passes(testing::check_policy(sink_token{{0, 7}, all_of(window{3, 1}, alibi{0.5, 0.25}, sink_logit{1})}, {},
                                 eigen_backend{}));
    passes(
        testing::check_policy(all_of(none_of(blocks{4}, prefix{2}), where(causal{}, softcap{1})), {}, eigen_backend{}));
    passes(
        testing::check_policy(sink_masked{key_set(23, {0, 4, 22})}, {}, testing::checked(eigen_backend{.threads = 2})));
}

} // namespace
#endif
