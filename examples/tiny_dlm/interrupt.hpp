// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>
#include <exception>

#include <signal.h> // sigaction

namespace tiny_dlm {

/// Thrown where a loop noticed Ctrl-C; unwinding removes temporary files. run_program turns it into exit code 130.
class interruption : public std::exception {
public:
    char const* what() const noexcept override { return "stopped by Ctrl-C"; }
};

namespace detail {
inline volatile std::sig_atomic_t stop_asked = 0;
}

/// While it lives, Ctrl-C (and a polite kill) only sets a flag, which loops ask for between steps; a call that waits (for a lock,
/// say) returns with EINTR. A second Ctrl-C ends the process at once.
class interrupt_guard {
public:
    interrupt_guard() {
        struct sigaction how{};
        how.sa_handler = &interrupt_guard::note;
        how.sa_flags = static_cast<int>(SA_RESETHAND); // without SA_RESTART: waiting would just go on
        sigemptyset(&how.sa_mask);
        for (int i = 0; i < 2; ++i) ::sigaction(signals[i], &how, &old_[i]);
    }
    interrupt_guard(interrupt_guard const&) = delete;
    interrupt_guard& operator=(interrupt_guard const&) = delete;
    ~interrupt_guard() {
        for (int i = 0; i < 2; ++i) ::sigaction(signals[i], &old_[i], nullptr);
    }

    static bool asked() { return detail::stop_asked != 0; }
    /// Throws interruption when Ctrl-C was pressed.
    static void check() {
        if (asked()) throw interruption();
    }

private:
    static constexpr int signals[2] = {SIGINT, SIGTERM};
    static void note(int) { detail::stop_asked = 1; }
    struct sigaction old_[2] = {};
};

} // namespace tiny_dlm
