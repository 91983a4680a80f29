// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "pass.hpp"
#include "random.hpp"

#include <basin/backend/thread_pool.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>

// The members of model: texts are dealt into groups, groups to threads.
namespace tiny_dlm {

template <class T>
struct model<T>::shelf {
    std::mutex guard;
    std::vector<std::unique_ptr<pass<T>>> idle;
    std::vector<std::vector<T>> group_gradients;
};

/// A pass taken from the shelf for a while.
template <class T>
class model<T>::borrowed {
public:
    explicit borrowed(shelf& from) : from_(from) {
        std::lock_guard const lock(from_.guard);
        if (from_.idle.empty()) {
            pass_ = std::make_unique<pass<T>>();
        } else {
            pass_ = std::move(from_.idle.back());
            from_.idle.pop_back();
        }
    }
    borrowed(borrowed const&) = delete;
    borrowed& operator=(borrowed const&) = delete;
    ~borrowed() {
        std::lock_guard const lock(from_.guard);
        from_.idle.push_back(std::move(pass_));
    }
    pass<T>* operator->() { return pass_.get(); }

private:
    shelf& from_;
    std::unique_ptr<pass<T>> pass_;
};

template <class T>
model<T>::model(model_config const& config, int threads)
    : config_((check(config), config)), where_(config), parameters_(static_cast<std::size_t>(where_.total)),
      turns_(std::make_unique<rotary<T>>(config.rows(), config.channels(), config.rope_base)),
      shelf_(std::make_unique<shelf>()), pool_(std::make_unique<basin::thread_pool>(threads)) {}
template <class T>
model<T>::model(model&&) noexcept = default;
template <class T>
model<T>& model<T>::operator=(model&&) noexcept = default;
template <class T>
model<T>::~model() = default;

template <class T>
void model<T>::initialise(std::uint64_t seed) {
    random_numbers const random{{seed}};
    double const deep = 1 / std::sqrt(2.0 * config_.layers); // what is added to the residual stream starts smaller
    for (tensor_info const& t : where_.tensors) {
        auto const ends = [&](char const* name) { return t.name.ends_with(name); };
        double const fan = 1 / std::sqrt(static_cast<double>(t.shape.back()));
        double scale = t.shape.size() == 2 ? fan : 0;
        if (ends("output") || ends("down")) scale *= deep;
        if (ends("embedding") || ends("extra_tokens") || ends("sink_key")) scale = 1;
        for (std::ptrdiff_t i = 0; i < t.size; ++i) {
            double const start = ends("norm") ? 1 : scale == 0 ? 0 : scale * random.normal(t.offset + i);
            parameters_[static_cast<std::size_t>(t.offset + i)] = static_cast<T>(start);
        }
    }
}

namespace detail {

/// Texts per group: enough rows for efficient products (each packs its weights anew), at least two groups. The number of
/// threads has no say.
inline int group_size(int texts, int rows) { return std::clamp(texts / 2, 1, std::max(1, 256 / rows)); }

} // namespace detail

template <class T>
model_config model<T>::of_length(int length, std::size_t tokens) const {
    if (length < 1 || length > config_.length || tokens % static_cast<std::size_t>(length) != 0)
        throw std::runtime_error("texts of " + std::to_string(length) + " tokens do not fit a model of length " +
                                 std::to_string(config_.length));
    model_config c = config_;
    c.length = length;
    return c;
}

namespace detail {

/// Each is a row of the embedding.
inline void check_tokens(std::span<int const> tokens, model_config const& c) {
    for (int const t : tokens) {
        if (t < 0 || t >= c.vocabulary)
            throw std::runtime_error("a text has token " + std::to_string(t) + ", but the model's vocabulary has " +
                                     std::to_string(c.vocabulary) + " tokens");
    }
}

} // namespace detail

template <class T>
basin::buffer<T, 3> model<T>::logits(std::span<int const> tokens, int length, observer<T> const& watch) const {
    model_config const c = of_length(length, tokens.size());
    basin::buffer<T, 3> result(static_cast<int>(tokens.size()) / length, length, c.vocabulary);
    run_logits(c, tokens, false, result, watch);
    return result;
}

template <class T>
void model<T>::masked_logits(std::span<int const> tokens, int length, basin::buffer<T, 3>& result,
                             observer<T> const& watch) const {
    model_config const c = of_length(length, tokens.size());
    detail::fit(result, static_cast<int>(tokens.size()) / length, length, c.vocabulary);
    run_logits(c, tokens, true, result, watch);
}

template <class T>
void model<T>::run_logits(model_config const& c, std::span<int const> tokens, bool masked_only,
                          basin::buffer<T, 3>& result, observer<T> const& watch) const {
    detail::check_tokens(tokens, c);
    int const texts = static_cast<int>(tokens.size()) / c.length;
    int const group = detail::group_size(texts, c.rows());
    (*pool_)((texts + group - 1) / group, [&](int g) {
        int const first = g * group * c.length, count = std::min(group * c.length, texts * c.length - first);
        auto const here = tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        sheet s(c, here);
        if (masked_only) s.want_masked();
        borrowed work(*shelf_);
        matrix<T> const& found = work->forward(c, where_, *turns_, parameters_.data(), s, watch, g * group);
        for (int i = 0, row = 0; i < count; ++i) {
            if (masked_only && here[static_cast<std::size_t>(i)] != model_config::mask_token) continue;
            std::copy_n(&found(row++, 0), c.vocabulary, result.data() + std::ptrdiff_t{first + i} * c.vocabulary);
        }
    });
}

template <class T>
double model<T>::run(batch const& b, std::vector<std::vector<T>>* gradients, observer<T> const& watch) const {
    model_config const c = of_length(b.length, b.input.size());
    detail::check_tokens(b.input, c);
    detail::check_tokens(b.target, c);
    bool const copies = c.kind == model_kind::block_diffusion;
    int const group = detail::group_size(b.texts, copies ? 2 * c.length : c.rows());
    int const groups = (b.texts + group - 1) / group;
    std::vector<double> losses(static_cast<std::size_t>(groups));
    if (gradients != nullptr) gradients->resize(losses.size());
    (*pool_)(groups, [&](int g) {
        auto const begin = static_cast<std::size_t>(g * group * c.length);
        auto const count = static_cast<std::size_t>(std::min(group, b.texts - g * group) * c.length);
        auto const part = [&](auto const& all) { return std::span(all).subspan(begin, count); };
        sheet s(c, part(b.input), copies ? part(b.target) : std::span<int const>{});
        s.learn(part(b.target), part(b.weight));
        borrowed work(*shelf_);
        work->forward(c, where_, *turns_, parameters_.data(), s, watch, g * group);
        T* target = nullptr;
        if (gradients != nullptr) {
            (*gradients)[static_cast<std::size_t>(g)].resize(parameters_.size());
            target = (*gradients)[static_cast<std::size_t>(g)].data();
        }
        losses[static_cast<std::size_t>(g)] = work->loss(target);
    });
    double total = 0;
    for (double const x : losses) total += x;
    return total;
}

template <class T>
double model<T>::loss(batch const& b, observer<T> const& watch) const {
    return run(b, nullptr, watch);
}

template <class T>
double model<T>::loss_and_gradients(batch const& b, std::vector<T>& gradients) const {
    auto& parts = shelf_->group_gradients;
    double const total = run(b, &parts, {});
    gradients.resize(parameters_.size());
    if (parts.empty()) std::fill(gradients.begin(), gradients.end(), T(0)); // no texts
    int const pieces = 16;                                                  // each adds up the groups in their order
    (*pool_)(pieces, [&](int piece) {
        std::size_t const begin = gradients.size() * static_cast<std::size_t>(piece) / pieces;
        std::size_t const end = gradients.size() * static_cast<std::size_t>(piece + 1) / pieces;
        for (std::size_t g = 0; g < parts.size(); ++g) {
            T const* const part = parts[g].data();
            if (g == 0) std::copy(part + begin, part + end, &gradients[begin]);
            for (std::size_t i = begin; g > 0 && i < end; ++i) gradients[i] += part[i];
        }
    });
    return total;
}

} // namespace tiny_dlm
