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

/// The model of a file that was read; `name` is what errors call it. One that is none gets one sentence, and nothing is
/// allocated for it.
inline trained_model model_of(tensor_file const& file, std::string const& name, int threads = 1) {
    try {
        model_config const config = config_from_text(file.metadata);
        tokenizer words = tokenizer::load(file.metadata);
        if (words.size() != config.vocabulary)
            throw std::runtime_error("the vocabulary has " + std::to_string(words.size()) + " tokens, but the model " +
                                     std::to_string(config.vocabulary));
        for (tensor_info const& t : parameter_layout(config).tensors)
            (void)file.at(t.name, {t.shape.begin(), t.shape.end()});
        trained_model result{model<float>(config, threads), std::move(words), file.metadata};
        take_tensors(file, result.net.tensors(), result.net.parameters());
        return result;
    } catch (std::exception const& e) {
        throw checkpoint_error(name + ": " + e.what());
    }
}

/// Reads a model.
inline trained_model load_model(std::string const& path, int threads = 1) {
    return model_of(read_safetensors(path), path, threads);
}

} // namespace tiny_dlm
