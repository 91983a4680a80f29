// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include <basin/export/atomic_file.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tiny_dlm {

/// How numbers are stored in a file; in memory they are always float.
enum class storage : std::uint8_t { float16, float32 };

/// A named array of a checkpoint, row-major.
struct tensor {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
    storage kept = storage::float32;
};

/// What a .safetensors file holds.
struct tensor_file {
    std::map<std::string, std::string> metadata;
    std::map<std::string, tensor> tensors;

    /// The tensor of that name and shape; anything else is refused in one sentence.
    tensor const& at(std::string const& name, std::vector<std::int64_t> const& shape) const;
};

/// A file that is not what it should be; what() is one sentence that begins with its name.
class checkpoint_error : public basin::error {};

/// Reads a file. Everything is checked before anything is allocated for it: a damaged or hostile file gets one sentence.
tensor_file read_safetensors(std::string const& path);
/// The same from memory; `name` is what errors call it.
tensor_file parse_safetensors(std::string_view bytes, std::string const& name);
/// Writes a file whole or not at all, readable by Python's safetensors.
void write_safetensors(std::string const& path, tensor_file const& file);

} // namespace tiny_dlm
