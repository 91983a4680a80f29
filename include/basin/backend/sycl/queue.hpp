// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>

#include <concepts>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
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

namespace detail::device {

/// What a call must know of a device before it starts; asked once for each queue.
struct device_facts {
    std::string name;
    bool has_double;
    std::size_t local_memory;
    /// Whether it reads what lies in ordinary memory of the host.
    bool reads_the_host;

    static device_facts of(sycl::device const& device) {
        return {device.get_info<sycl::info::device::name>(), device.has(sycl::aspect::fp64),
                static_cast<std::size_t>(device.get_info<sycl::info::device::local_mem_size>()),
                device.has(sycl::aspect::usm_system_allocations)};
    }
};

} // namespace detail::device

/// A sycl::queue with a handler whose errors the calls on it throw: `sycl_queue{sycl::gpu_selector_v}`. A sycl::queue of
/// one's own becomes one as it is: its errors go to its own handler, unless that is the sycl_errors given beside it.
class sycl_queue : public sycl::queue {
public:
    sycl_queue() : sycl_queue(sycl::default_selector_v) {}
    /// On a device, or on the one that a selector chooses.
    template <class Choice>
        requires std::constructible_from<sycl::queue, Choice const&, sycl_errors>
    explicit sycl_queue(Choice const& device_or_selector, sycl_errors handler = {})
        : sycl::queue(device_or_selector, handler), errors_(std::move(handler)), facts_(facts_of(get_device())) {}
    sycl_queue(sycl::queue const& given, sycl_errors handler = {})
        : sycl::queue(given), errors_(std::move(handler)), facts_(facts_of(get_device())) {}

    /// What its handler keeps.
    sycl_errors const& errors() const { return errors_; }
    /// What its device can do.
    detail::device::device_facts const& facts() const { return *facts_; }

protected:
    /// A queue whose device is taken for another one: how tests see what is refused on devices that they do not have.
    sycl_queue(sycl_queue const& given, detail::device::device_facts const& pretended)
        : sycl::queue(given), errors_(given.errors_),
          facts_(std::make_shared<detail::device::device_facts const>(pretended)) {}

private:
    using facts_pointer = std::shared_ptr<detail::device::device_facts const>;
    static facts_pointer facts_of(sycl::device const& device) {
        return std::make_shared<detail::device::device_facts const>(detail::device::device_facts::of(device));
    }
    sycl_errors errors_;
    facts_pointer facts_;
};

} // namespace basin

namespace basin::detail::device {

/// What the queue's device has reported by now is thrown, if its handler is sycl_errors or throws itself.
inline void hear(sycl_queue queue) {
    queue.throw_asynchronous();
    queue.errors().throw_kept();
}

/// Runs f; a SYCL error becomes a backend_error that names the device, and so does the host's want of memory.
template <class F>
auto in_words(sycl_queue const& queue, char const* what, F&& f) {
    char const* const name = queue.facts().name.c_str();
    try {
        return f();
    } catch (sycl::exception const& e) {
        fail<backend_error>("sycl_backend: ", what, " failed on ", name, ": ", e.what(),
                            "; try another device, or simd_backend");
    } catch (std::bad_alloc const&) {
        fail<backend_error>("sycl_backend: ", what, " on ", name,
                            " failed: the host has no memory left; give a smaller batch, or arrays in USM memory");
    }
}

} // namespace basin::detail::device
