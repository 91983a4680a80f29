// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/export/atomic_file.hpp>
#include <basin/track/tracker.hpp>

#include <cstdio>
#include <string>

namespace basin {

/// What a tracker was told, kept to be told again: replaying it gives the same events with the same settings, and other
/// settings can be tried without running the model. Holds sinks and what was observed, as runs of keys.
class track_log {
public:
    /// One more update of a tracker.
    void add(index_t step, index_t layer, detection const& found) {
        entry e{step, layer, found.batch(), found.heads(), found.keys().keys(), {}, {}};
        for (sink const& s : found.list()) e.sinks.push_back({s.batch, s.head, s.key, s.kind, s.received});
        auto const bits = found.observed().bits();
        for (index_t b = 0; b < e.batch; ++b)
            for (index_t h = 0; h < e.heads; ++h)
                for (index_t key = 0; key < e.keys; ++key) {
                    if (!bits.contains(b, h, key)) continue;
                    bool const longer = !e.runs.empty() && e.runs.back().batch == b && e.runs.back().head == h &&
                                        e.runs.back().end == key;
                    if (longer)
                        ++e.runs.back().end;
                    else
                        e.runs.push_back({b, h, key, key + 1});
                }
        entries_.push_back(std::move(e));
    }
    /// How many updates it holds.
    std::size_t size() const { return entries_.size(); }

    /// Tells it all to a tracker; `report` gets the events of each update.
    template <class Report>
    void replay(tracker& target, Report const& report) const {
        for (entry const& e : entries_) report(target.update(e.step, e.layer, restore(e)));
    }

    /// Writes the log into a file, which appears whole or not at all.
    void save(std::string const& path) const {
        atomic_file file(path);
        char line[256];
        auto const print = [&](char const* format, auto... words) {
            int const n = std::snprintf(line, sizeof line, format, words...);
            file.write(line, static_cast<std::size_t>(n));
        };
        file.write("basin track log 1\n");
        for (entry const& e : entries_) {
            print("update %d %d %d %d %d %d %d\n", e.step, e.layer, e.batch, e.heads, e.keys,
                  static_cast<int>(e.sinks.size()), static_cast<int>(e.runs.size()));
            for (found_sink const& s : e.sinks)
                print("%d %d %d %d %a\n", s.batch, s.head, s.key, static_cast<int>(s.kind), s.received);
            for (run const& r : e.runs) print("%d %d %d %d\n", r.batch, r.head, r.begin, r.end);
        }
        file.commit();
    }
    /// Reads what save wrote; refuses any other file in words.
    static track_log load(std::string const& path) {
        struct closer {
            std::FILE* file;
            ~closer() {
                if (file != nullptr) std::fclose(file);
            }
        } const in{std::fopen(path.c_str(), "r")};
        if (in.file == nullptr) detail::fail<io_error>("track_log: cannot open ", path.c_str());
        track_log result;
        int version = 0;
        if (std::fscanf(in.file, "basin track log %d", &version) != 1 || version != 1)
            detail::fail<io_error>("track_log: ", path.c_str(), " is not a track log of version 1");
        entry e{};
        int sinks = 0, runs = 0;
        for (;;) {
            int const got = std::fscanf(in.file, " update %d %d %d %d %d %d %d", &e.step, &e.layer, &e.batch, &e.heads,
                                        &e.keys, &sinks, &runs);
            if (got == EOF) return result;
            e.sinks.clear();
            e.runs.clear();
            bool good = got == 7 && e.batch >= 0 && e.heads >= 0 && e.keys >= 0;
            for (int i = 0; good && i < sinks; ++i) {
                found_sink s{};
                int kind = 0;
                good = std::fscanf(in.file, "%d %d %d %d %la", &s.batch, &s.head, &s.key, &kind, &s.received) == 5 &&
                       kind >= 0 && kind < token_kinds && inside(e, s.batch, s.head) && s.key >= 0 && s.key < e.keys;
                s.kind = static_cast<token_kind>(kind);
                e.sinks.push_back(s);
            }
            for (int i = 0; good && i < runs; ++i) {
                run r{};
                good = std::fscanf(in.file, "%d %d %d %d", &r.batch, &r.head, &r.begin, &r.end) == 4 &&
                       inside(e, r.batch, r.head) && 0 <= r.begin && r.begin < r.end && r.end <= e.keys;
                e.runs.push_back(r);
            }
            if (!good)
                detail::fail<io_error>("track_log: ", path.c_str(), " is damaged in update ",
                                       static_cast<int>(result.size()));
            result.entries_.push_back(e);
        }
    }

private:
    struct found_sink {
        index_t batch, head, key;
        token_kind kind;
        double received;
    };
    struct run {
        index_t batch, head, begin, end;
    };
    struct entry {
        index_t step, layer, batch, heads, keys;
        std::vector<found_sink> sinks;
        std::vector<run> runs;
    };
    static bool inside(entry const& e, index_t b, index_t h) { return b >= 0 && b < e.batch && h >= 0 && h < e.heads; }
    static detection restore(entry const& e) {
        detection d(e.step, e.layer, e.batch, e.heads, e.keys);
        for (run const& r : e.runs)
            for (index_t key = r.begin; key < r.end; ++key) d.observe(r.batch, r.head, key);
        for (found_sink const& f : e.sinks) {
            sink s;
            s.step = e.step;
            s.layer = e.layer;
            s.batch = f.batch;
            s.head = f.head;
            s.key = f.key;
            s.kind = f.kind;
            s.received = f.received;
            d.add(s);
        }
        return d;
    }

    std::vector<entry> entries_;
};

} // namespace basin
