// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

#include "json_reader.hpp"

#include <basin/core/scalar.hpp>
#include <basin/export/jsonl.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>

#include <sys/stat.h>

// Checkpoints: an 8-byte length, a JSON header that says which tensor has which bytes, and the bytes.
namespace tiny_dlm {

static_assert(std::endian::native == std::endian::little, "safetensors files are read and written as little-endian");

/// How numbers are stored in a file; in memory they are always float.
enum class storage : std::uint8_t { float16, float32 };

/// A named array of a checkpoint, row-major.
struct tensor {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
    storage kept = storage::float32;
};

/// A file that is not what it should be; what() is one sentence that begins with its name.
class checkpoint_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

inline std::string shape_text(std::vector<std::int64_t> const& shape) {
    std::string text = "(";
    for (std::int64_t const n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
    return text + ")";
}

/// What a .safetensors file holds.
struct tensor_file {
    std::map<std::string, std::string> metadata;
    std::map<std::string, tensor> tensors;

    /// The tensor of that name and shape; anything else is refused in one sentence.
    tensor const& at(std::string const& name, std::vector<std::int64_t> const& shape) const {
        auto const found = tensors.find(name);
        if (found == tensors.end()) throw checkpoint_error("the checkpoint has no tensor " + in_quotes(name));
        if (found->second.shape != shape)
            throw checkpoint_error("the checkpoint's tensor " + in_quotes(name) + " has shape " +
                                   shape_text(found->second.shape) + ", expected " + shape_text(shape));
        return found->second;
    }
};

namespace detail {

/// What the header says about one tensor.
struct tensor_entry {
    std::string name;
    storage kept = storage::float32;
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0, end = 0;
};

inline tensor_entry read_entry(json_reader& json, std::string const& name) {
    tensor_entry entry{name, {}, {}, 0, 0};
    std::string type;
    std::vector<std::int64_t> offsets;
    bool has_shape = false;
    auto const wrong = [&](std::string const& why) {
        throw std::runtime_error("tensor " + in_quotes(name) + " " + why);
    };
    json.object([&](std::string const& field) {
        if (field == "dtype")
            type = json.string();
        else if (field == "shape") {
            entry.shape = json.numbers(8);
            has_shape = true;
        } else if (field == "data_offsets")
            offsets = json.numbers(2);
        else
            wrong("has a field " + in_quotes(field) + " that the format does not know");
    });
    if (type.empty() || !has_shape || offsets.size() != 2) wrong("needs dtype, shape and two data_offsets");
    if (type != "F32" && type != "F16") wrong("has the type " + in_quotes(type) + "; only F32 and F16 are read");
    entry.kept = type == "F32" ? storage::float32 : storage::float16;
    entry.begin = offsets[0];
    entry.end = offsets[1];
    std::int64_t bytes = type == "F32" ? 4 : 2;
    for (std::int64_t const n : entry.shape) {
        if (__builtin_mul_overflow(bytes, n, &bytes)) wrong("is too large to be true");
    }
    if (entry.begin > entry.end) wrong("ends before it begins");
    if (entry.end - entry.begin != bytes)
        wrong("has shape " + shape_text(entry.shape) + ", which needs " + std::to_string(bytes) + " bytes, but " +
              std::to_string(entry.end - entry.begin) + " are given");
    return entry;
}

inline tensor read_tensor(tensor_entry const& entry, char const* data) {
    tensor t{entry.shape, {}, entry.kept};
    auto const bytes = static_cast<std::size_t>(entry.end - entry.begin);
    if (bytes == 0) return t;
    if (entry.kept == storage::float32) {
        t.values.resize(bytes / 4);
        std::memcpy(t.values.data(), data + entry.begin, bytes);
    } else {
        std::vector<basin::half> halves(bytes / 2);
        std::memcpy(static_cast<void*>(halves.data()), data + entry.begin, bytes);
        t.values.assign(halves.begin(), halves.end());
    }
    return t;
}

inline tensor_file parse_checked(std::string_view bytes) {
    std::uint64_t size = 0;
    if (bytes.size() < sizeof size) throw std::runtime_error("it is too short to be a safetensors file");
    std::memcpy(&size, bytes.data(), sizeof size);
    if (size > bytes.size() - sizeof size)
        throw std::runtime_error("its header should have " + std::to_string(size) + " bytes, but only " +
                                 std::to_string(bytes.size() - sizeof size) +
                                 " follow: it is truncated, or no safetensors file");
    std::string_view const header = bytes.substr(sizeof size, size), data = bytes.substr(sizeof size + size);
    if (header.empty() || header[0] != '{') throw std::runtime_error("its header does not begin with {");

    tensor_file file;
    std::vector<tensor_entry> entries;
    json_reader json(header);
    json.object([&](std::string const& name) {
        if (name == "__metadata__")
            json.object([&](std::string const& key) { file.metadata[key] = json.string(); });
        else
            entries.push_back(read_entry(json, name));
    });
    json.end();

    // Sorted by place, each must begin where the one before ends: neither gaps nor overlaps, up to the last byte.
    std::sort(entries.begin(), entries.end(), [](tensor_entry const& a, tensor_entry const& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::int64_t place = 0;
    for (tensor_entry const& e : entries) {
        if (e.begin != place)
            throw std::runtime_error("tensor " + in_quotes(e.name) + " begins at byte " + std::to_string(e.begin) +
                                     (e.begin < place ? ", inside the one before it" : ", after a gap"));
        place = e.end;
    }
    if (static_cast<std::uint64_t>(place) != data.size())
        throw std::runtime_error("its tensors need " + std::to_string(place) + " bytes, but it has " +
                                 std::to_string(data.size()) +
                                 (static_cast<std::uint64_t>(place) > data.size() ? ": it is truncated" : ""));
    for (tensor_entry const& e : entries) file.tensors[e.name] = read_tensor(e, data.data());
    return file;
}

} // namespace detail

/// Reads a file from memory; `name` is what errors call it. Everything is checked before anything is allocated for a tensor: a
/// damaged or hostile file gets one sentence.
inline tensor_file parse_safetensors(std::string_view bytes, std::string const& name) {
    try {
        return detail::parse_checked(bytes);
    } catch (std::runtime_error const& e) {
        throw checkpoint_error(name + " cannot be read as a checkpoint: " + e.what());
    }
}

/// Larger files are no tiny model's, and are not read.
inline constexpr long long largest_file = 256LL << 20U;

/// Reads a file.
inline tensor_file read_safetensors(std::string const& path) {
    auto const fail = [&](std::string const& why) { throw checkpoint_error(path + " cannot be read: " + why); };
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (!file) fail(std::strerror(errno));
    struct stat facts{};
    if (::fstat(::fileno(file.get()), &facts) != 0 || !S_ISREG(facts.st_mode)) fail("it is not a file");
    if (facts.st_size > largest_file)
        fail("it has " + std::to_string(facts.st_size >> 20U) + " MB; a tiny model has at most 256");
    std::string bytes(static_cast<std::size_t>(facts.st_size), '\0');
    if (std::fread(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) fail("it became shorter while read");
    return parse_safetensors(bytes, path);
}

/// The bytes of a file, readable by Python's safetensors. A float16 tensor with a number that float16 cannot hold is refused.
inline std::string safetensors_bytes(tensor_file const& file) {
    auto const fail = [&](std::string const& why) {
        throw checkpoint_error("the checkpoint cannot be written: " + why);
    };
    auto const text = [&](std::string const& words) {
        if (!is_utf8(words)) fail("the text " + in_quotes(words) + " is not UTF-8");
        return basin::detail::json_text(words);
    };
    std::string header = "{\"__metadata__\":{", data;
    for (auto const& [key, value] : file.metadata)
        header += (header.back() == '{' ? "" : ",") + text(key) + ":" + text(value);
    header += "}";
    for (storage const kept : {storage::float32, storage::float16}) { // 4-byte numbers first: all are aligned
        for (auto const& [name, t] : file.tensors) {
            if (t.kept != kept) continue;
            std::size_t count = 1;
            for (std::int64_t const n : t.shape) count *= static_cast<std::size_t>(n);
            if (name == "__metadata__") fail("no tensor may be called __metadata__");
            if (count != t.values.size())
                fail("tensor " + in_quotes(name) + " has shape " + shape_text(t.shape) + " but " +
                     std::to_string(t.values.size()) + " numbers");
            std::size_t const begin = data.size();
            for (float const x : t.values) {
                basin::half const h(x);
                if (kept == storage::float32)
                    data.append(reinterpret_cast<char const*>(&x), sizeof x);
                else if (std::isfinite(x) && !std::isfinite(static_cast<float>(h)))
                    fail("tensor " + in_quotes(name) + " has the number " + std::to_string(x) +
                         ", which is too large for float16");
                else
                    data.append(reinterpret_cast<char const*>(&h.bits), sizeof h.bits);
            }
            std::string shape;
            for (std::int64_t const n : t.shape) shape += (shape.empty() ? "" : ",") + std::to_string(n);
            header += "," + text(name) + ":{\"dtype\":\"" + (kept == storage::float32 ? "F32" : "F16") +
                      "\",\"shape\":[" + shape + "],\"data_offsets\":[" + std::to_string(begin) + "," +
                      std::to_string(data.size()) + "]}";
        }
    }
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::uint64_t const size = header.size();
    return std::string(reinterpret_cast<char const*>(&size), sizeof size) + header + data;
}

/// Writes a file whole or not at all.
inline void write_safetensors(std::string const& path, tensor_file const& file) {
    std::string const bytes = safetensors_bytes(file);
    basin::atomic_file out(path);
    out.write(bytes);
    out.commit();
}

} // namespace tiny_dlm
