// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "checkpoint.hpp"
#include "objective.hpp"
#include "optimizer.hpp"

#include <basin/backend/thread_pool.hpp>

#include <charconv>
#include <cstdlib>

namespace tiny_dlm {
namespace detail {

/// Six digits, as states have always had them, or as many as tell the number from all others.
inline std::string exact_text(double x) {
    if (std::string text = std::to_string(x); std::strtod(text.c_str(), nullptr) == x) return text;
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

} // namespace detail

/// All that decides what a training gives. The same recipe gives the same bits on one machine, whatever the threads.
struct recipe {
    model_config model;
    schedule plan;
    int batch = 32;
    std::uint64_t seed = 1;

    std::map<std::string, std::string> to_text() const {
        auto text = tiny_dlm::to_text(model);
        text["steps"] = std::to_string(plan.steps);
        text["warm_up"] = std::to_string(plan.warm_up);
        text["rate"] = detail::exact_text(plan.rate);
        text["decay"] = detail::exact_text(plan.decay);
        text["batch"] = std::to_string(batch);
        text["seed"] = std::to_string(seed);
        return text;
    }
};

/// A training on its way.
class trainer {
public:
    trainer(recipe const& how, corpus const& texts, int threads)
        : how_(how), texts_(texts), net_(how.model, threads), adam_(net_.parameters().size()) {
        net_.initialise(how.seed);
    }

    model<float>& net() { return net_; }
    int done() const { return adam_.steps; }
    bool finished() const { return adam_.steps >= how_.plan.steps; }

    /// One step; returns the loss before it.
    double step() {
        auto const number = static_cast<std::uint64_t>(adam_.steps);
        text_batch const texts = texts_.training(how_.seed, number, how_.batch);
        double const loss = net_.loss_and_gradients(objective(how_.model, texts, how_.seed, number), gradients_);
        adam_.move(net_.parameters(), gradients_, net_.tensors(), how_.plan, net_.threads());
        return loss;
    }

    /// Everything that is needed to go on later, in one file.
    void save(std::string const& path) const {
        tensor_file file;
        file.metadata = identity();
        file.metadata["done"] = std::to_string(adam_.steps);
        put_tensors(file, net_.tensors(), net_.parameters(), storage::float32);
        put_tensors(file, net_.tensors(), adam_.mean, storage::float32, "mean.");
        put_tensors(file, net_.tensors(), adam_.square, storage::float32, "square.");
        write_safetensors(path, file);
    }
    /// Goes on where that file was saved. It must be of the same recipe and corpus.
    void resume(std::string const& path) {
        tensor_file const file = read_safetensors(path);
        auto const entry = [&](std::string const& key) {
            auto const found = file.metadata.find(key);
            return found == file.metadata.end() ? std::string("missing") : found->second;
        };
        for (auto const& [key, value] : identity()) {
            if (entry(key) != value)
                throw std::runtime_error(path + " belongs to another training: its " + key + " is " + entry(key) +
                                         ", not " + value + "; delete it or choose another --out");
        }
        std::string const done = entry("done");
        int steps = 0;
        auto const [end, code] = std::from_chars(done.data(), done.data() + done.size(), steps);
        if (code != std::errc() || end != done.data() + done.size() || steps < 0 || steps > how_.plan.steps)
            throw std::runtime_error(path + " is damaged: the number of steps that are done is " + done +
                                     ", outside of 0 ... " + std::to_string(how_.plan.steps) + "; delete it");
        try {
            take_tensors(file, net_.tensors(), net_.parameters());
            take_tensors(file, net_.tensors(), adam_.mean, "mean.");
            take_tensors(file, net_.tensors(), adam_.square, "square.");
        } catch (checkpoint_error const& e) {
            throw std::runtime_error(path + " is damaged: " + e.what() + "; delete it");
        }
        adam_.steps = steps;
    }

private:
    /// What a state must agree with.
    std::map<std::string, std::string> identity() const {
        auto text = how_.to_text();
        text["corpus"] = corpus_hash(texts_);
        return text;
    }

    recipe how_;
    corpus const& texts_;
    model<float> net_;
    optimizer adam_;
    std::vector<float> gradients_;
};

} // namespace tiny_dlm
