// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <support/random.hpp>

#include <basin/backend/reference.hpp>
#include <basin/detect.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace maps {

using basin::index_t;

/// Attention of one head as a matrix, rows of queries; a key that is not seen has probability 0. Padded queries and keys
/// are there, but not live.
struct map {
    int size = 0, live = 0;
    std::vector<double> p;
    std::vector<bool> visible;
    std::vector<double> norm;

    double at(int i, int j) const { return p[static_cast<std::size_t>(i * size + j)]; }
    bool sees(int i, int j) const { return visible[static_cast<std::size_t>(i * size + j)]; }

    double received(int j) const {
        double sum = 0;
        for (int i = 0; i < live; ++i) sum += at(i, j);
        return sum;
    }
    int seen(int j) const {
        int n = 0;
        for (int i = 0; i < live; ++i) n += sees(i, j) ? 1 : 0;
        return n;
    }
    double uniform(int j) const {
        double sum = 0;
        for (int i = 0; i < live; ++i) {
            int n = 0;
            for (int k = 0; k < live; ++k) n += sees(i, k) ? 1 : 0;
            if (sees(i, j)) sum += 1.0 / n;
        }
        return sum;
    }
    /// Mass of a key on a scale, by its definition.
    double mass(int j, basin::mass_scale scale) const {
        double const mean = received(j) / seen(j);
        switch (scale) {
        case basin::mass_scale::sum:
            return mean * live;
        case basin::mass_scale::percent:
            return mean * 100;
        case basin::mass_scale::uniform_ratio:
            return received(j) / uniform(j);
        case basin::mass_scale::mean:
            break;
        }
        return mean;
    }
    /// Keys that take part.
    std::vector<int> keys() const {
        std::vector<int> result;
        for (int j = 0; j < live; ++j) {
            if (seen(j) > 0) result.push_back(j);
        }
        return result;
    }
};

enum class shape { full, causal, padded, holes };

inline map random_map(basin_test::random_numbers& random, int size, shape kind) {
    map m;
    m.size = size;
    m.live = kind == shape::padded ? 1 + random.below(size) : size;
    auto const cells = static_cast<std::size_t>(size * size);
    m.p.assign(cells, 0);
    m.visible.assign(cells, false);
    std::vector<double> attraction(static_cast<std::size_t>(size)); // some keys attract every query: sinks
    for (double& a : attraction) a = random.chance(0.15) ? random.uniform(1, 5) : 0;
    std::vector<bool> hole(static_cast<std::size_t>(size));
    for (std::size_t j = 0; j < hole.size(); ++j) hole[j] = kind == shape::holes && random.chance(0.2);
    for (int i = 0; i < m.live; ++i) {
        double sum = 0;
        for (int j = 0; j < m.live; ++j) {
            auto const cell = static_cast<std::size_t>(i * size + j);
            if ((kind == shape::causal && j > i) || hole[static_cast<std::size_t>(j)]) continue;
            m.visible[cell] = true;
            m.p[cell] = std::exp(random.uniform(-1, 1) + attraction[static_cast<std::size_t>(j)]);
            sum += m.p[cell];
        }
        for (int j = 0; j < m.live; ++j) m.p[static_cast<std::size_t>(i * size + j)] /= sum > 0 ? sum : 1;
    }
    for (int j = 0; j < size; ++j) m.norm.push_back(random.chance(0.2) ? random.uniform(0.5, 3) : random.uniform(5, 9));
    return m;
}

/// The arrays that attention would have written for a map, as evidence in T.
template <class T>
struct arrays {
    basin::buffer<T, 3> received, norms;
    basin::visibility<T> mask;
    basin::buffer<index_t, 1> lengths;

    explicit arrays(map const& m)
        : received(1, 1, m.size), norms(1, 1, m.size),
          mask{basin::buffer<T, 3>(1, 1, m.size), basin::buffer<T, 3>(1, 1, m.size)}, lengths(1) {
        lengths(0) = m.live;
        for (int j = 0; j < m.size; ++j) {
            received(0, 0, j) = static_cast<T>(m.received(j));
            norms(0, 0, j) = static_cast<T>(m.norm[static_cast<std::size_t>(j)]);
            mask.seen(0, 0, j) = static_cast<T>(m.seen(j));
            mask.uniform(0, 0, j) = static_cast<T>(m.uniform(j));
        }
    }
    basin::evidence<T> facts() const { return basin::evidence{received}.under(mask).norms(norms); }
    basin::options options() const { return {.lengths = lengths}; }
    template <class Rule>
    basin::detection detect(Rule const& rule) const {
        return basin::detect(basin::reference_backend{}, facts(), rule, options());
    }
};

inline std::vector<int> keys_of(basin::detection const& found) {
    std::vector<int> result;
    for (auto const& s : found.list()) result.push_back(s.key);
    return result;
}

/// One head that received this.
inline basin::buffer<double, 3> head(std::vector<double> const& mass) {
    basin::buffer<double, 3> result(1, 1, static_cast<index_t>(mass.size()));
    std::copy(mass.begin(), mass.end(), result.begin());
    return result;
}
template <class Rule>
std::vector<int> sinks(std::vector<double> const& mass, Rule const& rule) {
    auto const m = head(mass);
    return keys_of(basin::detect(basin::reference_backend{}, basin::evidence{m}, rule));
}

} // namespace maps
