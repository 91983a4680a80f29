// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "arena.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace basin::detail::simd {

/// The caller's workspace, or memory of its own. A call of its own memory asks the system for large pages where it is large
/// itself: statistics of long texts walk over megabytes, row by row, and would otherwise wait for address translation
/// (received at 16384 tokens: 6 % instead of 4 %).
template <class Arch>
class memory {
public:
    memory(std::byte* given, std::size_t bytes) : own_(given == nullptr), alignment_(arena<Arch>::alignment) {
        if (!own_) {
            data_ = given + (alignment_ - reinterpret_cast<std::uintptr_t>(given) % alignment_) % alignment_;
            return;
        }
        if (bytes >= large_page) alignment_ = large_page;
        data_ = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment_}));
#if defined(__linux__)
        // Advice: where the system refuses it, nothing is lost but speed.
        if (bytes >= large_page) (void)madvise(data_, bytes / large_page * large_page, MADV_HUGEPAGE);
#endif
    }
    ~memory() {
        if (own_) ::operator delete(static_cast<void*>(data_), std::align_val_t{alignment_});
    }
    memory(memory const&) = delete;
    memory& operator=(memory const&) = delete;
    std::byte* data() const { return data_; }

private:
    static constexpr std::size_t large_page = std::size_t{1} << 21;

    std::byte* data_;
    bool own_;
    std::size_t alignment_;
};

} // namespace basin::detail::simd
