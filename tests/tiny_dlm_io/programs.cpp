// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "support.hpp"

#include "../../examples/tiny_dlm/options.hpp"
#include "../../examples/tiny_dlm/progress.hpp"

#include <chrono>
#include <thread>

#include <pthread.h>
#include <unistd.h>

using namespace tiny_dlm;
using namespace io_test;

namespace {

enum class fruit : std::uint8_t { apple, pear };

struct settings {
    int steps = 32;
    double heat = 0.5;
    std::uint64_t seed = 1;
    std::string model = "m";
    fruit kind = fruit::apple;
    bool quiet = false;
    std::string help;

    bool read(std::vector<char const*> words) {
        command_line line("prog", "Does a thing.");
        line.option("--steps", "N", "how many", steps, 1, 100);
        line.option("--heat", "T", "how hot", heat, 0.0, 10.0);
        line.option("--seed", "N", "which one", seed, std::uint64_t{0}, ~std::uint64_t{0});
        line.option("--model", "FILE", "which file", model);
        line.option("--kind", "what fruit", kind, {"apple", "pear"});
        line.flag("--quiet", "says nothing", quiet);
        help = line.help();
        words.insert(words.begin(), "prog");
        return line.parse(static_cast<int>(words.size()), words.data());
    }
};
std::string why(std::vector<char const*> words) {
    return complaint([&] { settings{}.read(std::move(words)); });
}

} // namespace

TEST_CASE("options are read") {
    settings s;
    CHECK(s.read({"--steps", "7", "--heat=2.5", "--model", "a=b", "--kind", "pear", "--quiet", "--seed",
                  "18446744073709551615"}));
    CHECK(s.steps == 7);
    CHECK(s.heat == 2.5);
    CHECK(s.model == "a=b");
    CHECK(s.kind == fruit::pear);
    CHECK(s.quiet);
    CHECK(s.seed == ~std::uint64_t{0});
    settings untouched;
    CHECK(untouched.read({}));
    CHECK(untouched.steps == 32);
    CHECK(!untouched.quiet);
    settings last;
    CHECK(last.read({"--steps", "7", "--steps", "8", "--model="}));
    CHECK(last.steps == 8);
    CHECK(last.model.empty());
}

TEST_CASE("help lists every option with its default") {
    settings s;
    s.read({});
    CHECK(s.help == "Does a thing.\n\n"
                    "usage: prog [options]\n"
                    "  --steps N          how many (32)\n"
                    "  --heat T           how hot (0.5)\n"
                    "  --seed N           which one (1)\n"
                    "  --model FILE       which file (m)\n"
                    "  --kind apple|pear  what fruit (apple)\n"
                    "  --quiet            says nothing\n"
                    "  --help             this text\n");
}

TEST_CASE("every wrong command line gets its sentence") {
    CHECK(why({"--step", "7"}) == "prog: there is no option \"--step\"; --help lists them");
    CHECK(why({"words"}) == "prog: there is no option \"words\"; --help lists them");
    CHECK(why({"--steps"}) == "prog: --steps needs a value, N");
    CHECK(why({"--quiet=1"}) == "prog: --quiet takes no value");
    CHECK(why({"--kind", "plum"}) == "prog: --kind takes one of apple|pear, not \"plum\"");
    for (char const* const bad : {"x", "", "0", "101", "7x", "1.5", " 7", "99999999999999999999"}) {
        CAPTURE(bad);
        CHECK(why({"--steps", bad}) == "prog: --steps takes a number from 1 to 100, not \"" + std::string(bad) + "\"");
    }
    CHECK(has(why({"--heat", "nan"}), "takes a number from 0 to 10"));
    CHECK(has(why({"--heat", "inf"}), "takes a number from 0 to 10"));
    CHECK(has(why({"--seed", "-1"}), "not \"-1\""));
}

TEST_CASE("exit codes") {
    auto const code = [](auto const& body) { return run_program("prog", body); };
    CHECK(code([] { return 0; }) == 0);
    CHECK(code([] { return 3; }) == 3);
    CHECK(code([]() -> int { throw usage_error("prog: (a test) wrong option"); }) == 2);
    CHECK(code([]() -> int { throw std::runtime_error("(a test) broken"); }) == 1);
    CHECK(code([]() -> int { throw std::bad_alloc(); }) == 1);
    CHECK(code([]() -> int { throw interruption(); }) == 130);
}

TEST_CASE("Ctrl-C is noticed between steps") {
    detail::stop_asked = 0;
    {
        interrupt_guard const guard;
        CHECK(!interrupt_guard::asked());
        interrupt_guard::check();
        std::raise(SIGINT);
        CHECK(interrupt_guard::asked());
        CHECK_THROWS_AS(interrupt_guard::check(), interruption);
    }
    detail::stop_asked = 0;
}

TEST_CASE("Ctrl-C ends a call that waits") {
    detail::stop_asked = 0;
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    {
        interrupt_guard const guard;
        pthread_t const reader = ::pthread_self();
        std::thread helper([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            ::pthread_kill(reader, SIGINT);
            for (int i = 0; i < 200 && !interrupt_guard::asked(); ++i)
                std::this_thread::sleep_for(std::chrono::milliseconds(10));
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            CHECK(::write(ends[1], "x", 1) == 1); // who still waits gets this
        });
        char letter = 0;
        auto const got = ::read(ends[0], &letter, 1);
        int const why = errno;
        helper.join();
        CHECK(got == -1);
        CHECK(why == EINTR);
        CHECK(interrupt_guard::asked());
    }
    detail::stop_asked = 0;
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("progress in a file is a plain line at every tenth") {
    folder const f("progress");
    {
        std::unique_ptr<std::FILE, int (*)(std::FILE*)> const out(std::fopen((f / "log").c_str(), "w"), &std::fclose);
        progress bar("training", 1000, 0, out.get());
        for (long i = 1; i <= 1000; ++i) bar.update(i, "loss 0.5");
        bar.update(1000);
    }
    std::string const log = content(f / "log");
    CHECK(std::count(log.begin(), log.end(), '\n') == 11);
    CHECK(has(log, "training 500/1000 0:00 left  loss 0.5\n"));
    CHECK(has(log, "training 1000/1000 took 0:00  loss 0.5\n"));
    CHECK(!has(log, "\r"));
    CHECK(clock_text(65.2) == "1:05");
    CHECK(clock_text(7390) == "2:03:10");
}
