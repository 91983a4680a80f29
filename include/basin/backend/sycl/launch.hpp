// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/clear.hpp>
#include <basin/backend/sycl/coarse.hpp>
#include <basin/backend/sycl/memory.hpp>
#include <basin/backend/sycl/tile_keys.hpp>
#include <basin/backend/sycl/tile_pairs.hpp>
#include <basin/backend/sycl/tile_rows.hpp>

namespace basin::detail::device {

/// A kernel over numbers 0 ... count - 1, as a function object of SYCL. Ranges are rounded up to whole work-groups.
template <class Kernel>
struct numbered {
    Kernel kernel;
    index_t count;
    void operator()(sycl::nd_item<1> const& item) const {
        index_t const i = static_cast<index_t>(item.get_global_linear_id());
        if (i < count) kernel(i);
    }
};

/// Kernels of one call, one after the other.
class launcher {
public:
    launcher(sycl_queue const& queue, std::vector<sycl::event> const& after) : queue_(queue), last_(after) {}

    template <class Kernel>
    void numbers(Kernel const& kernel, std::ptrdiff_t count, std::size_t group) {
        static_assert(std::is_trivially_copyable_v<Kernel>);
        if (count == 0) return;
        if (count > 0x7fffff00) fail<backend_error>("sycl_backend: the call has too many pieces; split the batch");
        std::size_t const groups = (static_cast<std::size_t>(count) + group - 1) / group;
        last_ = {queue_.submit([&](sycl::handler& h) {
            h.depends_on(last_);
            h.parallel_for(sycl::nd_range<1>{groups * group, group},
                           numbered<Kernel>{kernel, static_cast<index_t>(count)});
        })};
    }
    /// `make(handler)` gives the function object, with its local memory.
    template <class Make>
    void groups(std::ptrdiff_t count, index_t items, Make const& make) {
        if (count == 0) return;
        if (count > 0x7fffff00 / items)
            fail<backend_error>("sycl_backend: the call has too many tiles; split the batch");
        std::size_t const group = static_cast<std::size_t>(items);
        last_ = {queue_.submit([&](sycl::handler& h) {
            h.depends_on(last_);
            h.parallel_for(sycl::nd_range<1>{static_cast<std::size_t>(count) * group, group}, make(h));
        })};
    }
    /// One event for all of them; where there was nothing to do, for what they were to wait for.
    sycl::event last() {
        if (last_.size() > 1) numbers(nothing{}, 1, 1);
        return last_.empty() ? sycl::event{} : last_.back();
    }
    /// Until all of them have ended.
    void finish() {
        sycl::event::wait(last_);
        hear(queue_);
    }

private:
    struct nothing {
        void operator()(index_t) const {}
    };
    sycl_queue queue_;
    std::vector<sycl::event> last_;
};

template <class Task>
void launch_coarse(launcher& go, Task const& x, coarse_plan const& plan, typename Task::accumulation* work) {
    std::ptrdiff_t const heads = math::max(x.value_heads(), x.k.extent(1));
    go.numbers(pack_kernel<Task>{x, plan, work}, x.k.extent(0) * heads * plan.key_blocks, 1);
    coarse_kernel<Task> const kernel{x, plan, work};
    go.numbers(kernel, plan.workers, 1);
    if constexpr (Task::by_key)
        go.numbers(gather_kernel<Task>{kernel}, std::ptrdiff_t{x.where.texts()} * x.query_heads() * plan.key_blocks, 1);
}

template <index_t Channels, class Task>
void launch_tile(launcher& go, Task const& x, row_facts<typename Task::accumulation>* facts) {
    using A = typename Task::accumulation;
    using tuning = tile_tuning<A, Channels>;
    std::ptrdiff_t const heads = std::ptrdiff_t{x.where.texts()} * x.query_heads();
    std::ptrdiff_t const query_tiles = heads * ((x.where.queries + tuning::rows - 1) / tuning::rows);
    // Wider values than one tile holds are computed in turns, each with the whole softmax.
    index_t const turns = Task::observing ? 1 : (x.v.extent(3) + Channels - 1) / Channels;
    for (index_t turn = 0; turn < turns; ++turn) {
        go.groups(query_tiles, tuning::items, [&](sycl::handler& h) {
            return tile_rows_kernel<Task, Channels>{x, facts, turn * Channels, tile_memory<A, Channels>(h)};
        });
        if constexpr (Task::weighs && !Task::observing) {
            go.groups(query_tiles, tuning::items, [&](sycl::handler& h) {
                return tile_pairs_kernel<Task, Channels>{x, facts, turn * Channels, tile_memory<A, Channels>(h)};
            });
        }
    }
    // Sweeps that read no values are the same kernel for any number of channels.
    constexpr index_t narrow = 64;
    if constexpr (Task::by_query && !(Task::weighs && !Task::observing)) {
        go.groups(query_tiles, tuning::items, [&](sycl::handler& h) {
            return tile_pairs_kernel<Task, narrow>{x, facts, 0, tile_memory<A, narrow>(h)};
        });
    }
    if constexpr (Task::by_key) {
        index_t groups = 1;
        x.statistics.each(
            [&](auto, auto const& s) { groups = math::max(groups, tile_keys_kernel<Task, narrow>::groups_of(s)); });
        for (index_t group = 0; group < groups; ++group)
            go.groups(heads * ((x.where.keys + tuning::keys - 1) / tuning::keys), tuning::items, [&](sycl::handler& h) {
                return tile_keys_kernel<Task, narrow>{x, facts, group, tile_memory<A, narrow>(h)};
            });
    }
}

} // namespace basin::detail::device
