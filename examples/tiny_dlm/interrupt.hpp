// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <exception>

namespace tiny_dlm {

/// Thrown where a loop noticed Ctrl-C; unwinding removes temporary files. run_program turns it into exit code 130.
class interruption : public std::exception {
public:
    char const* what() const noexcept override { return "stopped by Ctrl-C"; }
};

namespace detail {
inline volatile std::sig_atomic_t stop_asked = 0;
}

/// While it lives, Ctrl-C (and a polite kill) only sets a flag, which loops ask for between steps. A second Ctrl-C ends the
/// process at once.
class interrupt_guard {
public:
    interrupt_guard() {
        for (int i = 0; i < 2; ++i) old_[i] = std::signal(signals[i], &interrupt_guard::note);
    }
    interrupt_guard(interrupt_guard const&) = delete;
    interrupt_guard& operator=(interrupt_guard const&) = delete;
    ~interrupt_guard() {
        for (int i = 0; i < 2; ++i) std::signal(signals[i], old_[i]);
    }

    static bool asked() { return detail::stop_asked != 0; }
    /// Throws interruption when Ctrl-C was pressed.
    static void check() {
        if (asked()) throw interruption();
    }

private:
    static constexpr int signals[2] = {SIGINT, SIGTERM};
    static void note(int signal) {
        detail::stop_asked = 1;
        std::signal(signal, SIG_DFL);
    }
    void (*old_[2])(int) = {};
};

} // namespace tiny_dlm
