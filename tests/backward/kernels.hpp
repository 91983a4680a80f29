// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "training.hpp"

namespace basin_test {

template <class T, bool Weighs>
void run_forward(training<T>& t, any_policy<basin::accumulation_t<T>, Weighs> const& policy) {
    t.blank();
    t.entropy.blank();
    auto const run = [&](auto const& received) {
        basin::attention(basin::reference_backend{}, t.query(), t.key(), t.value(), t.out.view(), policy, t.options(),
                         basin::lse{t.lse.flat()}, received, basin::entropy{t.entropy.flat()});
    };
    if (t.is.groups.empty())
        run(basin::received{t.received.flat()});
    else
        run(basin::received{t.received.view(), t.groups()});
}

template <class Backend, class T, bool Weighs>
void run_backward(training<T>& t, any_policy<basin::accumulation_t<T>, Weighs> const& policy, bool terms) {
    auto const run = [&](auto const& up) {
        basin::attention_backward(Backend{}, basin::saved{t.query(), t.key(), t.value(), t.out.view(), t.lse.flat()},
                                  up, basin::gradients{t.d_q.view(), t.d_k.view(), t.d_v.view()}, policy, t.options());
    };
    if (!terms) return run(basin::upstream{t.d_out.view()});
    auto const received = t.is.groups.empty() ? basin::through_received{t.d_received.flat()}
                                              : basin::through_received{t.d_received.view(), t.groups()};
    run(basin::upstream{t.d_out.view(), basin::through_entropy{t.d_entropy.flat()}, received,
                        basin::through_lse{t.d_lse.flat()}});
}

template <class T, bool Weighs>
std::vector<backward_run<T, Weighs>> backward_runs() {
    std::vector<backward_run<T, Weighs>> result;
    for_each_backend([&]<class Backend>() { result.push_back({name_of<Backend>, &run_backward<Backend, T, Weighs>}); });
    return result;
}

} // namespace basin_test
