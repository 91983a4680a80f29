// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/core/error.hpp>
#include <basin/core/site.hpp>

#include <string>
#include <vector>

namespace basin {

/// Columns of one length, each of integers, numbers or texts: what CSV and JSON lines are written from.
class table {
public:
    /// What the cells of a column are.
    enum class kind : std::uint8_t { integer, number, text };
    /// A named column of integers, numbers or texts.
    struct column {
        std::string name;
        /// Which of the three lists holds its cells.
        kind type;
        /// Its cells, if they are integers.
        std::vector<long long> integers;
        /// Its cells, if they are numbers.
        std::vector<double> numbers;
        /// Its cells, if they are texts.
        std::vector<std::string> texts;
        /// How many cells it has.
        std::size_t size() const {
            return type == kind::integer ? integers.size() : type == kind::number ? numbers.size() : texts.size();
        }
    };

    /// One more column, of integers.
    table& integers(std::string name, std::vector<long long> values) {
        return add({std::move(name), kind::integer, std::move(values), {}, {}});
    }
    /// One more column, of numbers.
    table& numbers(std::string name, std::vector<double> values) {
        return add({std::move(name), kind::number, {}, std::move(values), {}});
    }
    /// One more column, of texts.
    table& texts(std::string name, std::vector<std::string> values) {
        return add({std::move(name), kind::text, {}, {}, std::move(values)});
    }

    /// In the order in which they were added.
    std::vector<column> const& columns() const { return columns_; }
    /// How many rows every column has.
    std::size_t rows() const { return columns_.empty() ? 0 : columns_.front().size(); }

private:
    table& add(column c) {
        for (column const& other : columns_) {
            if (other.name == c.name) detail::fail<argument_error>("table: two columns are called ", c.name.c_str());
            if (other.size() != c.size())
                detail::fail<shape_error>("table: column ", c.name.c_str(), " has ", static_cast<long long>(c.size()),
                                          " rows, ", other.name.c_str(), " has ", static_cast<long long>(other.size()));
        }
        columns_.push_back(std::move(c));
        return *this;
    }
    std::vector<column> columns_;
};

} // namespace basin
