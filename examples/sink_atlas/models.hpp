// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "masking.hpp"

#include <tiny_dlm/checkpoint.hpp>

#include <string>

namespace sink_atlas {

/// The files of a model, its autoregressive twin and its sibling with a sink token; empty where there is none.
struct model_files {
    std::string model, twin, sibling;
};
/// "english" or "tasks": files of the weights folder, as far as they are there. Otherwise the name is a file, which stands alone.
model_files files_of(std::string const& name);

/// The model and its twin that do the synthetic tasks, whose answers can be checked.
inline model_files task_files() { return files_of("tasks"); }
/// Whether it knows the words of the tasks and has room for them: only then its answers can be checked.
bool does_tasks(tiny_dlm::trained_model const& m);

/// A prompt that suits the model: words of scripture, or a task; empty if it knows neither.
std::string default_prompt(tiny_dlm::trained_model const& m, std::uint64_t seed);

/// Texts that the model did not learn from: tasks, or passages of the text file beside the atlas; none if it
/// does not know half of their words.
passages texts_for(tiny_dlm::trained_model const& m, int number);

} // namespace sink_atlas
