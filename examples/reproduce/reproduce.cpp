// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "claims.hpp"
#include "measure.hpp"
#include "plan.hpp"
#include "report.hpp"
#include "store.hpp"

#include <tiny_dlm/options.hpp>
#include <tiny_dlm/progress.hpp>

#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

// reproduce: trains tiny models, measures their sinks, and says of each claim of the two papers what became of it.
namespace {

using namespace reproduce;
using namespace tiny_dlm;
namespace fs = std::filesystem;

/// Several processes may share a folder, one for each core: each model is worked on by one of them.
class work_on {
public:
    work_on(fs::path const& path, bool wait)
        : path_(path), handle_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
        if (handle_ < 0) throw std::runtime_error(path.string() + " cannot be written: " + std::strerror(errno));
        while (::flock(handle_, wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0) {
            int const why = errno; // before the check, which may change it
            interrupt_guard::check();
            if (why == EWOULDBLOCK) return; // another process has it
            if (why != EINTR) throw std::runtime_error(path.string() + " cannot be locked: " + std::strerror(why));
        }
        mine_ = true;
    }
    work_on(work_on const&) = delete;
    work_on& operator=(work_on const&) = delete;
    ~work_on() {
        if (mine_) ::unlink(path_.c_str());
        ::close(handle_);
    }
    bool mine() const { return mine_; }

private:
    fs::path path_;
    int handle_;
    bool mine_ = false;
};

/// Trains the model, or goes on where an earlier run was stopped.
model<float> train(run const& r, settings const& s, corpus const& texts, fs::path const& state, progress& bar,
                   long done, long of_run) {
    trainer work(r.how, texts, s.threads);
    if (is_there(state.string(), r.how, texts)) work.resume(state.string());
    double shown = 0;
    while (!work.finished()) {
        double const loss = work.step();
        shown = shown == 0 ? loss : 0.95 * shown + 0.05 * loss;
        char words[64];
        std::snprintf(words, sizeof words, "%s loss %.3f", r.name().c_str(), shown);
        bar.update(done + of_run * work.done() / r.how.plan.steps, words);
        if (interrupt_guard::asked()) {
            work.save(state.string());
            throw interruption();
        }
    }
    work.save(state.string()); // measured again, or stopped meanwhile, it need not be trained again
    return std::move(work.net());
}

/// Hiding sinks is asked of the three kinds of models, not of every sink variant.
bool is_masked(run const& r) { return r.variant == "dlm" || r.variant == "arm" || r.variant == "block"; }

measurement make(run const& r, settings const& s, corpus const& texts, fs::path const& state, progress& bar, long done,
                 long of_run) {
    if (!r.checkpoint.empty()) return measure(load_model(r.checkpoint, s.threads).net, texts, s, is_masked(r));
    return measure(train(r, s, texts, state, bar, done, of_run * 2 / 3), texts, s, is_masked(r));
}

int main_program(int argc, char** argv) {
    settings s;
    std::string page = "docs/reproduction.md", json = "examples/reproduce/results.json";
    bool only_report = false;
    command_line line(
        "reproduce",
        "Trains tiny models, measures their sinks, and judges the claims of both papers.\n"
        "Stopped at any moment, the same command goes on from there; started once for each core, they share the work.");
    line.option("--seeds", "N", "seeds of the models that the claims rest on", s.seeds, 1, 100);
    line.option("--variant-seeds", "N", "seeds of the sink variants", s.variant_seeds, 0, 100);
    line.option("--more-seeds", "N", "seeds of larger models and of English characters", s.more_seeds, 0, 100);
    line.option("--steps", "N", "training steps of small models; on texts twice as many", s.steps, 1, 1000000);
    line.option("--texts", "N", "texts that each model is measured on", s.texts, 10, 10000);
    line.option("--text", "FILE", "an English text: the one that the committed word models know", s.text);
    line.option("--weights", "FOLDER", "the committed models", s.weights);
    line.option("--threads", "N", "threads; the result does not depend on it", s.threads, 1, 1024);
    line.option("--out", "FOLDER", "where measurements are kept", s.out);
    line.option("--page", "FILE", "the page to write", page);
    line.option("--json", "FILE", "the numbers to write", json);
    line.flag("--report", "train and measure nothing more: report what is there", only_report);
    if (!line.parse(argc, argv)) return 0;

    interrupt_guard const guard;
    std::error_code why;
    fs::create_directories(s.out, why);
    if (why) throw std::runtime_error("the folder " + s.out + " cannot be made: " + why.message());
    auto const runs = plan(s);
    std::vector<kept_measurement> known(runs.size());
    provenance here{"reproduce", commit_here()};
    for (int i = 1; i < argc; ++i) here.command += std::string(" ") + argv[i];
    constexpr long unit = 1000; // of progress, for one model of any size
    long done = 0;
    progress bar("reproducing", unit * static_cast<long>(runs.size()));
    for (bool const wait : {false, true}) { // first what nobody works on, then the rest
        for (std::size_t i = 0; i < runs.size(); ++i) {
            run const& r = runs[i];
            auto& [numbers, by] = known[i];
            if (!numbers.empty()) continue;
            auto const path = [&](char const* what) { return (fs::path(s.out) / (r.name() + what)).string(); };
            std::string const kept = path(".measured.safetensors");
            if (only_report && !fs::exists(kept)) continue;
            corpus const& texts = texts_for(r, s);
            auto const what = identity(r, texts, s);
            known[i] = load(kept, what);
            if (numbers.empty() && !only_report) {
                work_on const claimed(path(".lock"), wait);
                if (!claimed.mine()) continue;
                known[i] = load(kept, what); // it may have been finished meanwhile
                if (numbers.empty()) {
                    numbers = make(r, s, texts, path(".resume.safetensors"), bar, done, unit);
                    by = here;
                    save(kept, what, known[i]);
                    known[i] = load(kept, what); // as everybody else will read it
                }
            }
            if (numbers.empty()) continue;
            char words[96];
            std::snprintf(words, sizeof words, "%s loss %.3f, accuracy %.3f", r.name().c_str(), numbers.at("loss")[0],
                          numbers.at("accuracy")[0]);
            bar.update(done += unit, words);
        }
    }
    results all;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (!known[i].numbers.empty()) all.push_back({runs[i], known[i].numbers, known[i].by});
    }

    origin by{here, {}};
    by.machine = output_of("grep -m1 'model name' /proc/cpuinfo 2>/dev/null | cut -d: -f2 | sed 's/^ *//'");
    auto const claims = judge(all);
    write_json(json, all, claims, by);
    write_page(page, all, claims, by);
    std::printf("%s\n%s\n", json.c_str(), page.c_str());
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    return tiny_dlm::run_program("reproduce", [&] { return main_program(argc, argv); });
}
