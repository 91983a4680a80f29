// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sycl/sycl.hpp>

namespace basin {

/// A handler for what a device reports late: it is kept until a call on a queue with this handler ends, which throws it as
/// backend_error. Copies keep the same list. A handler that throws by itself would end the program where a queue calls
/// it from its destructor.
class sycl_errors {
public:
    void operator()(sycl::exception_list const& errors) const {
        std::scoped_lock const lock(all_->mutex);
        for (std::exception_ptr const& e : errors) all_->kept.push_back(e);
    }
    /// Throws the first error that is kept, and forgets the others.
    void throw_kept() const {
        std::vector<std::exception_ptr> kept;
        {
            std::scoped_lock const lock(all_->mutex);
            kept.swap(all_->kept);
        }
        if (!kept.empty()) std::rethrow_exception(kept.front());
    }

private:
    struct state {
        std::mutex mutex;
        std::vector<std::exception_ptr> kept;
    };
    std::shared_ptr<state> all_ = std::make_shared<state>();
};

/// A sycl::queue with a handler whose errors the calls on it throw: `sycl_queue{sycl::gpu_selector_v}`. A sycl::queue of
/// one's own becomes one as it is: its errors go to its own handler, unless that is the sycl_errors given beside it.
class sycl_queue : public sycl::queue {
public:
    sycl_queue() : sycl_queue(sycl::default_selector_v) {}
    /// On a device, or on the one that a selector chooses.
    template <class Choice>
        requires std::constructible_from<sycl::queue, Choice const&, sycl_errors>
    explicit sycl_queue(Choice const& device_or_selector, sycl_errors handler = {})
        : sycl::queue(device_or_selector, handler), errors_(std::move(handler)) {}
    sycl_queue(sycl::queue const& given, sycl_errors handler = {}) : sycl::queue(given), errors_(std::move(handler)) {}

    /// What its handler keeps.
    sycl_errors const& errors() const { return errors_; }

private:
    sycl_errors errors_;
};

} // namespace basin

namespace basin::detail::device {

/// What the queue's device has reported by now is thrown, if its handler is sycl_errors or throws itself.
inline void hear(sycl_queue queue) {
    queue.throw_asynchronous();
    queue.errors().throw_kept();
}

/// Runs f; a SYCL error becomes a backend_error that names the device.
template <class F>
auto in_words(sycl::queue const& queue, char const* what, F&& f) {
    try {
        return f();
    } catch (sycl::exception const& e) {
        std::string const name = queue.get_device().get_info<sycl::info::device::name>();
        fail<backend_error>("sycl_backend: ", what, " failed on ", name.c_str(), ": ", e.what(),
                            "; try another device, or simd_backend");
    }
}

} // namespace basin::detail::device
