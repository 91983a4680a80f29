// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detail/compiler.hpp>

#include <cstdio>
#include <exception>

namespace basin {

/// What every error of basin is. The text lives in the object: throwing allocates nothing, and <string> stays out of the core.
class error : public std::exception {
public:
    /// What is wrong and what to do, in words.
    char const* what() const noexcept override { return text_; }

protected:
    friend class detail_message;
    /// Longer messages are cut.
    static constexpr int capacity = 512;
    char text_[capacity] = {};
};

/// An argument is wrong in itself: a null pointer, an alias, a number out of range.
class argument_error : public error {};

/// Extents that do not fit together.
class shape_error : public argument_error {};

/// A backend could not do its work: no memory on its device, a device without double precision, a failed kernel.
class backend_error : public error {};

/// Writes the words of an error. (A friend of error by name; not part of the interface.)
class detail_message {
public:
    template <class Error>
    static void write(Error& target, int& used, char const* word) {
        while (*word != '\0' && used < Error::capacity - 1) target.text_[used++] = *word++;
        target.text_[used] = '\0';
    }
    template <class Error>
    static void write(Error& target, int& used, long long number) {
        char digits[24];
        std::snprintf(digits, sizeof digits, "%lld", number);
        write(target, used, static_cast<char const*>(digits));
    }
    template <class Error>
    static void write(Error& target, int& used, long number) {
        write(target, used, static_cast<long long>(number));
    }
    template <class Error>
    static void write(Error& target, int& used, int number) {
        write(target, used, static_cast<long long>(number));
    }
    template <class Error>
    static void write(Error& target, int& used, double number) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%g", number);
        write(target, used, static_cast<char const*>(digits));
    }
};

namespace detail {

/// Throws an Error whose text is the words in a row; without exceptions, prints them and terminates.
template <class Error, class... Words>
[[noreturn]] void fail(Words... words) {
    Error thrown;
    int used = 0;
    (detail_message::write(thrown, used, words), ...);
#if defined(__cpp_exceptions)
    throw thrown;
#else
    std::fprintf(stderr, "basin: %s\n", thrown.what());
    std::terminate();
#endif
}

} // namespace detail

/// For policies and statistics of one's own: refuses an argument in words, as basin's own do in their bind().
template <class... Words>
[[noreturn]] void refuse(Words... words) {
    detail::fail<argument_error>(words...);
}

} // namespace basin
