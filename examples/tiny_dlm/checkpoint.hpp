// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "model.hpp"
#include "safetensors.hpp"
#include "tokenizer.hpp"

#include <map>
#include <string>

namespace tiny_dlm {

/// A model with the vocabulary it was trained with.
struct trained_model {
    model<float> net;
    tokenizer words;
    std::map<std::string, std::string> notes; ///< the whole header: how it was made, its loss, ...
};

/// Tensors of the model into a file that is about to be written; `prefix` keeps several sets of them apart.
inline void put_tensors(tensor_file& file, std::vector<tensor_info> const& tensors, std::vector<float> const& values,
                        storage kept, std::string const& prefix = {}) {
    for (tensor_info const& t : tensors) {
        tensor& target = file.tensors[prefix + t.name];
        target.shape.assign(t.shape.begin(), t.shape.end());
        target.values.assign(values.begin() + t.offset, values.begin() + t.offset + t.size);
        target.kept = kept;
    }
}
/// And back: every tensor must be there, with its shape.
inline void take_tensors(tensor_file const& file, std::vector<tensor_info> const& tensors, std::vector<float>& values,
                         std::string const& prefix = {}) {
    for (tensor_info const& t : tensors) {
        tensor const& source = file.at(prefix + t.name, {t.shape.begin(), t.shape.end()});
        std::copy(source.values.begin(), source.values.end(), values.begin() + t.offset);
    }
}

/// Writes the model whole or not at all.
inline void save_model(std::string const& path, model<float> const& net, tokenizer const& words,
                       std::map<std::string, std::string> notes, storage kept) {
    tensor_file file;
    file.metadata = std::move(notes);
    for (auto const& [key, value] : to_text(net.config())) file.metadata[key] = value;
    words.save(file.metadata);
    put_tensors(file, net.tensors(), net.parameters(), kept);
    write_safetensors(path, file);
}

/// Reads a model; a file that is none gets one sentence.
inline trained_model load_model(std::string const& path, int threads = 1) {
    tensor_file const file = read_safetensors(path);
    try {
        model_config const config = config_from_text(file.metadata);
        trained_model result{model<float>(config, threads), tokenizer::load(file.metadata), file.metadata};
        if (result.words.size() != config.vocabulary)
            throw std::runtime_error("the vocabulary has " + std::to_string(result.words.size()) +
                                     " tokens, but the model " + std::to_string(config.vocabulary));
        take_tensors(file, result.net.tensors(), result.net.parameters());
        return result;
    } catch (checkpoint_error const&) {
        throw;
    } catch (std::exception const& e) {
        throw std::runtime_error(path + ": " + e.what());
    }
}

} // namespace tiny_dlm
