// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/detect/detection.hpp>
#include <basin/track/life.hpp>
#include <basin/track/matching.hpp>

#include <algorithm>

namespace basin {

/// How far a sink may move, how long it may be missed, what is news.
struct tracking {
    index_t max_shift = 4;     ///< how far a sink may move in a step and stay itself
    index_t patience = 0;      ///< for how many observed steps it may be missing and come back
    double strengthened = 1.5; ///< by which factor its mass must grow to be news
    bool keys_first =
        false; ///< a key that is still a sink is still the same one, even if shifting all would be cheaper
    bool report_stays = false; ///< whether a sink that only stayed is an event too
    bool keep_paths = true;    ///< without, a life has its first and last waypoint only
};

/// Follows sinks through denoising steps, per layer, batch entry and head. One update per step and layer. What was not
/// observed does not age: neither a layer that was left out nor a key that was masked. Memory grows with tracks and their moves.
class tracker {
public:
    tracker() : tracker(tracking{}) {}
    explicit tracker(tracking const& how) : how_(how) {
        if (how.max_shift < 0 || how.patience < 0 || !(how.strengthened > 1)) {
            detail::fail<argument_error>(
                "tracker: max_shift and patience are not negative and strengthened is above 1; they are ",
                how.max_shift, ", ", how.patience, ", ", how.strengthened);
        }
    }

    /// What happened at this step, by batch entry and head; valid until the next update. On an error nothing has changed.
    std::vector<track_event> const& update(index_t step, index_t layer, detection const& found) {
        lane& l = lane_of(step, layer, found);
        events_.clear();
        l.step = step;
        auto next = found.list().begin();
        for (index_t b = 0; b < found.batch(); ++b)
            for (index_t h = 0; h < found.heads(); ++h) {
                auto const first = next;
                while (next != found.list().end() && next->batch == b && next->head == h) ++next;
                row& r = l.rows[static_cast<std::size_t>(b) * static_cast<std::size_t>(l.heads) +
                                static_cast<std::size_t>(h)];
                if (r.living.empty() && first == next) continue;
                if (found.observed().bits().count(b, h, 0, found.observed().keys()) == 0) continue;
                update_row({step, layer, b, h}, r, first, next, found.observed().bits());
            }
        return events_;
    }
    /// The same with the step and layer of the detection.
    std::vector<track_event> const& update(detection const& found) {
        return update(found.step(), found.layer(), found);
    }

    /// Every track there ever was, by number.
    std::vector<life> const& lives() const { return lives_; }
    /// How many tracks began.
    long long births() const { return static_cast<long long>(lives_.size()); }
    /// How many tracks ended.
    long long deaths() const { return deaths_; }
    /// How many tracks have not ended.
    long long living() const { return births() - deaths_; }
    /// The living tracks of a layer with their present keys, by batch entry, head, key; `missing` ones wait to come back.
    struct presence {
        index_t track, batch, head, key;
        /// It was not seen at the last step, and may come back.
        bool missing;
    };
    /// The living tracks of a layer.
    std::vector<presence> present(index_t layer) const {
        std::vector<presence> result;
        if (layer < 0 || static_cast<std::size_t>(layer) >= lanes_.size()) return result;
        for (row const& r : lanes_[static_cast<std::size_t>(layer)].rows)
            for (state const& s : r.living) {
                life const& x = lives_[static_cast<std::size_t>(s.track)];
                result.push_back({s.track, x.batch, x.head, s.key, s.missing != 0});
            }
        return result;
    }

private:
    struct state {
        index_t track, key, missing;
        double told;    // the mass that was last news
        index_t beside; // who survived nearby when it went missing
    };
    struct row {
        std::vector<state> living; // by key
    };
    struct lane {
        bool used = false;
        index_t step = 0, batch = 0, heads = 0;
        std::vector<row> rows;
    };
    struct place {
        index_t step, layer, batch, head;
    };
    using sinks = std::vector<sink>::const_iterator;

    lane& lane_of(index_t step, index_t layer, detection const& found) {
        constexpr index_t most = 1 << 20;
        if (layer < 0 || layer >= most) detail::fail<argument_error>("tracker: layer ", layer, " is out of range");
        if (static_cast<std::size_t>(layer) >= lanes_.size()) lanes_.resize(static_cast<std::size_t>(layer) + 1);
        lane& l = lanes_[static_cast<std::size_t>(layer)];
        if (l.used) {
            if (step <= l.step)
                detail::fail<argument_error>("tracker: step ", step, " of layer ", layer, " comes after step ", l.step,
                                             "; steps must grow");
            if (found.batch() != l.batch || found.heads() != l.heads) {
                detail::fail<shape_error>("tracker: layer ", layer, " has ", found.batch(), " texts and ",
                                          found.heads(), " heads at step ", step, ", but had ", l.batch, " and ",
                                          l.heads, " before");
            }
        } else {
            l = {true, step, found.batch(), found.heads(),
                 std::vector<row>(static_cast<std::size_t>(found.batch()) * static_cast<std::size_t>(found.heads()))};
        }
        return l;
    }

    void update_row(place const& at, row& r, sinks first, sinks end, key_set_view const& observed) {
        // Tracks whose key nobody could see wait outside: they neither age nor match.
        waiting_.clear();
        old_.clear();
        for (state const& s : r.living) {
            bool const looked = s.key < observed.keys && observed.contains(at.batch, at.head, s.key);
            (looked ? old_ : waiting_).push_back(s);
        }
        assign(first, end);
        next_.clear();
        for (state const& s : waiting_) next_.push_back(s);
        for (std::size_t i = 0; i < old_.size(); ++i) {
            if (partner_[i] >= 0) next_.push_back(go_on(at, old_[i], *(first + partner_[i])));
        }
        for (std::size_t i = 0; i < old_.size(); ++i) {
            if (partner_[i] < 0) miss(at, i, first);
        }
        for (sinks s = first; s != end; ++s) {
            if (!taken_[static_cast<std::size_t>(s - first)]) next_.push_back(begin(at, *s));
        }
        // Two tracks may share a key when a missing one is passed by: the elder stays first.
        std::sort(next_.begin(), next_.end(),
                  [](state const& a, state const& b) { return a.key != b.key ? a.key < b.key : a.track < b.track; });
        r.living.swap(next_);
    }

    /// Fills partner_ (by old track) and taken_ (by new sink).
    void assign(sinks first, sinks end) {
        auto const n = static_cast<std::size_t>(end - first);
        partner_.assign(old_.size(), -1);
        taken_.assign(n, false);
        auto const pair = [&](std::size_t i, std::size_t j) {
            partner_[i] = static_cast<index_t>(j);
            taken_[j] = true;
        };
        // Seen last step before missing ones: who blinked waits for what the others leave.
        for (bool const missing : {false, true}) {
            for (std::size_t i = 0, j = 0; how_.keys_first && i < old_.size(); ++i) {
                while (j < n && (first + static_cast<std::ptrdiff_t>(j))->key < old_[i].key) ++j;
                if ((old_[i].missing != 0) == missing && j < n && !taken_[j] &&
                    (first + static_cast<std::ptrdiff_t>(j))->key == old_[i].key)
                    pair(i, j);
            }
            from_.clear();
            from_at_.clear();
            for (std::size_t i = 0; i < old_.size(); ++i) {
                bool const twin = !from_.empty() && from_.back() == old_[i].key;
                if (partner_[i] >= 0 || (old_[i].missing != 0) != missing || twin) continue;
                from_.push_back(old_[i].key);
                from_at_.push_back(i);
            }
            if (from_.empty()) continue;
            to_.clear();
            to_at_.clear();
            for (std::size_t j = 0; j < n; ++j) {
                if (taken_[j]) continue;
                to_.push_back((first + static_cast<std::ptrdiff_t>(j))->key);
                to_at_.push_back(j);
            }
            auto const& found = matcher_.match(from_, to_, how_.max_shift);
            for (std::size_t i = 0; i < from_.size(); ++i) {
                if (found[i] >= 0) pair(from_at_[i], to_at_[static_cast<std::size_t>(found[i])]);
            }
        }
    }

    state go_on(place const& at, state s, sink const& now) {
        life& l = lives_[static_cast<std::size_t>(s.track)];
        l.last_seen = at.step;
        ++l.steps;
        l.mass += now.received;
        l.peak = math::max(l.peak, now.received);
        walk(l, at.step, now);
        bool const stronger = now.received >= s.told * how_.strengthened && now.received > s.told;
        if (now.key != s.key) tell(happening::moved, at, s.track, -1, s.key, now);
        if (stronger) tell(happening::strengthened, at, s.track, -1, s.key, now);
        if (now.key == s.key && !stronger && how_.report_stays) tell(happening::stayed, at, s.track, -1, s.key, now);
        if (stronger || now.received * how_.strengthened <= s.told)
            s.told = now.received; // what became weak may become strong again
        s.key = now.key;
        s.missing = 0;
        s.beside = -1;
        return s;
    }

    state begin(place const& at, sink const& now) {
        auto const number = static_cast<index_t>(lives_.size());
        index_t const parent = nearest(now.key, number, [&](std::size_t i) { return old_[i].key; });
        life l;
        l.track = number;
        l.layer = at.layer;
        l.batch = at.batch;
        l.head = at.head;
        l.born = l.last_seen = at.step;
        l.parent = parent;
        l.steps = 1;
        l.mass = l.peak = now.received;
        walk(l, at.step, now);
        lives_.push_back(std::move(l));
        tell(parent < 0 ? happening::born : happening::split, at, number, parent, -1, now);
        return {number, now.key, 0, now.received, -1};
    }

    void miss(place const& at, std::size_t i, sinks first) {
        state s = old_[i];
        if (s.missing == 0)
            s.beside = nearest(s.key, s.track, [&](std::size_t j) { return (first + partner_[j])->key; });
        if (++s.missing <= how_.patience) {
            next_.push_back(s);
            return;
        }
        life& l = lives_[static_cast<std::size_t>(s.track)];
        l.died = at.step;
        l.merged_into = s.beside;
        ++deaths_;
        track_event e{s.beside < 0 ? happening::died : happening::merged,
                      at.step,
                      at.layer,
                      at.batch,
                      at.head,
                      s.track,
                      s.beside,
                      s.key,
                      -1,
                      0,
                      token_kind::unknown};
        if (!l.path.empty()) {
            e.mass = l.path.back().mass / l.path.back().steps;
            e.kind = l.path.back().kind;
        }
        events_.push_back(e);
    }

    /// The survivor (matched at this step) within reach of a key, the nearest, then the eldest; -1: none.
    template <class Key>
    index_t nearest(index_t key, index_t self, Key const& key_of) const {
        index_t best = -1;
        long long distance = static_cast<long long>(how_.max_shift) + 1;
        for (std::size_t i = 0; i < old_.size(); ++i) {
            if (partner_[i] < 0 || old_[i].track == self) continue;
            long long const d = math::abs(static_cast<long long>(key_of(i)) - key);
            if (d < distance || (d == distance && best >= 0 && old_[i].track < best)) {
                best = old_[i].track;
                distance = d;
            }
        }
        return best;
    }

    void walk(life& l, index_t step, sink const& now) const {
        bool const same = !l.path.empty() && l.path.back().key == now.key && l.path.back().kind == now.kind;
        if (!same) {
            if (!how_.keep_paths && l.path.size() > 1) l.path.pop_back();
            l.path.push_back({step, step, now.key, now.kind, 0, 0});
        }
        waypoint& w = l.path.back();
        w.last = step;
        ++w.steps;
        w.mass += now.received;
    }

    void tell(happening what, place const& at, index_t track, index_t other, index_t from, sink const& now) {
        events_.push_back(
            {what, at.step, at.layer, at.batch, at.head, track, other, from, now.key, now.received, now.kind});
    }

    tracking how_;
    std::vector<lane> lanes_;
    std::vector<life> lives_;
    long long deaths_ = 0;
    std::vector<track_event> events_;
    // reused from row to row
    matcher matcher_;
    std::vector<state> old_, waiting_, next_;
    std::vector<index_t> partner_, from_, to_;
    std::vector<std::size_t> from_at_, to_at_;
    std::vector<bool> taken_;
};

} // namespace basin
