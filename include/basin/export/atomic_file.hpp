// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace basin {

/// A file could not be read or written.
class io_error : public error {};

/// A file that appears whole or not at all: written beside its place, flushed to the disk, then renamed over it. Without
/// commit(), or after an error, the old file stays and the new one leaves no trace (a killed process may leave a
/// `.part` file, never a half-written result). POSIX.
class atomic_file {
public:
    explicit atomic_file(std::string path) : path_(std::move(path)) {
        static std::atomic<unsigned> count{0}; // two threads may write the same file
        do {
            part_ = path_ + "." + std::to_string(::getpid()) + "." + std::to_string(count++) + ".part";
            handle_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        } while (handle_ < 0 && errno == EEXIST); // left by a killed process of that number
        if (handle_ < 0) {
            part_.clear();
            detail::fail<io_error>("cannot create a file beside ", path_.c_str(), ": ", std::strerror(errno));
        }
        buffer_.reserve(capacity);
    }
    atomic_file(atomic_file const&) = delete;
    atomic_file& operator=(atomic_file const&) = delete;
    ~atomic_file() { discard(); }

    /// Appends bytes.
    void write(char const* data, std::size_t n) {
        if (buffer_.size() + n > capacity) flush();
        if (n >= capacity)
            put(data, n);
        else
            buffer_.insert(buffer_.end(), data, data + n);
    }
    /// Appends a text.
    void write(std::string const& text) { write(text.data(), text.size()); }

    /// Makes the file appear under its name; what is not committed never does.
    void commit() {
        flush();
        if (::fsync(handle_) != 0) give_up("cannot flush");
        int const closed = ::close(handle_);
        handle_ = -1;
        if (closed != 0) give_up("cannot close");
        if (::rename(part_.c_str(), path_.c_str()) != 0) give_up("cannot rename");
        part_.clear();
        sync_directory();
    }

private:
    static constexpr std::size_t capacity = 1 << 16;

    void flush() {
        put(buffer_.data(), buffer_.size());
        buffer_.clear();
    }
    void put(char const* data, std::size_t n) {
        while (n > 0) {
            ssize_t const done = ::write(handle_, data, n);
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) give_up("cannot write");
            data += done;
            n -= static_cast<std::size_t>(done);
        }
    }
    [[noreturn]] void give_up(char const* what) {
        char const* const why = std::strerror(errno);
        discard();
        detail::fail<io_error>(what, " ", path_.c_str(), ": ", why, "; the old file is as it was");
    }
    void discard() {
        if (handle_ >= 0) ::close(handle_);
        handle_ = -1;
        if (!part_.empty()) ::unlink(part_.c_str());
        part_.clear();
    }
    /// So that the rename survives a power cut; a file system that cannot do this has done what it can.
    void sync_directory() const {
        std::size_t const slash = path_.rfind('/');
        std::string const folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
        int const directory = ::open(folder.c_str(), O_RDONLY);
        if (directory < 0) return;
        (void)::fsync(directory);
        ::close(directory);
    }

    std::string path_, part_;
    int handle_ = -1;
    std::vector<char> buffer_;
};

} // namespace basin
