// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/sycl/clear.hpp>
#include <basin/backend/sycl/coarse.hpp>
#include <basin/backend/sycl/memory.hpp>
#include <basin/backend/sycl/tile_keys.hpp>
#include <basin/backend/sycl/tile_pairs.hpp>
#include <basin/backend/sycl/tile_rows.hpp>

#undef BASIN_INLINED // these are all that write it

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

/// Does nothing, after everything else.
struct no_kernel {
    void operator()(index_t) const {}
};

/// Kernels count with index_t. Calls ask this for all of them before the first one runs, so that nothing is half done.
inline void check_pieces(std::ptrdiff_t count) {
    if (count > 0x7fffff00)
        fail<backend_error>("sycl_backend: ", static_cast<long long>(count),
                            " pieces are too many for one call; give fewer texts, heads or tokens at a time");
}
inline void check_tiles(std::ptrdiff_t count, index_t items) {
    if (count > 0x7fffff00 / items)
        fail<backend_error>("sycl_backend: ", static_cast<long long>(count),
                            " tiles are too many for one call; give fewer texts, heads or tokens at a time");
}

/// Kernels of one call, one after the other.
class launcher {
public:
    launcher(sycl_queue const& queue, std::vector<sycl::event> const& after) : queue_(queue), last_(after) {}

    template <class Kernel>
    void numbers(Kernel const& kernel, std::ptrdiff_t count, std::size_t group) {
        static_assert(std::is_trivially_copyable_v<Kernel>);
        if (count == 0) return;
        check_pieces(count);
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
        check_tiles(count, items);
        std::size_t const group = static_cast<std::size_t>(items);
        last_ = {queue_.submit([&](sycl::handler& h) {
            h.depends_on(last_);
            h.parallel_for(sycl::nd_range<1>{static_cast<std::size_t>(count) * group, group}, make(h));
        })};
    }
    /// One event for all of them; where there was nothing to do, for what they were to wait for.
    sycl::event last() {
        if (last_.size() > 1) numbers(no_kernel{}, 1, 1);
        return last_.empty() ? sycl::event{} : last_.back();
    }
    /// Until all of them have ended.
    void finish() {
        sycl::event::wait(last_);
        hear(queue_);
    }

private:
    sycl_queue queue_;
    std::vector<sycl::event> last_;
};

/// How many work-items the kernels around the coarse one have.
struct coarse_counts {
    std::ptrdiff_t pack, gather;
};
template <class Task>
coarse_counts coarse_counts_of(Task const& x, coarse_plan const& plan) {
    std::ptrdiff_t const heads = math::max(x.value_heads(), x.k.extent(1));
    return {x.k.extent(0) * heads * plan.key_blocks,
            Task::by_key ? std::ptrdiff_t{x.where.texts()} * x.query_heads() * plan.key_blocks : 0};
}
template <class Task>
void check_coarse_counts(Task const& x, coarse_plan const& plan) {
    coarse_counts const counts = coarse_counts_of(x, plan);
    check_pieces(clear_kernel<Task>{x}.units());
    check_pieces(math::max(counts.pack, counts.gather));
}

template <class Task>
void launch_coarse(launcher& go, Task const& x, coarse_plan const& plan, typename Task::accumulation* work) {
    coarse_counts const counts = coarse_counts_of(x, plan);
    go.numbers(pack_kernel<Task>{x, plan, work}, counts.pack, 1);
    coarse_kernel<Task> const kernel{x, plan, work};
    go.numbers(kernel, plan.workers, 1);
    if constexpr (Task::by_key) go.numbers(gather_kernel<Task>{kernel}, counts.gather, 1);
}

/// How many groups the tile kernels have: those that own queries, and those that own keys.
struct tile_counts {
    std::ptrdiff_t queries, keys;
};
template <class Tuning, class Task>
tile_counts tile_counts_of(Task const& x) {
    std::ptrdiff_t const heads = std::ptrdiff_t{x.where.batch} * x.query_heads();
    return {heads * query_tiles(x.where, Tuning::rows).per_head(x.where),
            Task::by_key ? heads * key_tiles(x.where, Tuning::keys).per_head(x.where) : 0};
}
template <class Task>
void check_tile_counts(Task const& x) {
    check_pieces(clear_kernel<Task>{x}.units());
    auto const check = [&]<class Tuning>(Tuning) {
        tile_counts const counts = tile_counts_of<Tuning>(x);
        check_tiles(math::max(counts.queries, counts.keys), Tuning::items);
    };
    check(tile_tuning<typename Task::accumulation, 64>{});
    check(tile_tuning<typename Task::accumulation, 128>{});
}

/// How many rows and how many keys the plain backward pass has.
struct backward_counts {
    std::ptrdiff_t rows, keys;
};
template <class Task>
backward_counts plain_backward_counts(Task const& x) {
    std::ptrdiff_t const entries = x.where.texts() == 0 ? 0 : x.where.batch;
    return {entries * x.query_heads() * x.where.queries, entries * x.k.extent(1) * x.where.keys};
}

template <index_t Channels, class Task>
void launch_tile(launcher& go, Task const& x, row_facts<typename Task::accumulation>* facts) {
    using A = typename Task::accumulation;
    using tuning = tile_tuning<A, Channels>;
    tile_counts const counts = tile_counts_of<tuning>(x);
    // Wider values than one tile holds are computed in turns, each with the whole softmax.
    index_t const turns = Task::observing ? 1 : (x.v.extent(3) + Channels - 1) / Channels;
    for (index_t turn = 0; turn < turns; ++turn) {
        go.groups(counts.queries, tuning::items, [&](sycl::handler& h) {
            return tile_rows_kernel<Task, Channels>{x, facts, turn * Channels, tile_memory<A, Channels>(h)};
        });
        if constexpr (Task::weighs && !Task::observing) {
            go.groups(counts.queries, tuning::items, [&](sycl::handler& h) {
                return tile_pairs_kernel<Task, Channels>{x, facts, turn * Channels, tile_memory<A, Channels>(h)};
            });
        }
    }
    // Sweeps that read no values are the same kernel for any number of channels.
    constexpr index_t narrow = 64;
    if constexpr (Task::by_query && !(Task::weighs && !Task::observing)) {
        go.groups(counts.queries, tuning::items, [&](sycl::handler& h) {
            return tile_pairs_kernel<Task, narrow>{x, facts, 0, tile_memory<A, narrow>(h)};
        });
    }
    if constexpr (Task::by_key) {
        index_t groups = 1;
        x.statistics.each(
            [&](auto, auto const& s) { groups = math::max(groups, tile_keys_kernel<Task, narrow>::groups_of(s)); });
        for (index_t group = 0; group < groups; ++group)
            go.groups(counts.keys, tuning::items, [&](sycl::handler& h) {
                return tile_keys_kernel<Task, narrow>{x, facts, group, tile_memory<A, narrow>(h)};
            });
    }
}

} // namespace basin::detail::device
