// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/intervene/bootstrap.hpp>

#include <cstdio>
#include <string>

namespace basin {

/// A difference between conditions on the same inputs.
struct comparison {
    std::string name;         ///< what is subtracted from what
    index_t pairs = 0;        ///< inputs that were measured under both
    double mean = 0;          ///< of the differences
    interval range;           ///< of the mean
    double p_sign = 1;        ///< sign test
    double p = 1, p_holm = 1; ///< randomisation test of the mean, alone and corrected for all comparisons of the report
    bool effect = false;      ///< the interval leaves 0 out and the corrected p is below 1 - confidence

    /// The difference, its interval, both p-values and what follows, in one line.
    std::string sentence() const {
        char text[256];
        std::snprintf(text, sizeof text, "%s: %+.4g [%.4g, %.4g], p = %.3g (sign test %.3g), %s", name.c_str(), mean,
                      range.low, range.high, p_holm, p_sign,
                      effect            ? (mean > 0 ? "higher" : "lower")
                      : range.covers(0) ? "no effect seen"
                                        : "no effect seen after correction");
        return text;
    }
};

/// Conditions measured on the same inputs. The first condition is the baseline; each other one is compared with it, pair by
/// pair, and contrasts compare two changes with each other: (sinks - baseline) - (control - baseline), the difference of
/// differences. The question is never "did masking sinks hurt?" but "did it hurt more than masking as many other keys?"
class experiment {
public:
    explicit experiment(std::vector<std::string> conditions) : conditions_(std::move(conditions)) {
        if (conditions_.size() < 2)
            detail::fail<argument_error>("experiment: at least two conditions, the first one is the baseline");
    }
    /// Asks for (a - baseline) - (b - baseline) too.
    void contrast(std::string const& a, std::string const& b) { contrasts_.push_back({find(a), find(b)}); }

    /// One input: a number for each condition, in their order.
    void add(std::vector<double> const& values) {
        if (values.size() != conditions_.size())
            detail::fail<shape_error>("experiment: ", static_cast<int>(values.size()), " numbers for ",
                                      static_cast<int>(conditions_.size()), " conditions: pairs must be complete");
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!(__builtin_fabs(values[i]) < __builtin_inf()))
                detail::fail<argument_error>("experiment: input ", static_cast<int>(rows_.size()), " has ", values[i],
                                             " under ", conditions_[i].c_str());
        }
        rows_.push_back(values);
    }
    /// measure(input, condition) for inputs 0 ... n - 1 and conditions by number.
    template <class Measure>
    void run(index_t inputs, Measure const& measure) {
        std::vector<double> values(conditions_.size());
        for (index_t i = 0; i < inputs; ++i) {
            for (std::size_t c = 0; c < conditions_.size(); ++c)
                values[c] = static_cast<double>(measure(i, static_cast<index_t>(c)));
            add(values);
        }
    }

    /// Each condition against the baseline, then the contrasts; p-values corrected by Holm for all of them.
    std::vector<comparison> report(resampling const& how = {}) const {
        std::vector<comparison> result;
        std::vector<double> difference(rows_.size()), p;
        auto const compare = [&](std::string name, auto const& of) {
            for (std::size_t i = 0; i < rows_.size(); ++i) difference[i] = of(rows_[i]);
            comparison c;
            c.name = std::move(name);
            c.pairs = static_cast<index_t>(rows_.size());
            c.range = bootstrap_mean(difference, how);
            c.mean = detail::mean_of(difference);
            c.p_sign = sign_test(difference);
            c.p = sign_flip_test(difference, how);
            p.push_back(c.p);
            result.push_back(c);
        };
        for (std::size_t i = 1; i < conditions_.size(); ++i) {
            compare(conditions_[i] + " - " + conditions_[0],
                    [&](std::vector<double> const& row) { return row[i] - row[0]; });
        }
        for (auto const& [a, b] : contrasts_) {
            std::size_t const i = a, j = b; // bindings are not captured before C++20 on clang
            compare("(" + conditions_[i] + " - " + conditions_[0] + ") - (" + conditions_[j] + " - " + conditions_[0] +
                        ")",
                    [&](std::vector<double> const& row) { return (row[i] - row[0]) - (row[j] - row[0]); });
        }
        auto const corrected = holm(p);
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i].p_holm = corrected[i];
            result[i].effect = !result[i].range.covers(0) && corrected[i] <= 1 - how.confidence;
        }
        return result;
    }
    /// Their names, the baseline first.
    std::vector<std::string> const& conditions() const { return conditions_; }
    /// The inputs that were added: a number for each condition.
    std::vector<std::vector<double>> const& rows() const { return rows_; }

private:
    struct pair {
        std::size_t a, b;
    };
    std::size_t find(std::string const& name) const {
        for (std::size_t i = 1; i < conditions_.size(); ++i) {
            if (conditions_[i] == name) return i;
        }
        detail::fail<argument_error>("experiment: there is no condition called ", name.c_str(),
                                     " besides the baseline");
    }

    std::vector<std::string> conditions_;
    std::vector<pair> contrasts_;
    std::vector<std::vector<double>> rows_;
};

} // namespace basin
