// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

// What travels to kernels and devices.
template <class... T>
inline constexpr bool trivial = (std::is_trivially_copyable_v<T> && ...);
template <class... P>
inline constexpr bool binds = (basin::bound_policy<basin::bound_t<P>> && ...);

static_assert(trivial<basin::view<float, 4>, basin::view<double const, 1>, basin::site, basin::tile, basin::head_site,
                      basin::value_site>);
static_assert(trivial<basin::half, basin::bfloat16, basin::layout, basin::text, basin::options, basin::shape_facts,
                      basin::key_set_view>);
static_assert(trivial<basin::received<float>, basin::peak<float>, basin::votes<double>, basin::received_value<float>,
                      basin::seen<float>>);
static_assert(trivial<basin::lse<float>, basin::entropy<double>, basin::escaped<float>, basin::favourite<float>>);
static_assert(trivial<basin::reference_backend>);
static_assert(trivial<basin::attention_task<basin::purpose::attend, float, basin::full, basin::lse<float>>>);

static_assert(binds<basin::full, basin::causal, basin::window, basin::prefix, basin::blocks, basin::block_causal,
                    basin::block_diffusion>);
static_assert(
    binds<basin::key_bits, basin::bias<float>, basin::alibi, basin::softcap, basin::temperature, basin::any_mask>);
static_assert(binds<basin::sink_masked, basin::sink_token<>, basin::sink_token<basin::sink_masked>, basin::sink_logit,
                    basin::kv_sink<float>>);

inline auto const composed =
    basin::all_of(basin::any_of(basin::key_bits({1, 1, 1, 1}), basin::causal{}), basin::none_of(basin::any_mask{}),
                  basin::where(basin::causal{}, basin::softcap{}), basin::alibi{0.5});
static_assert(binds<decltype(composed)>);

// Capturing lambdas are policies too.
inline auto with_capture(int n) {
    return basin::all_of(basin::mask_if([n](basin::site s) { return s.key < n; }),
                         basin::score_with([n](auto x, basin::site) { return x * static_cast<decltype(x)>(n); }));
}
static_assert(binds<decltype(with_capture(3))>);

// Masks are masks, and nothing else is.
static_assert(basin::mask<basin::full> && basin::mask<basin::sink_masked> && basin::mask<basin::sink_token<>> &&
              basin::mask<basin::any_mask>);
static_assert(!basin::mask<basin::softcap> && !basin::mask<basin::sink_logit> && !basin::mask<basin::bias<float>>);
static_assert(!basin::mask<basin::sink_token<decltype(basin::all_of(basin::causal{}, basin::softcap{}))>>);
static_assert(basin::policy<basin::kv_sink<float>> && !basin::policy<int> && !basin::policy<basin::options>);
