// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

#include <type_traits>

static_assert(std::is_constructible_v<basin::any_mask, basin::causal>);
static_assert(!std::is_constructible_v<basin::any_mask, basin::softcap>);
static_assert(!std::is_constructible_v<basin::any_mask, basin::sink_logit>);
static_assert(!std::is_convertible_v<basin::causal, basin::any_mask>); // said aloud

// A temporary may be read, views of foreign memory may be written.
void run(float* data) {
    using view = basin::view<float, 2>;
    basin::attention(basin::reference_backend{}, basin::buffer<float, 2>(3, 4), basin::buffer<float, 2>(3, 4),
                     basin::buffer<float, 2>(3, 4), view(data, {{3, 4}}), basin::full{});
}
