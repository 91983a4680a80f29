// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "config.hpp"

#include <basin/core/key_set.hpp>
#include <basin/core/view.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tiny_dlm {

/// One tensor of the model inside the flat array of all parameters, row-major, as safetensors stores it.
struct tensor_info {
    std::string name;
    std::vector<int> shape;
    std::ptrdiff_t offset, size;
    bool decays; ///< matrices have weight decay
};

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
    std::vector<int> input, target; ///< (text, token)
    std::vector<float> weight;
};

/// A pre-norm transformer: RMSNorm, RoPE, attention by basin, MLP. Texts of a batch are computed in groups of a fixed size,
/// each on one thread, and sums over groups are made in order: same bits for any number of threads.
template <class T>
class model {
public:
    explicit model(model_config const& config, int threads = 1);

    model_config const& config() const;
    /// All parameters, and which tensor lies where.
    std::vector<T>& parameters();
    std::vector<T> const& parameters() const;
    std::vector<tensor_info> const& tensors() const;
    /// Random weights from a seed.
    void initialise(std::uint64_t seed);

    /// Logits (text, token, vocabulary) of texts of `length` tokens each; `tokens.size()` is a multiple of `length`, which
    /// may be shorter than the model's (without extra tokens in the middle or at the end it need not be the model's).
    /// Autoregressive: row i predicts token i + 1. Otherwise: row i predicts token i.
    basin::buffer<T, 3> logits(std::vector<int> const& tokens, int length, observer<T> const& watch = {}) const;

    /// The loss of the batch.
    double loss(batch const& b) const;
    /// The loss, and its gradient by every parameter (overwritten).
    double loss_and_gradients(batch const& b, std::vector<T>& gradients) const;
};

} // namespace tiny_dlm
