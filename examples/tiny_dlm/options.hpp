// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "interrupt.hpp"

#include <charconv>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tiny_dlm {

/// The command line is wrong; what() is one sentence.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A command line: `--name value`, `--name=value` and flags. What an option writes to keeps its value as the default.
///
///     command_line line("tiny_dlm generate", "Writes a text by denoising.");
///     line.option("--steps", "N", "denoising steps", steps, 1, 10000);
///     line.flag("--quiet", "no text while it is written", quiet);
///     if (!line.parse(argc, argv)) return 0; // --help was asked for and printed
class command_line {
public:
    command_line(std::string program, std::string summary)
        : program_(std::move(program)), summary_(std::move(summary)) {}

    /// Set to true when given.
    void flag(std::string name, std::string help, bool& target) {
        add({std::move(name), "", std::move(help), "", [&target](std::string_view) { target = true; }});
    }
    /// Any text.
    void option(std::string name, std::string value, std::string help, std::string& target) {
        add({std::move(name), std::move(value), std::move(help), target,
             [&target](std::string_view text) { target = text; }});
    }
    /// A number between two bounds.
    template <class Number>
        requires std::is_arithmetic_v<Number>
    void option(std::string name, std::string value, std::string help, Number& target, Number low, Number high) {
        auto const read = [this, name, &target, low, high](std::string_view text) {
            Number number{};
            auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
            if (code != std::errc() || end != text.data() + text.size() || !(number >= low && number <= high))
                throw usage_error(program_ + ": " + name + " takes a number from " + shown(low) + " to " + shown(high) +
                                  ", not \"" + std::string(text) + "\"");
            target = number;
        };
        std::string const now = shown(target);
        add({std::move(name), std::move(value), std::move(help), now, read});
    }
    /// One of several words, which become the values of an enumeration in their order.
    template <class Enum>
        requires std::is_enum_v<Enum>
    void option(std::string name, std::string help, Enum& target, std::vector<std::string> words) {
        std::string list;
        for (std::string const& word : words) list += (list.empty() ? "" : "|") + word;
        std::string const now = words[static_cast<std::size_t>(target)];
        auto const read = [this, name, list, words, &target](std::string_view text) {
            for (std::size_t i = 0; i < words.size(); ++i) {
                if (words[i] == text) {
                    target = static_cast<Enum>(i);
                    return;
                }
            }
            throw usage_error(program_ + ": " + name + " takes one of " + list + ", not \"" + std::string(text) + "\"");
        };
        add({std::move(name), list, std::move(help), now, read});
    }

    /// Reads the arguments after the program's name. False: --help was asked for, and printed to stdout.
    bool parse(int argc, char const* const* argv) {
        for (int i = 1; i < argc; ++i) {
            std::string_view const word = argv[i];
            if (word == "--help" || word == "-h") {
                std::fputs(help().c_str(), stdout);
                return false;
            }
            std::size_t const equals = word.find('=');
            entry const& e = find(word.substr(0, equals));
            if (e.value.empty()) {
                if (equals != word.npos) throw usage_error(program_ + ": " + e.name + " takes no value");
                e.read("");
            } else if (equals != word.npos) {
                e.read(word.substr(equals + 1));
            } else {
                if (i + 1 >= argc) throw usage_error(program_ + ": " + e.name + " needs a value, " + e.value);
                e.read(argv[++i]);
            }
        }
        return true;
    }
    /// What --help prints.
    std::string help() const {
        std::string text = summary_ + "\n\nusage: " + program_ + " [options]\n";
        std::size_t width = 6;
        for (entry const& e : entries_) width = std::max(width, left(e).size());
        auto const line = [&](std::string const& a, std::string const& b) {
            text += "  " + a + std::string(width - a.size() + 2, ' ') + b + "\n";
        };
        for (entry const& e : entries_) line(left(e), e.help + (e.now.empty() ? "" : " (" + e.now + ")"));
        line("--help", "this text");
        return text;
    }

private:
    struct entry {
        std::string name, value, help, now;
        std::function<void(std::string_view)> read;
    };
    static std::string left(entry const& e) { return e.value.empty() ? e.name : e.name + " " + e.value; }
    template <class Number>
    static std::string shown(Number number) {
        char text[40];
        auto const end = std::to_chars(text, text + sizeof text, number).ptr;
        return {text, end};
    }
    void add(entry e) { entries_.push_back(std::move(e)); }
    entry const& find(std::string_view name) const {
        for (entry const& e : entries_) {
            if (e.name == name) return e;
        }
        throw usage_error(program_ + ": there is no option \"" + std::string(name) + "\"; --help lists them");
    }

    std::string program_, summary_;
    std::vector<entry> entries_;
};

/// Runs the body of main: an error becomes one sentence on stderr. Exit codes: 2 wrong command line, 130 Ctrl-C, 1 anything
/// else. Output that could not be written (a full disk behind stdout) is an error too.
template <class Body>
int run_program(char const* name, Body const& body) {
    int code = 1;
    try {
        code = body();
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            throw std::runtime_error("the output could not be written; is the disk full?");
    } catch (usage_error const& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    } catch (interruption const& e) {
        std::fprintf(stderr, "%s: %s; nothing half-written is left\n", name, e.what());
        return 130;
    } catch (std::bad_alloc const&) {
        std::fprintf(stderr, "%s: not enough memory\n", name);
        return 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "%s: %s\n", name, e.what());
        return 1;
    }
    return code;
}

} // namespace tiny_dlm
