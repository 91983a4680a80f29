// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "../fuzz/safetensors.cpp"
#include "support.hpp"

#include <bit>

using namespace tiny_dlm;
using namespace io_test;

namespace {

std::string file_of(std::string const& header, std::string const& data, std::uint64_t longer = 0) {
    std::uint64_t const size = header.size() + longer;
    return std::string(reinterpret_cast<char const*>(&size), sizeof size) + header + data;
}
std::string why(std::string const& bytes) {
    return complaint([&] { parse_safetensors(bytes, "file"); });
}
/// The header of one tensor of two floats, in which one thing may be different.
std::string entry(std::string const& type = "F32", std::string const& shape = "[2]",
                  std::string const& place = "[0,8]") {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + place + "}";
}
std::string one(std::string const& e) { return R"({"a":)" + e + "}"; }
std::string const eight(8, '\0');

tensor_file ours() {
    tensor_file file;
    file.metadata = {{"kind", "block_diffusion"}, {"text", "tab\t, quote \" and \xc3\xa4"}};
    file.tensors["a"] = {{2, 3}, {0.5F, -1, 0.1F, 3, 1e-30F, -0.F}, storage::float32};
    file.tensors["b"] = {{3}, {1.5F, -65504, 0x1p-24F}, storage::float16};
    file.tensors["nothing"] = {{0, 2}, {}, storage::float32};
    file.tensors["one"] = {{}, {7}, storage::float32};
    return file;
}

} // namespace

TEST_CASE("a checkpoint comes back bit by bit") {
    folder const f("roundtrip");
    tensor_file const file = ours();
    write_safetensors(f / "x", file);
    tensor_file const again = read_safetensors(f / "x");
    CHECK(again.metadata == file.metadata);
    REQUIRE(again.tensors.size() == file.tensors.size());
    for (auto const& [name, t] : file.tensors) {
        tensor const& u = again.at(name, t.shape);
        CHECK(u.kept == t.kept);
        REQUIRE(u.values.size() == t.values.size());
        for (std::size_t i = 0; i < t.values.size(); ++i)
            CHECK(std::bit_cast<std::uint32_t>(u.values[i]) == std::bit_cast<std::uint32_t>(t.values[i]));
    }
    CHECK(safetensors_bytes(again) == content(f / "x")); // and so do its bytes
}

TEST_CASE("the committed file is what is written") { // and Python's safetensors reads it: data/read_ours.py
    CHECK(content(here() / "data/ours.safetensors") == safetensors_bytes(ours()));
}

TEST_CASE("a file written by Python's safetensors is read") {
    tensor_file const file = read_safetensors((here() / "data/python.safetensors").string());
    CHECK(file.metadata.at("kind") == "masked_diffusion");
    CHECK(file.metadata.at("text") == "two\nlines, \"quotes\" and \xc3\xa4");
    REQUIRE(file.tensors.size() == 4);
    tensor const& weights = file.at("weights", {3, 4});
    for (int i = 0; i < 12; ++i) CHECK(weights.values[static_cast<std::size_t>(i)] == static_cast<float>(i) / 8 - 0.5F);
    tensor const& halves = file.at("halves", {4});
    CHECK(halves.kept == storage::float16);
    CHECK(halves.values == std::vector<float>{1.5F, -65504, 0x1p-24F, 0.333251953125F});
    CHECK(file.at("nothing", {0, 5}).values.empty());
    CHECK(file.at("\xc3\xa4 name", {}).values == std::vector<float>{2.5F});
}

TEST_CASE("every malformed file gets its sentence") {
    CHECK(why(file_of(one(entry()), eight)) == "nothing");
    CHECK(why(file_of(one(entry()) + "  \n ", eight)) == "nothing"); // padded
    CHECK(why("") == "file cannot be read as a checkpoint: it is too short to be a safetensors file");
    CHECK(has(why(file_of("{}", "", 1)), "its header should have 3 bytes, but only 2 follow: it is truncated"));
    CHECK(has(why(std::string(8, '\xff') + "{}"), "should have 18446744073709551615 bytes"));
    CHECK(has(why(file_of("", "")), "does not begin with {"));
    CHECK(has(why(file_of("[]", "")), "does not begin with {"));
    CHECK(has(why(file_of("{", "")), "expected a text in quotes"));
    CHECK(has(why(file_of(R"({"a)", "")), "a text in quotes has no end"));
    CHECK(has(why(file_of(R"({"a")", "")), "expected a colon"));
    CHECK(has(why(file_of(R"({"a":1})", "")), "expected an object"));
    CHECK(has(why(file_of(one(entry()) + "x", eight)), "something follows the end of the object"));
    CHECK(has(why(file_of(one(entry()) + std::string(1, '\0'), eight)), "something follows"));
    CHECK(has(why(file_of(R"({"a":)" + entry() + " \"b\"", eight)), "expected a comma or the end of the object"));
    CHECK(has(why(file_of("{\"a\nb\":1}", "")), "control character"));
    CHECK(has(why(file_of("{\"\xff\":1}", "")), "not UTF-8"));
    CHECK(has(why(file_of("{\"\xed\xa0\x80\":1}", "")), "not UTF-8")); // half a character
    CHECK(has(why(file_of(R"({"\q":1})", "")), "an unknown \\ in a text"));
    CHECK(has(why(file_of(R"({"\u12g4":1})", "")), "four hexadecimal digits"));
    CHECK(has(why(file_of(R"({"\ud83d":1})", "")), "half a character"));
    CHECK(has(why(file_of(R"({"\ud83dA":1})", "")), "half a character"));
    CHECK(has(why(file_of(R"({"\udc00":1})", "")), "half a character"));
    CHECK(has(why(file_of(R"({"__metadata__":{"x":1}})", "")), "expected a text in quotes"));
    CHECK(has(why(file_of(R"({"__metadata__":{"x":"1","x":"2"}})", "")), "the key \"x\" stands there twice"));
    CHECK(has(why(file_of(R"({"a":)" + entry() + R"(,"a":)" + entry() + "}", eight)), "\"a\" stands there twice"));
}

TEST_CASE("every impossible tensor gets its sentence") {
    auto const of = [](std::string const& e) { return why(file_of(one(e), eight)); };
    CHECK(has(of(entry("I64", "[1]")), "tensor \"a\" has the type \"I64\"; only F32 and F16 are read"));
    CHECK(has(of(entry("f32")), "has the type \"f32\""));
    CHECK(has(of(R"({"dtype":"F32","shape":[2]})"), "needs dtype, shape and two data_offsets"));
    CHECK(has(of(R"({"dtype":"F32","data_offsets":[0,8]})"), "needs dtype"));
    CHECK(has(of(R"({"shape":[2],"data_offsets":[0,8]})"), "needs dtype"));
    CHECK(has(of(entry("F32", "[2]", "[8]")), "needs dtype, shape and two data_offsets"));
    CHECK(has(of(entry("F32", "[2]", "[0,8,9]")), "more than 2 numbers"));
    CHECK(has(of(entry("F32", "[1,1,1,1,1,1,1,1,2]")), "more than 8 numbers"));
    CHECK(has(of(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1})"), "has a field \"more\""));
    CHECK(has(of(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"), "\"dtype\" stands there twice"));
    for (char const* const bad : {"[-2]", "[2.0]", "[2e0]", "[02]", "[x]", "[99999999999999999999]", "[-0]"}) {
        CAPTURE(bad);
        CHECK(has(of(entry("F32", bad)), "expected a whole number"));
    }
    CHECK(has(of(entry("F32", "2")), "expected a list of numbers"));
    CHECK(has(of(entry("F32", "[2 2]")), "expected a comma or the end of the list"));
    CHECK(has(of(entry("F32", "[4611686018427387904,4611686018427387904]")), "is too large to be true"));
    CHECK(has(of(entry("F32", "[3]")), "has shape (3), which needs 12 bytes, but 8 are given"));
    CHECK(has(of(entry("F16", "[2]")), "needs 4 bytes, but 8 are given"));
    CHECK(has(of(entry("F32", "[2]", "[8,0]")), "ends before it begins"));
    CHECK(has(of(entry("F32", "[2]", "[4,12]")), "begins at byte 4, after a gap"));
    CHECK(has(why(file_of(one(entry()), eight + eight)), "its tensors need 8 bytes, but it has 16"));
    CHECK(has(why(file_of(one(entry()), "1234")), "its tensors need 8 bytes, but it has 4: it is truncated"));
    std::string const two = R"({"a":)" + entry() + R"(,"b":)" + entry("F32", "[2]", "[4,12]") + "}";
    CHECK(has(why(file_of(two, eight + "1234")), "tensor \"b\" begins at byte 4, inside the one before it"));
    std::string const deep = R"({"a":)" + std::string(100000, '{');
    CHECK(has(why(file_of(deep, "")), "expected")); // no recursion, no end of the stack
}

TEST_CASE("a truncated checkpoint is refused at every length, and so is every flipped length") {
    std::string const bytes = safetensors_bytes(ours());
    for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(why(bytes.substr(0, n)) != "nothing");
    for (unsigned bit = 0; bit < 64; ++bit) {
        std::string other = bytes;
        other[bit / 8] = static_cast<char>(static_cast<unsigned char>(other[bit / 8]) ^ (1U << (bit % 8U)));
        CHECK(why(other) != "nothing");
    }
}

TEST_CASE("files that cannot be read or written, and tensors that are not as expected") {
    folder const f("missing");
    CHECK(complaint([&] { read_safetensors(f / "x"); }) == (f / "x") + " cannot be read: No such file or directory");
    CHECK(complaint([&] { read_safetensors(f.path.string()); }) ==
          f.path.string() + " cannot be read: it is not a file");
    { // more than any tiny model has; a hole, so it needs no disk
        std::ofstream(f / "huge").put('x');
        fs::resize_file(f / "huge", 300U << 20U);
        CHECK(has(complaint([&] { read_safetensors(f / "huge"); }), "it has 300 MB; a tiny model has at most 256"));
        fs::remove(f / "huge");
    }
    CHECK(has(complaint([&] { write_safetensors(f / "no/folder", ours()); }), "cannot create a file beside"));
    tensor_file bad = ours();
    bad.tensors["b"].values[0] = 70000;
    CHECK(has(complaint([&] { write_safetensors(f / "x", bad); }), "70000.000000, which is too large for float16"));
    bad = ours();
    bad.tensors["b"].values.pop_back();
    CHECK(has(complaint([&] { write_safetensors(f / "x", bad); }), "tensor \"b\" has shape (3) but 2 numbers"));
    bad = ours();
    bad.metadata["x"] = "\xff";
    CHECK(has(complaint([&] { write_safetensors(f / "x", bad); }), "the text \"\\xff\" is not UTF-8"));
    bad = ours();
    bad.tensors["__metadata__"] = {{}, {1}, storage::float32};
    CHECK(has(complaint([&] { write_safetensors(f / "x", bad); }), "no tensor may be called __metadata__"));
    CHECK(f.empty());
    CHECK(complaint([&] { ours().at("c", {}); }) == "the checkpoint has no tensor \"c\"");
    CHECK(complaint([&] { ours().at("b", {4}); }) == "the checkpoint's tensor \"b\" has shape (3), expected (4)");
}

TEST_CASE("seeds of the fuzzer") {
    int count = 0;
    for (auto const& seed : fs::directory_iterator(here() / "../fuzz/seeds")) {
        std::string const bytes = content(seed.path());
        LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()); // aborts by itself
        bool const good = why(bytes) == "nothing";
        auto const name = seed.path().filename().string();
        CAPTURE(name);
        CHECK(good == (name == "good" || name == "empty_object" || name == "scalar" || name == "unicode" ||
                       name == "not_finite" || name == "vocabulary_twice" || name.starts_with("model")));
        ++count;
    }
    CHECK(count >= 16);
}
