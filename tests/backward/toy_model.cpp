// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/tape.hpp>
#include <support/backends.hpp>
#include <support/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

// A model of two layers, trained for 200 steps: its losses follow those of the same model in PyTorch (pytorch_training.inc,
// made by make_pytorch_data.py). Each layer is attention with a learned sink and a window, then a small network; the loss
// also wants the attention that keys receive to be even, and entropy to be high.

using namespace basin;

namespace {

constexpr index_t batch = 2, tokens = 9, width = 8, head_count = 2, hidden = 12, rows = batch * tokens;

template <class T>
struct matrix {
    index_t height = 0, across = 0;
    std::vector<T> numbers, gradient;

    matrix(index_t h, index_t w)
        : height(h), across(w), numbers(static_cast<std::size_t>(h * w)), gradient(static_cast<std::size_t>(h * w)) {}
    std::size_t at(index_t i, index_t j) const { return static_cast<std::size_t>(i * across + j); }
    T* data() { return numbers.data(); }
    T* slope() { return gradient.data(); }
};

/// y += x w
template <class T>
void forward(matrix<T> const& x, matrix<T> const& w, matrix<T>& y) {
    for (index_t i = 0; i < x.height; ++i)
        for (index_t k = 0; k < w.height; ++k)
            for (index_t j = 0; j < w.across; ++j)
                y.numbers[y.at(i, j)] += x.numbers[x.at(i, k)] * w.numbers[w.at(k, j)];
}
template <class T>
void backward(matrix<T>& x, matrix<T>& w, matrix<T> const& y) {
    for (index_t i = 0; i < x.height; ++i)
        for (index_t k = 0; k < w.height; ++k)
            for (index_t j = 0; j < w.across; ++j) {
                x.gradient[x.at(i, k)] += y.gradient[y.at(i, j)] * w.numbers[w.at(k, j)];
                w.gradient[w.at(k, j)] += y.gradient[y.at(i, j)] * x.numbers[x.at(i, k)];
            }
}

/// (token, width) seen as (batch, token, head, channel).
template <class T>
auto by_heads(T* data) {
    return bthc(view<T, 4>(data, {{batch, tokens, head_count, width / head_count}}));
}

template <class T>
struct layer {
    matrix<T> q{width, width}, k{width, width}, v{width, width}, o{width, width}, up{width, hidden},
        down{hidden, width}, logits{1, head_count};
    template <class F>
    void for_each(F const& f) {
        for (matrix<T>* const m : {&q, &k, &v, &o, &up, &down, &logits}) f(*m);
    }
    auto policy() { return all_of(window{4, 4}, learned{sink_logit{logits.numbers}, logits.gradient}); }
};

/// What a layer computed, for the way back.
template <class T, class Backend>
struct step {
    matrix<T> x, q{rows, width}, k{rows, width}, v{rows, width}, out{rows, width}, middle{rows, width},
        inner{rows, hidden}, y{rows, width};
    buffer<T, 3> received{batch, head_count, tokens}, entropy{batch, head_count, tokens};
    using recorded = decltype(attend(Backend{}, by_heads(x.data()), by_heads(x.data()), by_heads(x.data()),
                                     by_heads(x.data()), std::declval<layer<T>&>().policy()));
    recorded tape;

    step(matrix<T> const& input, layer<T>& l) : x(input), tape(begin(l)) {
        middle.numbers = x.numbers;
        forward(out, l.o, middle);
        forward(middle, l.up, inner);
        for (T& z : inner.numbers) z = std::tanh(z);
        y.numbers = middle.numbers;
        forward(inner, l.down, y);
    }
    recorded begin(layer<T>& l) {
        forward(x, l.q, q);
        forward(x, l.k, k);
        forward(x, l.v, v);
        return attend(Backend{}, by_heads(q.data()), by_heads(k.data()), by_heads(v.data()), by_heads(out.data()),
                      l.policy(), basin::received{received}, basin::entropy{entropy});
    }
    double extra() const {
        double sum = 0, spread = 0;
        for (T const r : received) sum += static_cast<double>(r) * static_cast<double>(r);
        for (T const e : entropy) spread += static_cast<double>(e);
        return (0.02 * sum - 0.01 * spread) / (batch * head_count * tokens);
    }
    void back(layer<T>& l) { // from y.gradient to x.gradient
        middle.gradient = y.gradient;
        backward(inner, l.down, y);
        for (std::size_t i = 0; i < inner.numbers.size(); ++i)
            inner.gradient[i] *= 1 - inner.numbers[i] * inner.numbers[i];
        backward(middle, l.up, inner);
        x.gradient = middle.gradient;
        backward(out, l.o, middle);
        buffer<T, 3> d_received(batch, head_count, tokens), d_entropy(batch, head_count, tokens);
        T const share = T(1) / (batch * head_count * tokens);
        for (std::ptrdiff_t i = 0; i < received.size(); ++i)
            d_received.data()[i] = T(0.04) * received.data()[i] * share;
        d_entropy.fill(T(-0.01) * share);
        tape.backward(upstream{by_heads(out.slope()), through_received{d_received}, through_entropy{d_entropy}},
                      gradients{by_heads(q.slope()), by_heads(k.slope()), by_heads(v.slope())});
        backward(x, l.q, q);
        backward(x, l.k, k);
        backward(x, l.v, v);
    }
};

template <class T, class Backend>
std::vector<double> train(int steps) {
    basin_test::random_numbers random{7};
    auto const draw = [&](matrix<T>& m, double reach) {
        for (T& x : m.numbers) x = static_cast<T>(random.uniform(-reach, reach));
    };
    std::vector<layer<T>> layers(2);
    for (layer<T>& l : layers) l.for_each([&](matrix<T>& m) { draw(m, 0.4); });
    matrix<T> x(rows, width), target(rows, width);
    draw(x, 1);
    draw(target, 1);
    std::vector<double> losses;
    for (int i = 0; i < steps; ++i) {
        for (layer<T>& l : layers) l.for_each([](matrix<T>& m) { m.gradient.assign(m.gradient.size(), T(0)); });
        step<T, Backend> first(x, layers[0]), second(first.y, layers[1]);
        double loss = first.extra() + second.extra();
        for (std::size_t j = 0; j < target.numbers.size(); ++j) {
            T const off = second.y.numbers[j] - target.numbers[j];
            loss += static_cast<double>(off) * static_cast<double>(off) / (rows * width);
            second.y.gradient[j] = 2 * off / (rows * width);
        }
        losses.push_back(loss);
        second.back(layers[1]);
        first.y.gradient = second.x.gradient;
        first.back(layers[0]);
        for (layer<T>& l : layers)
            l.for_each([](matrix<T>& m) {
                for (std::size_t j = 0; j < m.numbers.size(); ++j) m.numbers[j] -= T(0.5) * m.gradient[j];
            });
    }
    return losses;
}

std::vector<double> const& expected() {
    static std::vector<double> const losses = {
#include "pytorch_training.inc"
    };
    return losses;
}

template <class T, class Backend>
void follow(double tolerance) {
    CAPTURE(basin_test::name_of<Backend>);
    CAPTURE(basin_test::name_of<T>);
    auto const losses = train<T, Backend>(static_cast<int>(expected().size()));
    double worst = 0;
    for (std::size_t i = 0; i < losses.size(); ++i)
        worst = std::max(worst, std::abs(losses[i] - expected()[i]) / std::abs(expected()[i]));
    CHECK(worst < tolerance);
}

} // namespace

TEST_CASE("a model trained for 200 steps follows PyTorch") {
    REQUIRE(expected().size() == 200);
    CHECK(expected().back() < 0.5 * expected().front()); // it learns
    follow<double, reference_backend>(1e-9);
    basin_test::for_each_backend([]<class Backend>() { follow<float, Backend>(1e-4); });
}
