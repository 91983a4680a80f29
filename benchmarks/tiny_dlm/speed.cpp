// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "tiny_dlm/sampler.hpp"
#include "tiny_dlm/trainer.hpp"

#include <basin/backend/simd.hpp>
#include <basin/detect.hpp>
#include <basin/track.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

// How long a training step and a denoising take: compare.py runs this beside the same model in PyTorch.
// Prints: name milliseconds, one line each. A name alone is for profilers.
namespace {

/// Something to be timed, by a name.
struct contestant {
    std::string name;
    std::function<void()> work;
    std::vector<double> milliseconds{};
};

/// All of them in turns, once each, until each has had its seconds; prints the median of each.
void time(std::vector<contestant> list, std::string_view only, double seconds) {
    std::erase_if(list, [&](contestant const& c) { return !only.empty() && c.name != only; });
    for (auto& c : list) c.work();
    using clock = std::chrono::steady_clock;
    double const all = seconds * static_cast<double>(list.size());
    for (auto const start = clock::now(); std::chrono::duration<double>(clock::now() - start).count() < all;) {
        for (auto& c : list) {
            auto const begin = clock::now();
            c.work();
            c.milliseconds.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
        }
    }
    for (auto& c : list) {
        auto const middle = c.milliseconds.begin() + static_cast<std::ptrdiff_t>(c.milliseconds.size() / 2);
        std::nth_element(c.milliseconds.begin(), middle, c.milliseconds.end());
        std::printf("%s %.4f\n", c.name.c_str(), *middle);
    }
}

/// Random tokens: speed does not depend on what they say.
tiny_dlm::text_batch random_texts(tiny_dlm::model_config const& c, int texts) {
    tiny_dlm::text_batch b{texts, c.length, {}, std::vector<basin::index_t>(static_cast<std::size_t>(texts))};
    tiny_dlm::random_numbers const random{{1}};
    for (int i = 0; i < texts * c.length; ++i)
        b.tokens.push_back(4 + static_cast<int>(random.below(static_cast<std::uint32_t>(c.vocabulary - 4), i)));
    return b;
}

void time_training(char const* name, tiny_dlm::model_config const& c, int texts, int threads, std::string_view only,
                   double seconds) {
    tiny_dlm::model<float> net(c, threads);
    net.initialise(1);
    tiny_dlm::optimizer adam(net.parameters().size());
    std::vector<float> gradients;
    auto const batch = random_texts(c, texts);
    std::uint64_t step = 0;
    auto const work = [&] {
        net.loss_and_gradients(tiny_dlm::objective(c, batch, 1, step++), gradients);
        adam.move(net.parameters(), gradients, net.tensors(), {}, net.threads());
    };
    time({{std::string("train_") + name, work}}, only, seconds);
}

enum class watched { nothing, statistics, sinks };

/// Denoises texts that are masked throughout. Statistics are all that the model has; the sinks of every text, layer and head
/// are found by the library's rule and followed from step to step.
void sample(tiny_dlm::model<float> const& net, int texts, watched what, basin::buffer<float, 3>& logits) {
    tiny_dlm::model_config const& c = net.config();
    std::vector<int> tokens(static_cast<std::size_t>(texts * c.length), tiny_dlm::tokenizer::mask);
    std::vector<basin::tracker> trackers(static_cast<std::size_t>(texts)); // by the first text of a group
    std::vector<float> kept(static_cast<std::size_t>(texts * c.layers * c.heads * c.length));
    basin::index_t step = 0;
    tiny_dlm::observer<float> watch;
    auto const look = [&](tiny_dlm::layer_report<float> const& r) {
        float* const target =
            kept.data() + static_cast<std::ptrdiff_t>(r.first_text * c.layers + r.layer) * c.heads * c.length;
        std::copy(&r.received(0, 0, 0), &r.received(0, 0, 0) + c.heads * c.length, target);
        if (what != watched::sinks) return;
        auto const found = basin::detect(basin::simd_backend{}, basin::evidence{r.received}.at(step, r.layer),
                                         basin::exceeds_others{});
        trackers[static_cast<std::size_t>(r.first_text)].update(step, r.layer, found);
    };
    if (what != watched::nothing) watch.look = look;
    tiny_dlm::denoise(
        tokens, texts, c.vocabulary, {},
        [&](std::vector<int> const& now) -> auto const& {
            net.masked_logits(now, c.length, logits, watch);
            return logits;
        },
        [&](tiny_dlm::sampling_step const&) { ++step; }, net.threads());
}

void time_sampling(char const* name, tiny_dlm::model_config const& c, int texts, int threads, std::string_view only,
                   double seconds) {
    tiny_dlm::model<float> net(c, threads);
    net.initialise(1);
    basin::buffer<float, 3> logits;
    auto const all = [&](char const* extra, watched what) {
        return contestant{std::string("sample_") + name + extra, [&, what] { sample(net, texts, what, logits); }};
    };
    time({all("", watched::nothing), all("_statistics", watched::statistics), all("_tracking", watched::sinks)}, only,
         seconds);
}

} // namespace

/// [SECONDS [THREADS [NAME]]]
int main(int argc, char** argv) {
    double const seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
    int const threads = argc > 2 ? std::atoi(argv[2]) : 2;
    std::string_view const only = argc > 3 ? argv[3] : "";
    tiny_dlm::model_config tasks;
    tasks.vocabulary = 37;
    tiny_dlm::model_config english;
    english.layers = 5;
    english.width = 96;
    english.hidden = 288;
    english.length = 128;
    english.vocabulary = 1004;
    english.rope_base = 10000;
    time_training("tasks", tasks, 32, threads, only, seconds);
    time_training("english", english, 8, threads, only, seconds);
    time_sampling("tasks", tasks, 8, threads, only, seconds);
    time_sampling("english", english, 4, threads, only, seconds);
}
