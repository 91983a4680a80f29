// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "parameters.hpp"

#include <basin/core/key_set.hpp>
#include <basin/core/view.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace basin {
class thread_pool;
}

namespace tiny_dlm {

/// What one layer did with some texts of the batch: statistics of the same pass. Keys and queries are rows (see
/// model_config::rows). The arrays live as long as the call of `look`.
template <class T>
struct layer_report {
    int layer, first_text;                ///< entry 0 of the arrays is text `first_text` of the batch
    basin::view<T const, 4> q, k, v, out; ///< (text, head, row, channel); q and k after RoPE, out before the projection
    basin::view<T const, 3> received, seen; ///< (text, head, key): attention received; queries that see the key
    basin::view<T const, 4> received_by;    ///< (text, head, 2, key): from queries that are decoded (0), masked (1)
    basin::view<T const, 3> entropy, lse;   ///< (text, head, query)
    basin::view<T const, 3> escaped;        ///< (text, head, query): mass that went to sinks in the denominator
    basin::view<T const, 3> value_norm;     ///< (text, key-value head, key)
    basin::view<T const, 3> hidden;         ///< (text, row, width): the layer's input before the norm
};

/// What a caller may watch and change in a pass. Without `look` no statistics are made.
template <class T>
struct observer {
    /// Called for each layer and group of texts, in no fixed order of texts and from several threads at once if the model
    /// has several; layers of a text come in order.
    std::function<void(layer_report<T> const&)> look;
    /// Keys to hide from every query, one set per layer (extents (texts or 1, heads or 1, rows)); empty: none.
    std::vector<basin::key_set> hide;
    /// Hidden keys still see themselves.
    bool sees_itself = false;
};

/// Texts to learn from. `weight` is 0 where nothing is to be predicted; the loss is the sum of weight x cross-entropy.
struct batch {
    int texts = 0, length = 0;
    std::vector<int> input, target; ///< (text, token); block diffusion: `target` is the clean text everywhere
    std::vector<float> weight;      ///< (text, token)
};

template <class T>
class pass;
template <class T>
struct rotary;

/// A pre-norm transformer: RMSNorm, RoPE, attention by basin, MLP. Texts of a batch are computed in groups of a fixed size,
/// each on one thread, and sums over groups are made in order: same bits for any number of threads. model<float> is compiled
/// in model.cpp; for another scalar include model_body.hpp.
template <class T>
class model {
public:
    explicit model(model_config const& config, int threads = 1);
    model(model&&) noexcept;
    model& operator=(model&&) noexcept;
    ~model();

    model_config const& config() const { return config_; }
    /// All parameters, and which tensor lies where.
    std::vector<T>& parameters() { return parameters_; }
    std::vector<T> const& parameters() const { return parameters_; }
    std::vector<tensor_info> const& tensors() const { return where_.tensors; }
    /// The threads that its members use: threads()(n, f) runs f(0) ... f(n - 1).
    basin::thread_pool& threads() const { return *pool_; }
    /// Random weights from a seed.
    void initialise(std::uint64_t seed);

    /// Logits (text, token, vocabulary) of texts of `length` tokens each, at most the model's; `tokens.size()` is a multiple of
    /// it. Autoregressive: row i predicts token i + 1. Otherwise: row i predicts token i.
    basin::buffer<T, 3> logits(std::span<int const> tokens, int length, observer<T> const& watch = {}) const;
    /// The same for texts of the model's length.
    basin::buffer<T, 3> logits(std::span<int const> tokens, observer<T> const& watch = {}) const {
        return logits(tokens, config_.length, watch);
    }

    /// The same for masked tokens alone, which is all that denoising asks for: other rows of the result keep what they have.
    /// Its memory serves from step to step.
    void masked_logits(std::span<int const> tokens, int length, basin::buffer<T, 3>& result,
                       observer<T> const& watch = {}) const;

    /// The loss of the batch; keys may be hidden and layers watched.
    double loss(batch const& b, observer<T> const& watch = {}) const;
    /// The loss, and its gradient by every parameter (overwritten).
    double loss_and_gradients(batch const& b, std::vector<T>& gradients) const;

private:
    class borrowed;
    void run_logits(model_config const& c, std::span<int const> tokens, bool masked_only, basin::buffer<T, 3>& result,
                    observer<T> const& watch) const;
    double run(batch const& b, std::vector<std::vector<T>>* gradients, observer<T> const& watch) const;
    model_config of_length(int length, std::size_t tokens) const;

    model_config config_;
    parameter_layout where_;
    std::vector<T> parameters_;
    std::unique_ptr<rotary<T>> turns_;
    struct shelf; // passes that no thread uses now, with their memory
    std::unique_ptr<shelf> shelf_;
    std::unique_ptr<basin::thread_pool> pool_;
};

} // namespace tiny_dlm
