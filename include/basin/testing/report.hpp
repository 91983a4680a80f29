// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace basin::testing {

/// What a check found: how many cases ran and, in words, those that failed. Bound to no test framework:
/// `CHECK_MESSAGE(r.ok(), r.text())`, `assert(r.ok())` and `EXPECT_TRUE(r.ok()) << r.text()` all work.
class report {
public:
    /// Whether nothing failed.
    bool ok() const { return failed_ == 0; }
    /// How many cases were looked at.
    long long cases() const { return cases_; }
    /// How many of them failed.
    long long failed() const { return failed_; }
    /// The first failures in words; the others are only counted.
    std::vector<std::string> const& failures() const { return failures_; }

    /// One more case ran; `words` makes the sentence that says what went wrong, and is called only if it did.
    template <class Words>
    void expect(bool holds, Words const& words) {
        ++cases_;
        if (holds) return;
        if (failures_.size() < kept) failures_.push_back(words());
        ++failed_;
    }
    report& operator+=(report const& other) {
        cases_ += other.cases_;
        failed_ += other.failed_;
        for (std::string const& words : other.failures_) {
            if (failures_.size() < kept) failures_.push_back(words);
        }
        return *this;
    }
    /// How many cases ran and failed, and the first failures in words.
    std::string text() const {
        std::string result = std::to_string(cases_) + " cases, " + std::to_string(failed_) + " failed";
        for (std::string const& words : failures_) result += "\n  " + words;
        return result;
    }

private:
    static constexpr std::size_t kept = 12;
    long long cases_ = 0, failed_ = 0;
    std::vector<std::string> failures_;
};

} // namespace basin::testing
