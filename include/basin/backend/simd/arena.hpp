// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace basin::detail::simd {

/// Cuts arrays out of one piece of memory. Without memory it only counts, so that one description of the arrays serves
/// both to measure and to place them.
template <class Arch>
class arena {
public:
    arena() = default;
    explicit arena(std::byte* memory) : memory_(memory) {}

    template <class T>
    T* take(std::ptrdiff_t count) {
        used_ = (used_ + alignment - 1) / alignment * alignment;
        std::byte* const at = memory_ == nullptr ? nullptr : memory_ + used_;
        // A line of room behind each array: vectors may be read past its end.
        used_ += static_cast<std::size_t>(count) * sizeof(T) + alignment;
        return reinterpret_cast<T*>(at);
    }
    std::size_t used() const { return used_; }

    static constexpr std::size_t alignment = 64;

private:
    std::byte* memory_ = nullptr;
    std::size_t used_ = 0;
};

} // namespace basin::detail::simd
