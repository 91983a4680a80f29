// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/policy.hpp>
#include <basin/testing/png.hpp>

#include <cstdio>
#include <functional>
#include <map>

namespace basin::testing {

/// What to draw of a policy, and how.
struct render_options {
    index_t queries = 12, keys = 12;            ///< rows and columns
    index_t batch = 0, head = 0;                ///< which one is drawn
    index_t batches = 1, heads = 1;             ///< of the call that the policy is bound for
    std::vector<index_t> sinks{};               ///< key columns to highlight
    std::function<double(site const&)> score{}; ///< scores before the policy; all 0 without it
    bool legend = false;                        ///< text only
    int pixels = 16;                            ///< edge of a cell in pictures
};

/// A policy as a matrix: rows are queries, columns are keys.
struct rendering {
    index_t queries = 0, keys = 0;
    bool shaded = false;       ///< the policy changes scores
    double escape = -1;        ///< a sink in the denominator: its column stands to the left of key 0; -1: none
    std::vector<double> shade; ///< per cell: below 0 hidden, else in [0, 1], relative to the largest of its row
    std::vector<bool> sink;    ///< per key column: highlighted

    /// The shade of a pair's cell.
    double at(index_t query, index_t key) const {
        return shade[static_cast<std::size_t>(query) * static_cast<std::size_t>(keys) + static_cast<std::size_t>(key)];
    }
};

template <policy P>
rendering render(P const& p, render_options const& o = {}) {
    auto const bound = basin::bind(p, shape_facts{o.batches, o.heads, o.heads, o.queries, o.keys, 1, 1});
    using bound_type = std::remove_const_t<decltype(bound)>;
    rendering result{o.queries, o.keys, detail::has_score<bound_type>, detail::has_sinks<bound_type> ? 1.0 : -1.0,
                     {},        {}};
    for (index_t query = 0; query < o.queries; ++query) {
        std::vector<double> row;
        double high = -math::infinity<double>;
        for (index_t key = 0; key < o.keys; ++key) {
            site const s{o.batch, o.head, query, key};
            bool const visible = facet::visible(bound, s);
            row.push_back(
                visible ? static_cast<double>(facet::score(bound, static_cast<float>(o.score ? o.score(s) : 0), s))
                        : -math::infinity<double>);
            high = math::max(high, row.back());
        }
        for (double const x : row) result.shade.push_back(x == -math::infinity<double> ? -1 : math::exp(x - high));
    }
    result.sink.resize(static_cast<std::size_t>(o.keys));
    for (index_t const key : o.sinks) {
        if (key >= 0 && key < o.keys) result.sink[static_cast<std::size_t>(key)] = true;
    }
    return result;
}

/// For terminals: '#' sees, '.' does not, '@' sees a highlighted sink; where scores change, the more ink the more weight.
/// A sink in the denominator is a column '$' on the left.
template <policy P>
std::string render_text(P const& p, render_options const& o = {}) {
    rendering const r = render(p, o);
    static char const shades[] = "-+*#";
    std::string result;
    for (index_t query = 0; query < r.queries; ++query) {
        if (r.escape >= 0) result += "$ ";
        for (index_t key = 0; key < r.keys; ++key) {
            double const x = r.at(query, key);
            if (x < 0)
                result += '.';
            else if (r.sink[static_cast<std::size_t>(key)])
                result += '@';
            else
                result += shades[r.shaded ? static_cast<int>(math::min(3.0, x * 4)) : 3];
        }
        result += '\n';
    }
    if (!o.legend) return result;
    result += "rows: queries 0 to " + std::to_string(r.queries - 1) + ", columns: keys 0 to " +
              std::to_string(r.keys - 1) + "; # sees, . does not";
    if (!o.sinks.empty()) result += ", @ sees a sink";
    if (r.escape >= 0) result += ", $ a sink that is no key";
    if (r.shaded) result += "; - + * # by weight";
    return result + '\n';
}

namespace inner {

struct colour {
    int red, green, blue;
    std::string hex() const {
        char text[8];
        std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(red) & 255U,
                      static_cast<unsigned>(green) & 255U, static_cast<unsigned>(blue) & 255U);
        return text;
    }
};
inline constexpr colour paper{255, 255, 255}, hidden{238, 240, 243}, hidden_sink{250, 230, 214}, seen{47, 93, 138},
    sink{217, 119, 46};

/// A light tint of the ink for small weights, the ink itself for 1. In 16 steps, so that libraries' last bits do not show.
inline colour cell_colour(double shade, bool is_sink) {
    if (shade < 0) return is_sink ? hidden_sink : hidden;
    colour const ink = is_sink ? sink : seen;
    int const step = static_cast<int>(shade * 32 + 1) / 2; // to the nearest of 16
    auto const mix = [&](int to) { return 255 - (255 - to) * (240 + 85 * step) / 1600; };
    return {mix(ink.red), mix(ink.green), mix(ink.blue)};
}

/// Calls paint(x, y, colour) for each cell, in cells; a denominator sink has columns 0 and the rest begins at 1.5.
template <class Paint>
void paint_cells(rendering const& r, Paint const& paint) {
    for (index_t query = 0; query < r.queries; ++query) {
        if (r.escape >= 0) paint(0.0, static_cast<double>(query), sink);
        for (index_t key = 0; key < r.keys; ++key) {
            paint(key + (r.escape >= 0 ? 1.5 : 0.0), static_cast<double>(query),
                  cell_colour(r.at(query, key), r.sink[static_cast<std::size_t>(key)]));
        }
    }
}
inline int width_of(rendering const& r, int pixels) {
    return r.keys * pixels + (r.escape >= 0 ? pixels + pixels / 2 : 0);
}

inline bool write_file(char const* path, void const* data, std::size_t n) {
    std::FILE* const file = std::fopen(path, "wb");
    if (file == nullptr) return false;
    bool const written = std::fwrite(data, 1, n, file) == n;
    return std::fclose(file) == 0 && written;
}

} // namespace inner

/// A picture as SVG. Visible cells are filled, sink columns have a colour of their own.
template <policy P>
std::string render_svg(P const& p, render_options const& o = {}) {
    rendering const r = render(p, o);
    int const n = o.pixels, width = inner::width_of(r, n) + 1, height = r.queries * n + 1;
    auto const number = [](int x) { return std::to_string(x); };
    std::string result = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
                         number(height) + "\" viewBox=\"0 0 " + number(width) + " " + number(height) +
                         "\">\n<rect width=\"" + number(width) + "\" height=\"" + number(height) + "\" fill=\"" +
                         inner::paper.hex() + "\"/>\n";
    std::map<std::string, std::string> paths; // one per colour: a third of the size of a rectangle per cell
    inner::paint_cells(r, [&](double x, double y, inner::colour c) {
        int const left = static_cast<int>(x * n) + 1;
        std::string& path = paths[c.hex()];
        path += "M" + number(left) + " " + number(static_cast<int>(y * n) + 1) + "h" + number(n - 1) + "v" +
                number(n - 1) + "H" + number(left) + "z";
    });
    for (auto const& [ink, cells] : paths) {
        result += "<path fill=\"";
        result += ink;
        result += "\" d=\"";
        result += cells;
        result += "\"/>\n";
    }
    return result + "</svg>\n";
}

/// The same picture as the bytes of a PNG file.
template <policy P>
bytes render_png(P const& p, render_options const& o = {}) {
    rendering const r = render(p, o);
    int const n = o.pixels, width = inner::width_of(r, n) + 1, height = r.queries * n + 1;
    bytes pixels(3 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height), 255);
    inner::paint_cells(r, [&](double x, double y, inner::colour c) {
        for (int i = 1; i < n; ++i)
            for (int j = 1; j < n; ++j) {
                auto const at =
                    3 * static_cast<std::size_t>((static_cast<int>(y * n) + i) * width + static_cast<int>(x * n) + j);
                pixels[at] = static_cast<std::uint8_t>(c.red);
                pixels[at + 1] = static_cast<std::uint8_t>(c.green);
                pixels[at + 2] = static_cast<std::uint8_t>(c.blue);
            }
    });
    return png(static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), pixels);
}

/// To a file; false if it cannot be written.
template <policy P>
bool save_svg(char const* path, P const& p, render_options const& o = {}) {
    std::string const text = render_svg(p, o);
    return inner::write_file(path, text.data(), text.size());
}
template <policy P>
bool save_png(char const* path, P const& p, render_options const& o = {}) {
    bytes const file = render_png(p, o);
    return inner::write_file(path, file.data(), file.size());
}

} // namespace basin::testing
