// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "screen.hpp"

#include <tiny_dlm/progress.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <thread>

namespace sink_atlas {
namespace {

bool punctuates(std::string const& name) {
    return name.size() == 1 && std::ispunct(static_cast<unsigned char>(name[0])) != 0;
}

} // namespace

std::string surface_of(tiny_dlm::tokenizer const& words, tiny_dlm::token_id token) {
    std::string const& name = words.name(token);
    if (token < tiny_dlm::tokenizer::specials) return name;
    if (name == "\n") return "newline";
    if (name == " ") return "space";
    if (punctuates(name)) return "punctuation";
    return words.by() == tiny_dlm::tokenizer::unit::words ? "word" : "letter";
}

screen::screen(tiny_dlm::tokenizer const& words) : words_(words) { live_ = tiny_dlm::is_lively(stdout); }

std::string screen::draw(tiny_dlm::sampling_step const& now, std::vector<double> const& sinks) const {
    std::string text;
    int column = 0;
    bool const by_words = words_.by() == tiny_dlm::tokenizer::unit::words;
    for (basin::index_t i = 0; i < now.length; ++i) {
        auto const at = static_cast<std::size_t>(i);
        auto const token = now.tokens[at];
        bool const masked = token == tiny_dlm::tokenizer::mask, sink = sinks[at] > 0;
        std::string word = masked ? (live_ ? "\u00b7" : "_") : words_.name(token);
        bool const newline = word == "\n";
        if (newline) word = live_ ? "\u21b5" : "/";
        int const size = masked || newline ? 1 : static_cast<int>(word.size());
        bool const space = by_words && column > 0 && !(punctuates(word) && !masked);
        if (column + size + (space ? 1 : 0) + (live_ ? 0 : 2) > width_ - 2) {
            text += "\n";
            column = 0;
        } else if (space) {
            text += " ";
            ++column;
        }
        if (live_) {
            // orange, brighter with mass: 256-colour codes
            int const strength = sinks[at] > 20 ? 208 : sinks[at] > 8 ? 172 : 130;
            if (sink) text += "\033[30;48;5;" + std::to_string(strength) + "m";
            if (masked && !sink) text += "\033[2m";
            if (now.fresh[at] != 0 && !sink) text += "\033[1;36m";
            text += word + "\033[0m";
            column += size;
        } else {
            text += sink ? "*" + word + "*" : word;
            column += size + (sink ? 2 : 0);
        }
        if (newline) {
            text += "\n";
            column = 0;
        }
    }
    return text;
}

std::string screen::strongest(tiny_dlm::sampling_step const& now, std::vector<double> const& sinks) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < sinks.size(); ++i)
        if (sinks[i] > 0) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return sinks[a] != sinks[b] ? sinks[a] > sinks[b] : a < b; });
    std::string text = "strongest sinks:";
    for (std::size_t n = 0; n < order.size() && n < 4; ++n) {
        auto const token = now.before[order[n]];
        char mass[40];
        std::snprintf(mass, sizeof mass, " at %zu, %.1f", order[n], sinks[order[n]]);
        std::string const name = words_.name(token) == "\n" ? "newline" : words_.name(token);
        std::string part = (n == 0 ? " " : "; ") + name + mass;
        if (static_cast<int>(text.size() + part.size()) > width_ - 2) break;
        text += part;
    }
    return order.empty() ? "no sink at this step" : text;
}

void screen::show(tiny_dlm::sampling_step const& now, int steps, std::vector<double> const& sinks) {
    auto const masked = [&](std::span<tiny_dlm::token_id const> tokens) {
        return static_cast<int>(std::count(tokens.begin(), tokens.end(), tiny_dlm::tokenizer::mask));
    };
    int const step = now.step + 1, left = masked(now.tokens);
    if (now.step == 0) masked_ = masked(now.before);
    int const done = masked_ - left;
    std::string const title = "step " + std::to_string(step) + (steps > 0 ? " of " + std::to_string(steps) : "");
    if (!live_) {
        int const fourth = done * 4 / std::max(1, masked_);
        if (fourth == shown_ && step != 1 && left != 0) return;
        shown_ = fourth;
        std::printf("\n%s, %d tokens masked; %s\n%s\n", title.c_str(), left, strongest(now, sinks).c_str(),
                    draw(now, sinks).c_str());
        std::fflush(stdout);
        return;
    }
    width_ = tiny_dlm::columns_of(stdout); // windows are resized
    std::string text;
    if (lines_ > 0) text += "\033[" + std::to_string(lines_) + "A\033[J"; // back to the first line
    std::string const rest = "  " + std::to_string(left) + " tokens masked";
    // One line: of a longer one the terminal makes two, and the first would stay.
    int const room = width_ - 2 - static_cast<int>(title.size());
    int const cells = std::clamp(room - static_cast<int>(rest.size()), 0, 24);
    int const full = cells * done / std::max(1, masked_);
    text += title + " ";
    for (int i = 0; i < cells; ++i) text += i < full ? "\u2588" : "\u2591";
    text += (room >= static_cast<int>(rest.size()) ? rest : "") + "\n" + draw(now, sinks) + "\n" +
            strongest(now, sinks) + "\n";
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    // to be seen, but not for long
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::min(120, 5000 / std::max(1, steps > 0 ? steps : masked_))));
}

} // namespace sink_atlas
