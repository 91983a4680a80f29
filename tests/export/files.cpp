// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <support/random.hpp>

#include <basin/export.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace basin;

namespace {

namespace fs = std::filesystem;

/// An empty folder of this test's own, gone afterwards.
struct folder {
    fs::path path;
    explicit folder(char const* name)
        : path(fs::temp_directory_path() / ("basin_" + std::to_string(::getpid()) + "_" + name)) {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~folder() { fs::remove_all(path); }
    std::string operator/(char const* name) const { return (path / name).string(); }
    std::size_t files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
    }
};

std::string content(std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

table hard_table() {
    table t;
    double const tiny = std::numeric_limits<double>::denorm_min(), big = std::numeric_limits<double>::max();
    t.integers("count", {1, -7, 9007199254740993, 0, 5, 6});
    t.numbers("number", {0.1, 1.0 / 3, tiny, big, -0.0, std::nan("")});
    t.texts("text", {"plain", "comma, \"quote\"", "two\nlines", "\xc3\xa4\xc3\xb6 \\ /", "tab\tend", "x"});
    return t;
}

/// A python that has numpy and pandas, or "".
std::string python() {
    for (char const* name : {"python3", "/usr/bin/python3"}) {
        if (std::system((std::string(name) + " -c 'import numpy, pandas' >/dev/null 2>&1").c_str()) == 0) return name;
    }
    return "";
}

} // namespace

TEST_CASE("CSV, as text") {
    folder const f("csv");
    table t;
    t.integers("step", {1, 2}).numbers("mass", {0.5, std::nan("")}).texts("kind", {"a,b", "say \"x\""});
    write_csv(f / "a.csv", t);
    CHECK(content(f / "a.csv") == "step,mass,kind\n1,0.5,\"a,b\"\n2,nan,\"say \"\"x\"\"\"\n");
    write_jsonl(f / "a.jsonl", t);
    CHECK(content(f / "a.jsonl") == "{\"step\": 1, \"mass\": 0.5, \"kind\": \"a,b\"}\n{\"step\": 2, \"mass\": null, "
                                    "\"kind\": \"say \\\"x\\\"\"}\n");
    CHECK(f.files() == 2); // nothing is left beside them
    write_csv(f / "b.csv", table{});
    CHECK(content(f / "b.csv") == "\n");
    CHECK_THROWS_AS(t.integers("more", {1}), shape_error);
    CHECK_THROWS_AS(t.integers("step", {1, 2}), argument_error);
    table infinite;
    infinite.numbers("x", {HUGE_VAL});
    CHECK_THROWS_AS(write_jsonl(f / "c.jsonl", infinite), argument_error);
    CHECK(!fs::exists(f / "c.jsonl"));
    write_csv(f / "c.csv", infinite);
    CHECK(content(f / "c.csv") == "x\ninf\n");
}

TEST_CASE("numpy and pandas read back exactly what was written") {
    std::string const interpreter = python();
    if (interpreter.empty()) {
        MESSAGE("left out: python3 with numpy and pandas was not found (Debian: python3-numpy python3-pandas)");
        return;
    }
    folder const f("python");
    write_csv(f / "hard.csv", hard_table());
    write_jsonl(f / "hard.jsonl", hard_table());
    table names;
    names.integers("count", hard_table().columns()[0].integers).texts("text", hard_table().columns()[2].texts);
    write_jsonl(f / "names.jsonl", names);
    basin_test::random_numbers random{1};
    table many;
    std::vector<double> numbers;
    for (int i = 0; i < 2000; ++i) {
        std::uint64_t const bits = random.next();
        double x = 0;
        std::memcpy(&x, &bits, sizeof x);           // any double at all
        if (std::isnormal(x)) numbers.push_back(x); // pandas.read_json refuses subnormal numbers
    }
    many.numbers("x", numbers);
    write_csv(f / "many.csv", many);
    write_jsonl(f / "many.jsonl", many);
    write_npy(f / "many.npy", numbers);
    buffer<float, 3> mass(2, 3, 5);
    for (std::ptrdiff_t i = 0; i < mass.size(); ++i) mass.data()[i] = static_cast<float>(i) / 7;
    write_npy(f / "mass.npy", mass);
    write_npy(f / "swapped.npy", view<float const, 2>(mass.data(), {{3, 2}}, {{1, 3}}));
    buffer<index_t, 1> none(0);
    write_npy(f / "none.npy", none);
    std::vector<half> const halves{half(1.5F), half(-65504.F)};
    write_npy(f / "half.npy", halves);
    key_set keys(2, 1, 70);
    keys.insert(0, 0, 3);
    keys.insert(1, 0, 69);
    write_npy(f / "keys.npy", keys);
    std::vector<token_kind> const kinds{token_kind::masked, token_kind::special};
    write_npy(f / "kinds.npy", kinds);
    std::ofstream(f / "check.py") << R"(
import json, math, numpy as np, pandas as pd, struct
def bits(x): return struct.pack('<d', x)
count = [1, -7, 9007199254740993, 0, 5, 6]
number = [0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, math.nan]
text = ['plain', 'comma, "quote"', 'two\nlines', '\u00e4\u00f6 \\ /', 'tab\tend', 'x']
def same(a, b): return all(math.isnan(x) and math.isnan(y) or bits(x) == bits(y) for x, y in zip(a, b)) and len(a) == len(b)
csv = pd.read_csv('hard.csv', float_precision='round_trip')
assert list(csv['count']) == count and same(list(csv['number']), number) and list(csv['text']) == text, csv
rows = [json.loads(line) for line in open('hard.jsonl', encoding='utf-8')]
assert [r['count'] for r in rows] == count and [r['text'] for r in rows] == text
assert same([math.nan if r['number'] is None else r['number'] for r in rows], number)
names = pd.read_json('names.jsonl', lines=True)
assert list(names['count']) == count and list(names['text']) == text, names
many = np.load('many.npy')
assert many.dtype == np.float64 and len(many) > 1900
assert same(list(pd.read_csv('many.csv', float_precision='round_trip')['x']), list(many))
assert same([json.loads(line)['x'] for line in open('many.jsonl')], list(many))
assert same(list(pd.read_json('many.jsonl', lines=True, precise_float=True)['x']), list(many))
mass = np.load('mass.npy')
assert mass.shape == (2, 3, 5) and mass.dtype == np.float32
assert (mass.ravel() == np.arange(30, dtype=np.float32) / np.float32(7)).all()
assert (np.load('swapped.npy') == mass.ravel()[:6].reshape(2, 3).T).all()
none = np.load('none.npy')
assert none.shape == (0,) and none.dtype == np.int32
assert list(np.load('half.npy')) == [1.5, -65504] and np.load('half.npy').dtype == np.float16
keys = np.load('keys.npy')
assert keys.dtype == bool and keys.shape == (2, 1, 70) and list(zip(*keys.nonzero())) == [(0, 0, 3), (1, 0, 69)]
assert list(np.load('kinds.npy')) == [2, 4]
)";
    CHECK(std::system(("cd '" + f.path.string() + "' && " + interpreter + " check.py").c_str()) == 0);
}

TEST_CASE("every result has a table") {
    detection d(4, 2, 1, 1, 8);
    sink s;
    s.step = 4;
    s.layer = 2;
    s.key = 3;
    s.kind = token_kind::masked;
    s.received = 2.5;
    s.by = "mine";
    d.add(s);
    auto const row = [](table const& t) {
        std::string text;
        for (auto const& c : t.columns()) {
            text += c.name + "=" +
                    (c.type == table::kind::integer ? std::to_string(c.integers.at(0))
                     : c.type == table::kind::text  ? c.texts.at(0)
                                                    : std::to_string(c.numbers.at(0)).substr(0, 4)) +
                    " ";
        }
        return text;
    };
    CHECK(row(table_of(d)) == "step=4 layer=2 batch=0 head=0 key=3 kind=masked received=2.50 seen=0.00 share=0.00 "
                              "baseline=0.00 norm=0.00 activation=0.00 rule=mine number=0.00 threshold=0.00 ");
    track_event const e{happening::moved, 4, 2, 0, 1, 7, -1, 3, 5, 2.5, token_kind::prompt};
    CHECK(row(table_of(std::vector<track_event>{e})) ==
          "event=moved step=4 layer=2 batch=0 head=1 track=7 other=-1 from=3 to=5 mass=2.50 kind=prompt ");
    life l;
    l.track = 7;
    l.born = 2;
    l.last_seen = 5;
    l.steps = 4;
    l.mass = 9;
    l.peak = 3;
    l.path = {{2, 5, 3, token_kind::masked, 4, 9}};
    CHECK(row(table_of(std::vector<life>{l})) == "track=7 layer=0 batch=0 head=0 born=2 last_seen=5 died=-1 parent=-1 "
                                                 "merged_into=-1 steps=4 mass=9.00 peak=3.00 ");
    CHECK(row(paths_of({l})) == "track=7 step=2 last=5 key=3 kind=masked steps=4 mass=9.00 ");
    sweep_curve curve;
    curve.thresholds = {3};
    curve.sinks = {2};
    curve.keys = 64;
    CHECK(row(table_of(curve)) == "threshold=3.00 sinks=2 keys=64 ");
    experiment x({"none", "sinks"});
    for (int i = 0; i < 5; ++i) x.add({1, 2});
    CHECK(row(table_of(x)) == "none=1.00 sinks=2.00 ");
    CHECK(row(table_of(x.report())).find("comparison=sinks - none pairs=5 mean=1.00 low=1.00 high=1.00 p_sign=0.06") ==
          0);
}

TEST_CASE("a full disk is an error, the old file stays, nothing is left behind") {
    folder const f("full");
    table old, big;
    old.integers("x", {1});
    write_csv(f / "a.csv", old);
    std::string const before = content(f / "a.csv");
    big.integers("x", std::vector<long long>(200000, 123456789));
    std::vector<double> const array(100000);
    pid_t const child = ::fork(); // limits would stay with this process
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit const limit{100000, 100000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        int refused = 0;
        for (int kind = 0; kind < 3; ++kind) {
            try {
                if (kind == 0) write_csv(f / "a.csv", big);
                if (kind == 1) write_jsonl(f / "a.csv", big);
                if (kind == 2) write_npy(f / "a.csv", array);
            } catch (io_error const& e) {
                refused += std::strstr(e.what(), "the old file is as it was") != nullptr ? 1 : 0;
            }
        }
        ::_exit(refused);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
    CHECK(content(f / "a.csv") == before);
    CHECK(f.files() == 1);
    CHECK_THROWS_AS(write_csv(f / "no/such/folder.csv", old), io_error);
    // a file that is not committed never was
    {
        atomic_file unfinished(f / "a.csv");
        unfinished.write("half");
    }
    CHECK(content(f / "a.csv") == before);
    CHECK(f.files() == 1);
}

TEST_CASE("a killed process leaves the old file or the new one") {
    folder const f("killed");
    table a, b;
    a.integers("x", std::vector<long long>(20000, 11111111));
    b.integers("x", std::vector<long long>(30000, 22222222));
    write_csv(f / "b.csv", b);
    write_csv(f / "a.csv", a);
    std::string const first = content(f / "a.csv"), second = content(f / "b.csv");
    int changed = 0;
    for (int n = 0; n < 30; ++n) {
        pid_t const child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            for (;;) {
                write_csv(f / "a.csv", b);
                write_csv(f / "a.csv", a);
            }
        }
        ::usleep(static_cast<useconds_t>(1000 + 700 * n));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        std::string const now = content(f / "a.csv");
        CHECK((now == first || now == second));
        changed += now == second ? 1 : 0;
    }
    MESSAGE("killed 30 times, the other file was there ", changed, " times");
}
