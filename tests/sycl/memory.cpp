// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "on_device.hpp"

#include <support/backends.hpp>

#include <basin/attention_backward.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

using namespace basin;
using basin_test::on_device;
using sycl::usm::alloc;

// Where arrays lie, how they get to the device and back, and what happens when there is no room.
namespace {

template <class F>
std::string words_of(F const& f) {
    try {
        f();
    } catch (backend_error const& e) {
        return e.what();
    }
    return "";
}

/// 0, 1, 2, ... in memory, and a view of them in any order.
struct numbered {
    std::vector<float> all;
    explicit numbered(std::size_t n) : all(n) {
        for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<float>(i);
    }
    view<float, 4> as(tuple_of<index_t, 4> const& extents, tuple_of<std::ptrdiff_t, 4> const& strides,
                      std::size_t first = 0) {
        return {all.data() + first, extents, strides};
    }
};

} // namespace

TEST_CASE("which memory is used in place") {
    using detail::device::used_in_place;
    struct {
        alloc kind;
        bool automatic_near, automatic_far, copied; // near: a device that reads all of the host's memory
    } const table[] = {{alloc::device, true, true, true},
                       {alloc::shared, true, true, true},
                       {alloc::host, true, true, false},
                       {alloc::unknown, true, false, false}};
    for (auto const& row : table) {
        CHECK(used_in_place(row.kind, host_arrays::automatic, true) == row.automatic_near);
        CHECK(used_in_place(row.kind, host_arrays::automatic, false) == row.automatic_far);
        CHECK(used_in_place(row.kind, host_arrays::copied, true) == row.copied);
        CHECK(used_in_place(row.kind, host_arrays::copied, false) == row.copied);
    }
}

TEST_CASE("what is used in place keeps its pointer on the way, and what is copied gets another") {
    auto const& queue = basin_test::sycl_queue();
    for (auto const kind : {alloc::device, alloc::shared, alloc::host}) {
        on_device<float> const x(queue, 6, kind);
        view<float, 4> const four(x.data, {{1, 1, 2, 3}});
        view<float const, 1> const one(x.data, {{6}});
        for (auto const choice : {host_arrays::automatic, host_arrays::copied}) {
            detail::device::call_memory memory(queue, choice, {});
            // Some devices know kinds of their own: a CPU takes all memory for the host's.
            auto const known = sycl::get_pointer_type(x.data, queue.get_context());
            bool const stays = detail::device::used_in_place(known, choice, queue.facts().reads_the_host);
            CHECK((memory(one).data() == x.data) == stays);
            CHECK((memory(static_cast<float const*>(x.data), 6) == x.data) == stays);
            CHECK((memory.writable(four, true).data() == x.data) == stays);
            CHECK((memory.writable(four, false).data() == x.data) == stays);
        }
    }
}

TEST_CASE("arrays in one piece are known as such, in whatever way their axes of one element are strided") {
    using detail::device::in_one_piece;
    numbered x(24);
    CHECK(in_one_piece(x.as({{1, 2, 3, 4}}, {{24, 12, 4, 1}})));
    CHECK(in_one_piece(x.as({{1, 2, 1, 4}}, {{7, 4, 99, 1}})));
    CHECK(in_one_piece(x.as({{2, 0, 3, 4}}, {{5, 5, 5, 5}}))); // there is nothing to copy
    CHECK(!in_one_piece(x.as({{1, 2, 3, 4}}, {{24, 4, 8, 1}})));
    CHECK(!in_one_piece(x.as({{1, 2, 3, 2}}, {{24, 12, 4, 1}})));
    CHECK(!in_one_piece(x.as({{1, 2, 3, 4}}, {{0, 0, 0, 0}})));
    CHECK(!in_one_piece(x.as({{1, 1, 2, 3}}, {{0, 0, -3, 1}}, 3)));
}

TEST_CASE("copies hold the elements in their order, and bring back these elements alone") {
    auto const& queue = basin_test::sycl_queue();
    struct {
        tuple_of<index_t, 4> extents;
        tuple_of<std::ptrdiff_t, 4> strides;
        std::size_t first;
    } const shapes[] = {{{{2, 3, 4, 5}}, {{60, 20, 5, 1}}, 0},  // in one piece
                        {{{2, 3, 4, 5}}, {{60, 5, 15, 1}}, 0},  // (batch, token, head, channel)
                        {{{2, 2, 3, 2}}, {{60, 20, 5, 2}}, 1},  // with gaps
                        {{{1, 1, 4, 5}}, {{0, 0, -10, 2}}, 60}, // backwards
                        {{{1, 1, 1, 0}}, {{0, 0, 0, 1}}, 0}};
    for (auto const& s : shapes) {
        numbered x(120);
        auto const there = x.as(s.extents, s.strides, s.first);
        detail::device::call_memory memory(queue, host_arrays::copied, {});
        auto const copy = memory.writable(there, true); // which a CPU's tests can read
        REQUIRE(copy.extents() == there.extents());
        auto const each = [&](auto const& f) {
            for (index_t b = 0; b < there.extent(0); ++b)
                for (index_t h = 0; h < there.extent(1); ++h)
                    for (index_t i = 0; i < there.extent(2); ++i)
                        for (index_t c = 0; c < there.extent(3); ++c) f(there(b, h, i, c), copy(b, h, i, c));
        };
        bool same = true;
        each([&](float original, float& copied) {
            same = same && original == copied;
            copied += 1000;
        });
        CHECK(same);
        memory.bring_back();
        std::ptrdiff_t changed = 0;
        for (float const y : x.all) changed += y >= 1000 ? 1 : 0;
        CHECK(changed == there.size());
        each([&](float original, float copied) { same = same && original == copied; });
        CHECK(same);
    }
}

TEST_CASE("the device is asked for memory before the host makes a copy, and a host without room says so") {
    index_t const keys = 1 << 29, channels = 1 << 14; // more than there is anywhere
    float number = 1, result = 7;
    view<float const, 4> const q(&number, {{1, 1, 1, channels}}, {{0, 0, 0, 0}}),
        k(&number, {{1, 1, keys, channels}}, {{0, 0, 0, 0}}), v(&number, {{1, 1, keys, 1}}, {{0, 0, 0, 0}});
    view<float, 4> const out(&result, {{1, 1, 1, 1}});
    sycl_backend const backend{.queue = basin_test::sycl_queue(), .host = host_arrays::copied};
    auto const& name = backend.queue.facts().name;
    CHECK(words_of([&] { attention(backend, q, k, v, out, full{}); }).find(name + " has no room for ") !=
          std::string::npos);
    CHECK(result == 7);
    CHECK(words_of([&] {
              detail::device::in_words(backend.queue, "a call", []() -> int { throw std::bad_alloc(); });
          }) == "sycl_backend: a call on " + name +
                    " failed: the host has no memory left; give a smaller batch, or arrays in USM memory");
}

namespace {
/// The host has no memory left on the way to the device.
struct no_room {
    template <class X, class Lane>
    X score(X x, basic_site<Lane> const&) const {
        return x;
    }
    template <class X, class Lane, class Add>
    void score_parameters(X x, basic_site<Lane> const&, Add const& add) const {
        add(0, x);
    }
    template <class Carrier>
    no_room carried(Carrier&) const {
        throw std::bad_alloc();
    }
};
} // namespace

TEST_CASE("memory that the host lacks is a backend_error of every call, and gradients are left alone") {
    buffer<float, 4> const x(1, 1, 3, 2);
    buffer<float, 4> out(1, 1, 3, 2), d_q(out.extents()), d_k(out.extents()), d_v(out.extents());
    buffer<float, 3> const rows(1, 1, 3);
    for (auto* const d : {&out, &d_q, &d_k, &d_v}) d->fill(7);
    std::vector<double> learns(1, 7.0);
    sycl_backend const backend{.queue = basin_test::sycl_queue()};
    CHECK(words_of([&] { attention(backend, x, x, x, out, no_room{}); }).find("the host has no memory left") !=
          std::string::npos);
    CHECK(words_of([&] {
              attention_backward(backend, saved{x, x, x, out, rows}, upstream{x}, gradients{d_q, d_k, d_v},
                                 learned{no_room{}, learns});
          }).find("the host has no memory left") != std::string::npos);
    for (auto const* const d : {&out, &d_q, &d_k, &d_v})
        for (float const y : *d) CHECK(y == 7);
    CHECK(learns[0] == 7); // the host wrote nothing where it might not be able to
}

TEST_CASE("a workspace of the backward pass that fits nowhere is refused before a gradient is cleared") {
    index_t const heads = 1 << 20, keys = 1 << 16, channels = 1 << 8; // of values, all heads together: 64 TiB
    float number = 1;
    view<float const, 4> const q(&number, {{1, heads, 1, 1}}, {{0, 0, 0, 0}}),
        k(&number, {{1, 1, keys, 1}}, {{0, 0, 0, 0}}), v(&number, {{1, 1, keys, channels}}, {{0, 0, 0, 0}}),
        out(&number, {{1, heads, 1, channels}}, {{0, 0, 0, 0}});
    view<float const, 3> const lse(&number, {{1, heads, 1}}, {{0, 0, 0}});
    std::vector<float> d_q(heads, 7.0F), d_k(keys, 7.0F);
    std::unique_ptr<float[]> const d_v(new float[std::size_t{keys} * channels]); // 64 MiB that nobody touches
    d_v[0] = 7;
    auto const words = words_of([&] {
        attention_backward(basin_test::sycl_coarse{}, saved{q, k, v, out, lse}, upstream{out},
                           gradients{view<float, 4>(d_q.data(), {{1, heads, 1, 1}}),
                                     view<float, 4>(d_k.data(), {{1, 1, keys, 1}}),
                                     view<float, 4>(d_v.get(), {{1, 1, keys, channels}})},
                           full{});
    });
    CHECK(words.find(" has no room for ") != std::string::npos);
    CHECK(d_q[0] == 7);
    CHECK(d_k[0] == 7);
    CHECK(d_v[0] == 7);
}
