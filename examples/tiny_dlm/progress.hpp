// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tiny_dlm {

/// "1:05", "2:03:10".
inline std::string clock_text(double seconds) {
    auto const s = static_cast<long>(seconds < 0 ? 0 : seconds + 0.5);
    char text[40];
    if (s < 3600)
        std::snprintf(text, sizeof text, "%ld:%02ld", s / 60, s % 60);
    else
        std::snprintf(text, sizeof text, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

/// Whether a stream goes to a terminal that may be sent escape sequences: one that is known and not dumb, and nobody set NO_COLOR.
inline bool is_lively(std::FILE* out) {
    char const* const term = std::getenv("TERM");
    char const* const plain = std::getenv("NO_COLOR");
    return ::isatty(::fileno(out)) == 1 && term != nullptr && std::string_view(term) != "dumb" &&
           (plain == nullptr || *plain == '\0');
}

/// How many characters fit on a line of a terminal.
inline int columns_of(std::FILE* out) {
    winsize size{};
    return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/// How far a long job is: a bar that rewrites itself with the time left on a terminal, and a plain line at every tenth of the
/// way elsewhere, so that logs stay short. On stderr, which leaves stdout to results.
class progress {
public:
    /// `already` steps were done by an earlier run: they count for the bar, not for the speed.
    explicit progress(std::string what, long total, long already = 0, std::FILE* out = stderr)
        : what_(std::move(what)), total_(total < 1 ? 1 : total), already_(already), out_(out),
          terminal_(is_lively(out)) {}
    progress(progress const&) = delete;
    progress& operator=(progress const&) = delete;
    ~progress() { end_line(); }

    /// `done` of all steps, and a few words such as "loss 0.38". Cheap enough for every step.
    void update(long done, std::string const& words = {}) {
        double const spent = seconds();
        bool const last = done >= total_;
        long const tenth = done * 10 / total_;
        if (!last && (terminal_ ? spent - shown_ < 0.1 && shown_ >= 0 : tenth == tenth_)) return;
        if (last && finished_) return;
        shown_ = spent;
        tenth_ = tenth;
        finished_ = last;
        double const left =
            done > already_ ? spent / static_cast<double>(done - already_) * static_cast<double>(total_ - done) : -1;
        std::string time = last ? "took " + clock_text(spent) : left >= 0 ? clock_text(left) + " left" : std::string();
        if (terminal_) {
            int const columns = columns_of(out_);
            long const cells = columns < 100 ? 8 : 24;
            auto const full = static_cast<std::size_t>(std::clamp(done * cells / total_, 0L, cells));
            std::string line = what_ + " [" + std::string(full, '#') +
                               std::string(static_cast<std::size_t>(cells) - full, '.') + "] " + std::to_string(done) +
                               "/" + std::to_string(total_) + " " + time + "  " + words;
            line.resize(std::min(line.size(), static_cast<std::size_t>(columns - 1))); // a second line would stay
            std::fprintf(out_, "\r\033[K%s", line.c_str());
            open_line_ = true;
            if (last) end_line();
        } else {
            std::fprintf(out_, "%s %ld/%ld %s%s%s\n", what_.c_str(), done, total_, time.c_str(),
                         words.empty() ? "" : "  ", words.c_str());
        }
        std::fflush(out_);
    }

private:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
    void end_line() {
        if (open_line_) std::fputc('\n', out_);
        open_line_ = false;
    }

    std::string what_;
    long total_, already_;
    std::FILE* out_;
    bool terminal_, open_line_ = false, finished_ = false;
    long tenth_ = -1;
    double shown_ = -1;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace tiny_dlm
