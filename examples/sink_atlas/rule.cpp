// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "rule.hpp"

#include <tiny_dlm/options.hpp>

#include <charconv>
#include <cmath>

namespace sink_atlas {
namespace {

struct seen_by {
    double queries;
    bool operator()(basin::key_facts<double> const& key, basin::head_facts<double> const&) const {
        return key.seen >= queries;
    }
};

} // namespace

sink_rule::sink_rule(std::string const& text) : text_(text) {
    std::size_t const colon = text.find(':');
    std::string const name = text.substr(0, colon);
    double const defaults = name == "outlier" ? 3 : name == "mass_share" ? 0.3 : name == "top_keys" ? 1 : 3;
    double number = defaults;
    if (colon != text.npos) {
        char const* const end = text.data() + text.size();
        auto const read = std::from_chars(text.data() + colon + 1, end, number);
        if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number) || number < 0)
            throw tiny_dlm::usage_error("sink_atlas: --rule has a number after the colon, not \"" +
                                        text.substr(colon + 1) + "\"");
    } else {
        char shown[32];
        auto const end = std::to_chars(shown, shown + sizeof shown, number).ptr;
        text_ += ":" + std::string(shown, end);
    }
    if (name == "exceeds_others")
        rule_ = basin::exceeds_others{.epsilon = number};
    else if (name == "outlier")
        rule_ = basin::outlier{.z = number};
    else if (name == "mass_share" && number < 1)
        rule_ = basin::mass_share{number};
    else if (name == "top_keys" && number >= 1 && number <= 16 && number == std::floor(number))
        rule_ = first_keys{{static_cast<basin::index_t>(number)}};
    else
        throw tiny_dlm::usage_error(
            "sink_atlas: --rule takes exceeds_others:EPSILON, outlier:Z, mass_share:PART (below 1) "
            "or top_keys:COUNT (1 to 16), not \"" +
            text + "\"");
}

double sink_rule::epsilon() const {
    auto const* const rule = std::get_if<basin::exceeds_others>(&rule_);
    return rule == nullptr ? std::nan("") : rule->epsilon;
}

basin::detection sink_rule::find(basin::evidence<float> const& facts, double queries) const {
    return std::visit(
        [&](auto const& rule) {
            if (queries > 0) return basin::detect(basin::simd_backend{}, facts, basin::all_of(rule, seen_by{queries}));
            return basin::detect(basin::simd_backend{}, facts, rule);
        },
        rule_);
}

} // namespace sink_atlas
