// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/reference.hpp>
#include <basin/backend/sycl.hpp>
#include <basin/detect/detect.hpp>

namespace basin {
namespace detail::device {

/// Brings arrays that only the device can read to the host, as they lie in memory.
class to_host {
public:
    explicit to_host(sycl::queue const& queue) : queue_(queue) {}

    template <class T, std::size_t R>
    view<T const, R> operator()(view<T const, R> const& x) {
        if (x.size() == 0 || sycl::get_pointer_type(x.data(), queue_.get_context()) != sycl::usm::alloc::device)
            return x;
        std::ptrdiff_t first = 0, last = 0; // of the elements, from x.data()
        for (std::size_t i = 0; i < R; ++i) {
            std::ptrdiff_t const reach = (x.extent(i) - 1) * x.stride(i);
            (reach < 0 ? first : last) += reach;
        }
        std::size_t const bytes = static_cast<std::size_t>(last - first + 1) * sizeof(T);
        kept_.emplace_back(bytes);
        queue_.memcpy(kept_.back().data(), x.data() + first, bytes).wait();
        return {reinterpret_cast<T const*>(kept_.back().data()) - first, x.extents(), x.strides()};
    }

private:
    sycl::queue queue_;
    std::vector<std::vector<std::byte>> kept_;
};

} // namespace detail::device

/// Sinks are found from sums by key, a few numbers beside what attention computes: the device's arrays are brought to the
/// host once, and judged there.
template <class T, rule R>
detection run_detection(sycl_backend const& backend, detection_task<T> const& task, R const& rule) {
    detail::device::to_host read(backend.queue);
    auto const facts =
        detail::device::in_words(backend.queue, "reading evidence", [&] { return task.facts.carried(read); });
    return run_detection(reference_backend{}, detection_task<T>{facts, task.where, task.positions}, rule);
}

} // namespace basin
