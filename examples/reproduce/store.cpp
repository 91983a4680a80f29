// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "store.hpp"

#include <cstdio>
#include <filesystem>

namespace reproduce {

using namespace tiny_dlm;

namespace {

/// FNV-1a, 64 bits, as 16 hexadecimal digits.
class digest {
public:
    void add(std::uint32_t byte) { hash_ = (hash_ ^ (byte & 0xffU)) * 0x100000001b3U; }
    std::string digits() const {
        char text[17];
        std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_));
        return text;
    }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325U;
};

std::string hash_of_file(std::string const& path) {
    digest d;
    for (char const c : read_text(path)) d.add(static_cast<unsigned char>(c));
    return d.digits();
}

/// Of the texts that a model is measured on, which corpus_hash says nothing about.
std::string hash_of_validation(corpus const& texts, settings const& s) {
    digest d;
    index_t const count = std::min<index_t>(4 * s.texts, texts.validation_count());
    for (token_id const t : texts.validation(0, count).tokens)
        for (unsigned shift = 0; shift < 32; shift += 8) d.add(static_cast<std::uint32_t>(t) >> shift);
    return d.digits();
}

constexpr char const *commit_key = "measured_at", *command_key = "measured_by";

} // namespace

corpus const& texts_for(run const& r, settings const& s) {
    if (r.checkpoint.empty() || r.corpus == "tasks") return texts_of(r.corpus, r.how.model.length, s);
    static std::map<std::string, corpus> known;
    if (auto const found = known.find(r.checkpoint); found != known.end()) return found->second;
    trained_model const m = load_model(r.checkpoint);
    auto texts = corpus::from_text(read_text(s.text), m.words, m.net.config().length);
    return known.emplace(r.checkpoint, std::move(texts)).first->second;
}

std::map<std::string, std::string> identity(run const& r, corpus const& texts, settings const& s) {
    std::map<std::string, std::string> text;
    if (r.checkpoint.empty()) {
        text = r.how.to_text();
    } else {
        text["file"] = std::filesystem::path(r.checkpoint).filename().string();
        text["file_hash"] = hash_of_file(r.checkpoint);
    }
    text["corpus"] = corpus_hash(texts);
    text["validation"] = hash_of_validation(texts, s);
    text["measured_texts"] = std::to_string(s.texts);
    text["measurement_version"] = "4";
    return text;
}

kept_measurement load(std::string const& path, std::map<std::string, std::string> const& wanted) {
    if (!std::filesystem::exists(path)) return {};
    tensor_file file = read_safetensors(path);
    kept_measurement m;
    m.by = {file.metadata[command_key], file.metadata[commit_key]};
    for (char const* const key : {command_key, commit_key}) file.metadata.erase(key);
    if (file.metadata != wanted) return {};
    for (auto const& [name, t] : file.tensors) m.numbers[name].assign(t.values.begin(), t.values.end());
    return m;
}

void save(std::string const& path, std::map<std::string, std::string> const& what, kept_measurement const& m) {
    tensor_file file;
    file.metadata = what;
    file.metadata[command_key] = m.by.command;
    file.metadata[commit_key] = m.by.commit;
    for (auto const& [name, values] : m.numbers) {
        tensor& t = file.tensors[name];
        t.shape = {static_cast<std::int64_t>(values.size())};
        for (double const x : values) t.values.push_back(static_cast<float>(x));
    }
    write_safetensors(path, file);
}

bool is_there(std::string const& state, recipe const& how, corpus const& texts) {
    if (!std::filesystem::exists(state)) return false;
    auto const found = read_safetensors(state).metadata;
    auto wanted = how.to_text();
    wanted["corpus"] = corpus_hash(texts);
    return std::all_of(wanted.begin(), wanted.end(), [&](auto const& entry) {
        auto const at = found.find(entry.first);
        return at != found.end() && at->second == entry.second;
    });
}

std::string output_of(char const* command) {
    std::string text;
    if (std::FILE* const pipe = ::popen(command, "r")) {
        char piece[256];
        while (std::fgets(piece, sizeof piece, pipe) != nullptr) text += piece;
        ::pclose(pipe);
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::string commit_here() {
    std::string const commit = output_of("git rev-parse HEAD 2>/dev/null");
    bool const changed =
        !commit.empty() && output_of("git diff --quiet HEAD -- include examples "
                                     "':!examples/reproduce/results.json' 2>/dev/null; echo $?") != "0";
    return commit + (changed ? " with changes" : "");
}

} // namespace reproduce
