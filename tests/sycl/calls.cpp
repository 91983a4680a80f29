// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/backends.hpp>

#include <basin/testing/sample.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace basin;

namespace {

template <class T>
struct on_device {
    sycl::queue queue;
    T* data;
    std::size_t count;
    on_device(sycl::queue const& q, std::ptrdiff_t n, sycl::usm::alloc kind)
        : queue(q), data(static_cast<T*>(sycl::malloc(static_cast<std::size_t>(n) * sizeof(T), q, kind))),
          count(static_cast<std::size_t>(n)) {}
    on_device(on_device const&) = delete;
    on_device& operator=(on_device const&) = delete;
    ~on_device() { sycl::free(data, queue); }
    void read(T const* from) { queue.memcpy(data, from, count * sizeof(T)).wait(); }
    void write(T* to) { queue.memcpy(to, data, count * sizeof(T)).wait(); }
};

/// Attention by the reference, to compare with.
struct expected {
    testing::sample<float> x;
    buffer<float, 4> out;
    buffer<float, 3> mass;
    static constexpr auto policy = causal{} & softcap{5};

    explicit expected(testing::check_options const& o)
        : x(o), out(o.batch, o.heads, o.queries, o.value_channels), mass(o.batch, o.heads, o.keys) {
        attention(reference_backend{}, x.q, x.k, x.v, out, policy, received{mass});
    }
    template <class Out, class Mass>
    bool near(Out const& got, Mass const& got_mass) const {
        bool same = true;
        for (std::ptrdiff_t i = 0; i < out.size(); ++i)
            same = same && testing::close(static_cast<double>(got.data()[i]), static_cast<double>(out.data()[i]), 1e-5);
        for (std::ptrdiff_t i = 0; i < mass.size(); ++i)
            same = same &&
                   testing::close(static_cast<double>(got_mass.data()[i]), static_cast<double>(mass.data()[i]), 1e-5);
        return same;
    }
};
testing::check_options small() {
    testing::check_options o;
    o.queries = o.keys = 70;
    return o;
}

} // namespace

TEST_CASE("arrays in USM memory are used in place, of every kind") {
    expected const want(small());
    for (auto const kind : {sycl::usm::alloc::device, sycl::usm::alloc::shared, sycl::usm::alloc::host}) {
        for (auto const kernel : {sycl_kernel::coarse, sycl_kernel::tile}) {
            sycl_backend const backend{.queue = basin_test::sycl_queue(), .kernel = kernel};
            on_device<float> q(backend.queue, want.x.q.size(), kind), k(backend.queue, want.x.k.size(), kind),
                v(backend.queue, want.x.v.size(), kind), out(backend.queue, want.out.size(), kind),
                mass(backend.queue, want.mass.size(), kind);
            q.read(want.x.q.data());
            k.read(want.x.k.data());
            v.read(want.x.v.data());
            view<float const, 4> const vq(q.data, want.x.q.extents()), vk(k.data, want.x.k.extents()),
                vv(v.data, want.x.v.extents());
            view<float, 4> const vo(out.data, want.out.extents());
            view<float, 3> const vm(mass.data, want.mass.extents());
            attention(backend, vq, vk, vv, vo, expected::policy, received{vm});
            buffer<float, 4> got(want.out.extents());
            buffer<float, 3> got_mass(want.mass.extents());
            out.write(got.data());
            mass.write(got_mass.data());
            CHECK(want.near(got, got_mass));
        }
    }
}

TEST_CASE("submit does not wait, its call does, and brings copies back") {
    expected const want(small());
    for (auto const host : {host_arrays::automatic, host_arrays::copied}) {
        sycl_backend const backend{.queue = basin_test::sycl_queue(), .host = host};
        buffer<float, 4> got(want.out.extents());
        buffer<float, 3> got_mass(want.mass.extents());
        sycl_call first = submit(backend, want.x.q, want.x.k, want.x.v, got, expected::policy, received{got_mass});
        buffer<float, 4> again(want.out.extents());
        buffer<float, 3> mass_again(want.mass.extents());
        sycl_backend later = backend;
        later.after = {first.event()};
        sycl_call second = submit(later, want.x.q, want.x.k, want.x.v, again, expected::policy, received{mass_again});
        second.wait();
        first.wait();
        first.wait(); // a second time does nothing
        CHECK(want.near(got, got_mass));
        CHECK(want.near(again, mass_again));
        {
            again.fill(7);
            sycl_call const left = submit(backend, want.x.q, want.x.k, want.x.v, again, expected::policy,
                                          accumulate(received{mass_again}));
        } // the destructor waits
        CHECK(want.near(again, got_mass));
        CHECK(testing::close(static_cast<double>(mass_again(0, 0, 0)), 2 * static_cast<double>(want.mass(0, 0, 0)),
                             1e-5));
    }
}

TEST_CASE("a second run gives the same bits, and so do copies") {
    expected const want(small());
    for (auto const kernel : {sycl_kernel::coarse, sycl_kernel::tile}) {
        buffer<float, 4> first(want.out.extents()), second(want.out.extents());
        buffer<float, 3> mass(want.mass.extents()), mass_again(want.mass.extents());
        sycl_backend backend{.queue = basin_test::sycl_queue(), .kernel = kernel};
        attention(backend, want.x.q, want.x.k, want.x.v, first, expected::policy, received{mass});
        backend.host = host_arrays::copied;
        attention(backend, want.x.q, want.x.k, want.x.v, second, expected::policy, received{mass_again});
        auto const same = [](auto const& a, auto const& b) {
            return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
        };
        CHECK(same(first, second));
        CHECK(same(mass, mass_again));
    }
}

TEST_CASE("errors are backend_error, in words, and leave arrays alone") {
    // A workspace of this size fits on no device, and nothing is touched before it is there.
    index_t const keys = 1 << 29;
    float number = 1, result = 7;
    view<float const, 4> const q(&number, {{1, 1, 1, 1}}), huge(&number, {{1, 1, keys, 1}}, {{0, 0, 0, 0}});
    view<float, 4> const out(&result, {{1, 1, 1, 1}});
    std::string words;
    try {
        auto const wide = view<float const, 4>(&number, {{1, 1, keys, 1 << 14}}, {{0, 0, 0, 0}});
        auto const wide_q = view<float const, 4>(&number, {{1, 1, 1, 1 << 14}}, {{0, 0, 0, 0}});
        attention(basin_test::sycl_coarse{}, wide_q, wide, huge, out, full{});
    } catch (backend_error const& e) {
        words = e.what();
    }
    CHECK(words.find("has no room for") != std::string::npos);
    CHECK(result == 7);
    CHECK(workspace_bytes(basin_test::sycl_coarse{}, q, q, q, out, full{}) > 0);
    CHECK(workspace_bytes(basin_test::sycl_tile{}, q, q, q, out, full{}) == sizeof(row_facts<float>));
}
