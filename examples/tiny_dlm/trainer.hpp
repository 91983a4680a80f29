// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "checkpoint.hpp"
#include "objective.hpp"
#include "optimizer.hpp"

#include <basin/backend/thread_pool.hpp>

namespace tiny_dlm {

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
        text["rate"] = std::to_string(plan.rate);
        text["decay"] = std::to_string(plan.decay);
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
        file.metadata = how_.to_text();
        file.metadata["done"] = std::to_string(adam_.steps);
        put_tensors(file, net_.tensors(), net_.parameters(), storage::float32);
        put_tensors(file, net_.tensors(), adam_.mean, storage::float32, "mean.");
        put_tensors(file, net_.tensors(), adam_.square, storage::float32, "square.");
        write_safetensors(path, file);
    }
    /// Goes on where that file was saved. It must be of the same recipe.
    void resume(std::string const& path) {
        tensor_file const file = read_safetensors(path);
        for (auto const& [key, value] : how_.to_text()) {
            auto const found = file.metadata.find(key);
            if (found == file.metadata.end() || found->second != value)
                throw std::runtime_error(path + " belongs to another training: its " + key + " is " +
                                         (found == file.metadata.end() ? "missing" : found->second) + ", not " + value +
                                         "; delete it or choose another --out");
        }
        take_tensors(file, net_.tensors(), net_.parameters());
        take_tensors(file, net_.tensors(), adam_.mean, "mean.");
        take_tensors(file, net_.tensors(), adam_.square, "square.");
        adam_.steps = std::stoi(file.metadata.at("done"));
    }

private:
    recipe how_;
    corpus const& texts_;
    model<float> net_;
    optimizer adam_;
    std::vector<float> gradients_;
};

} // namespace tiny_dlm
