// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/backend/reference.hpp>
#include <basin/backend/sycl.hpp>
#include <basin/backend/sycl/rules.hpp>
#include <basin/detect/detect.hpp>

// Sinks found on the device: a work-group judges one head of one text, and only what it found comes back. In double, as
// on the host; sums over keys have one order.
namespace basin {
namespace detail::device {

/// What a work-group leaves about its head. `broken`: mass that no attention can have produced, which the host words.
struct judged_head {
    head_facts<double> facts;
    index_t invalid = 0, fired = 0;
    bool broken = false;
};

template <class T, class Rule>
struct detect_kernel {
    static constexpr index_t items = 64, numbers = 6;
    enum class state : std::uint8_t { unseen, invalid, broken, live };
    using sums = tuple_of<double, numbers>;

    evidence<T> e;
    layout where;
    Rule rule;
    judged_head* heads;                  // (text, head)
    unsigned char* verdicts;             // (batch, head, key): 0 not observed, 1 observed, 2 a sink
    key_facts<double>* sinks;            // (batch, head, key): those of a text from its first key on, without gaps
    sycl::local_accessor<double, 1> all; // of the items, one after the other

    void operator()(sycl::nd_item<1> const& item) const {
        auto const& mass = e.received_view();
        index_t const group = static_cast<index_t>(item.get_group_linear_id());
        index_t const id = static_cast<index_t>(item.get_local_linear_id()), head = group % mass.extent(1);
        text const t = where.at(group / mass.extent(1));
        judged_head result;
        result.facts.batch = t.number;
        result.facts.head = head;
        result.facts.queries = static_cast<double>(t.query_end - t.query_begin) * e.pass_count();
        double const absent = __builtin_nan("");

        sums mine{};
        for (index_t place = t.key_begin + id; place < t.key_end; place += items) {
            key_facts<double> key;
            state const found = read(t, head, place, absent, key);
            mine[0] += found == state::live ? key.received : 0;
            mine[1] += found == state::live ? 1 : 0;
            mine[2] += found == state::invalid ? 1 : 0;
            mine[3] += found == state::broken ? 1 : 0;
        }
        sums const counted = together(item, mine, 0);
        index_t const n = static_cast<index_t>(counted[1]);
        result.facts.keys = n;
        result.invalid = static_cast<index_t>(counted[2]);
        result.broken = counted[3] > 0 || counted[0] > result.facts.queries * (1 + slack);
        bool const full = e.seen_view().data() == nullptr && e.baseline_view().data() == nullptr;
        double const uniform = full && n > 0 ? result.facts.queries / n : absent;

        sums facts{};
        each_live(t, head, id, uniform, [&](index_t, key_facts<double> const& key) {
            double const ratio = key.received / key.baseline;
            facts[0] += key.share;
            facts[1] = math::max(facts[1], key.share);
            facts[2] += ratio;
            facts[3] = math::max(facts[3], ratio);
            facts[4] = math::max(facts[4], key.seen / key.baseline);
        });
        sums const first = together(item, facts, 0b11010);
        auto& share = result.facts.share;
        auto& ratios = result.facts.ratio;
        double const count = n > 0 ? n : 1;
        share = {first[0], first[0] / count, 0, first[1]};
        ratios = {first[2], first[2] / count, 0, first[3]};
        result.facts.highest_ratio = first[4];
        sums squares{};
        each_live(t, head, id, uniform, [&](index_t, key_facts<double> const& key) {
            double const a = key.share - share.mean, b = key.received / key.baseline - ratios.mean;
            squares[0] += a * a;
            squares[1] += b * b;
        });
        sums const second = together(item, squares, 0);
        share.deviation = math::sqrt(second[0] / count);
        ratios.deviation = math::sqrt(second[1] / count);
        if (e.medians_view().data() != nullptr)
            result.facts.median_activation = static_cast<double>(e.medians_view()(t.entry));

        std::ptrdiff_t const line = (std::ptrdiff_t{t.entry} * mass.extent(1) + head) * mass.extent(3);
        // A lone key receives everything: that says nothing.
        each_live(t, head, id, uniform, [&](index_t place, key_facts<double> const& key) {
            verdicts[line + place] = n >= 2 && detail::verdict_of(rule, key, result.facts).fires ? 2 : 1;
        });
        sycl::group_barrier(item.get_group());
        if (id != 0) return;
        for (index_t place = t.key_begin; place < t.key_end; ++place) {
            if (verdicts[line + place] != 2) continue;
            key_facts<double> key;
            read(t, head, place, uniform, key);
            sinks[line + t.key_begin + result.fired++] = key;
        }
        heads[group] = result;
    }

private:
    static constexpr double slack = 1e-3; // as detail::read_row

    /// As detail::read_row, for one key.
    state read(text const& t, index_t head, index_t place, double uniform, key_facts<double>& k) const {
        auto const& mass = e.received_view();
        auto const at = [&](view<T const, 4> const& x, double otherwise) {
            return x.data() == nullptr
                       ? otherwise
                       : static_cast<double>(x(t.entry, head / (mass.extent(1) / x.extent(1)), 0, place));
        };
        double const queries = static_cast<double>(t.query_end - t.query_begin) * e.pass_count();
        double const absent = __builtin_nan("");
        k.seen = e.seen_view().data() == nullptr ? queries : at(e.seen_view(), absent) * e.seen_factor();
        if (k.seen == 0) return state::unseen;
        k.received = at(mass, absent);
        if (k.received != k.received) return state::invalid;
        if (!(k.seen > 0) || k.received < 0 || k.received > k.seen * (1 + slack)) return state::broken;
        k.key = where.key_at(t, place);
        k.share = k.received / k.seen;
        k.baseline = e.baseline_view().data() == nullptr ? uniform : at(e.baseline_view(), absent) * e.pass_count();
        k.norm = at(e.norms_view(), absent);
        k.activation = at(e.activations_view(), absent);
        return state::live;
    }
    template <class F>
    void each_live(text const& t, index_t head, index_t id, double uniform, F const& f) const {
        for (index_t place = t.key_begin + id; place < t.key_end; place += items) {
            key_facts<double> key;
            if (read(t, head, place, uniform, key) == state::live) f(place, key);
        }
    }
    /// The sums of all items, in their order; where the bit of a number is set, the largest instead.
    sums together(sycl::nd_item<1> const& item, sums const& mine, unsigned largest) const {
        std::size_t const id = item.get_local_linear_id();
        sycl::group_barrier(item.get_group());
        for (std::size_t i = 0; i < numbers; ++i) all[id * numbers + i] = mine[i];
        sycl::group_barrier(item.get_group());
        sums result{};
        for (std::size_t other = 0; other < items; ++other)
            for (std::size_t i = 0; i < numbers; ++i) {
                double const x = all[other * numbers + i];
                result[i] = (largest >> i & 1U) != 0 ? math::max(result[i], x) : result[i] + x;
            }
        return result;
    }
};

/// Brings arrays that only the device can read to the host, as they lie in memory.
class to_host {
public:
    to_host(sycl_queue const& queue, std::vector<sycl::event> const& after) : queue_(queue), after_(after) {}

    template <class T, std::size_t R>
    view<T const, R> operator()(view<T const, R> const& x) {
        if (x.size() == 0 || sycl::get_pointer_type(x.data(), queue_.get_context()) != sycl::usm::alloc::device)
            return x;
        await();
        std::ptrdiff_t first = 0, last = 0; // of the elements, from x.data()
        for (std::size_t i = 0; i < R; ++i) {
            std::ptrdiff_t const reach = (x.extent(i) - 1) * x.stride(i);
            (reach < 0 ? first : last) += reach;
        }
        std::size_t const bytes = static_cast<std::size_t>(last - first + 1) * sizeof(T);
        kept_.emplace_back(bytes);
        queue_.memcpy(kept_.back().data(), x.data() + first, bytes).wait();
        return {reinterpret_cast<T const*>(kept_.back().data()) - first, x.extents(), x.strides()};
    }

    /// Until what is read has been written.
    void await() {
        sycl::event::wait(after_);
        after_.clear();
    }

private:
    sycl::queue queue_;
    std::vector<sycl::event> after_;
    std::vector<std::vector<std::byte>> kept_;
};

/// What the device said, for the host to put into words.
struct judged {
    std::vector<judged_head> heads;
    std::vector<unsigned char> verdicts;
    std::vector<std::vector<key_facts<double>>> sinks; // of each head

    bool broken() const {
        for (judged_head const& h : heads)
            if (h.broken) return true;
        return false;
    }
};

template <class T, class Rule>
judged judge_on(sycl_backend const& backend, detection_task<T> const& task, Rule const& rule) {
    auto const& mass = task.facts.received_view();
    std::ptrdiff_t const heads = std::ptrdiff_t{task.where.texts()} * mass.extent(1), keys = mass.size();
    call_memory memory(backend.queue, backend.host, backend.after);
    sycl::queue queue = backend.queue;
    auto* const found = memory.take<judged_head>(heads);
    auto* const verdicts = memory.take<unsigned char>(keys);
    auto* const sinks = memory.take<key_facts<double>>(keys);
    queue.memset(verdicts, 0, static_cast<std::size_t>(keys)).wait();
    auto const facts = task.facts.carried(memory);
    auto const where = task.where.carried(memory);
    auto const there = rule_for(rule, memory);
    using kernel = detect_kernel<T, std::remove_const_t<decltype(there)>>;
    launcher go(backend.queue, backend.after);
    go.groups(heads, kernel::items, [&](sycl::handler& h) {
        return kernel{facts,
                      where,
                      there,
                      found,
                      verdicts,
                      sinks,
                      sycl::local_accessor<double, 1>{sycl::range<1>{std::size_t{kernel::items} * kernel::numbers}, h}};
    });
    go.finish();
    judged result{std::vector<judged_head>(static_cast<std::size_t>(heads)),
                  std::vector<unsigned char>(static_cast<std::size_t>(keys)),
                  std::vector<std::vector<key_facts<double>>>(static_cast<std::size_t>(heads))};
    if (heads > 0) queue.memcpy(result.heads.data(), found, result.heads.size() * sizeof(judged_head)).wait();
    queue.memcpy(result.verdicts.data(), verdicts, result.verdicts.size()).wait();
    for (std::size_t i = 0; i < result.heads.size(); ++i) {
        auto const fired = static_cast<std::size_t>(result.heads[i].fired);
        if (fired == 0) continue;
        text const t = task.where.at(static_cast<index_t>(i) / mass.extent(1));
        result.sinks[i].resize(fired);
        queue
            .memcpy(result.sinks[i].data(),
                    sinks +
                        (std::ptrdiff_t{t.entry} * mass.extent(1) + static_cast<index_t>(i) % mass.extent(1)) *
                            mass.extent(3) +
                        t.key_begin,
                    fired * sizeof(key_facts<double>))
            .wait();
    }
    return result;
}

/// Whether this device judges this rule.
template <class Rule>
bool judges_there(sycl_backend const& backend, Rule const&) {
    auto const& facts = backend.queue.facts();
    bool const in_place = backend.host == host_arrays::automatic && facts.reads_the_host;
    return facts.has_double && (says_how_it_moves<Rule> || in_place);
}

template <class T, class Rule>
detection in_a_list(judged const& from, detection_task<T> const& task, Rule const& rule,
                    view<token_kind const, 2> const& kinds) {
    auto const& e = task.facts;
    auto const& mass = e.received_view();
    detection found(e.step(), e.layer(), task.where.texts(), mass.extent(1), task.positions);
    for (std::size_t i = 0; i < from.heads.size(); ++i) {
        judged_head const& one = from.heads[i];
        found.set_head(one.facts);
        for (index_t n = 0; n < one.invalid; ++n) found.count_invalid();
        text const t = task.where.at(static_cast<index_t>(i) / mass.extent(1));
        index_t const head = one.facts.head;
        unsigned char const* const verdicts =
            from.verdicts.data() + (std::ptrdiff_t{t.entry} * mass.extent(1) + head) * mass.extent(3);
        if (one.facts.keys >= 2) {
            detail::check_rule(rule, one.facts);
            if (!detail::can_fire(rule, one.facts)) found.count_unreachable();
        }
        auto sink = from.sinks[i].begin();
        for (index_t place = t.key_begin; place < t.key_end; ++place) {
            if (verdicts[place] == 0) continue;
            found.observe(t.number, head, task.where.key_at(t, place));
            if (verdicts[place] != 2) continue;
            key_facts<double> const& k = *sink++;
            verdict<double> const v = detail::verdict_of(rule, k, one.facts); // once more, for its words
            auto const kind =
                kinds.data() == nullptr ? token_kind::unknown : kinds(kinds.extent(0) == 1 ? 0 : t.entry, place);
            found.add({e.step(), e.layer(), t.number, head, k.key, kind, k.received, k.seen, k.share, k.baseline,
                       k.norm, k.activation, v.number, v.threshold, v.below, v.by});
        }
    }
    return found;
}

} // namespace detail::device

/// Rules that are asked about one key at a time, and combinations of them, are judged on the device. Rules that compare
/// keys with each other (top_keys, low_norm) have the mass brought to the host once, and so has a device without double;
/// and one that does not read the host's memory, for rules that hold something and do not say how it moves (`carried`).
template <backend B, class T, rule R>
    requires std::derived_from<B, sycl_backend>
detection run_detection(B const& backend, detection_task<T> const& task, R const& rule) {
    detail::device::to_host read(backend.queue, backend.after);
    if constexpr (detail::device::can_be_moved<R>) {
        if (detail::device::judges_there(backend, rule)) {
            auto const judged = detail::device::in_words(backend.queue, "detection",
                                                         [&] { return detail::device::judge_on(backend, task, rule); });
            if (!judged.broken()) { // the host's way says what is wrong
                auto kinds = task.facts.kinds_view();
                if (kinds.data() != nullptr)
                    kinds = detail::device::in_words(backend.queue, "reading evidence", [&] { return read(kinds); });
                return detail::device::in_a_list(judged, task, rule, kinds);
            }
        }
    }
    auto const facts = detail::device::in_words(backend.queue, "reading evidence", [&] {
        read.await(); // arrays in place as well
        return task.facts.carried(read);
    });
    return run_detection(reference_backend{}, detection_task<T>{facts, task.where, task.positions}, rule);
}

} // namespace basin
