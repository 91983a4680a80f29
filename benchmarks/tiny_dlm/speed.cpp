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

// How long a training step and a denoising take: compare.py runs this beside the same model in PyTorch.
// Prints: name milliseconds, one line each; each is the median of what fits into the seconds given.
namespace {

template <class F>
double median_ms(double seconds, F const& f) {
    f();
    std::vector<double> times;
    auto const start = std::chrono::steady_clock::now();
    for (auto now = start; times.size() < 3 || std::chrono::duration<double>(now - start).count() < seconds;) {
        f();
        auto const then = std::chrono::steady_clock::now();
        times.push_back(std::chrono::duration<double, std::milli>(then - now).count());
        now = then;
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

/// Random tokens: speed does not depend on what they say.
tiny_dlm::text_batch random_texts(tiny_dlm::model_config const& c, int texts) {
    tiny_dlm::text_batch b{texts, c.length, {}, std::vector<basin::index_t>(static_cast<std::size_t>(texts))};
    tiny_dlm::random_numbers const random{{1}};
    for (int i = 0; i < texts * c.length; ++i)
        b.tokens.push_back(4 + static_cast<int>(random.below(static_cast<std::uint32_t>(c.vocabulary - 4), i)));
    return b;
}

void time_training(char const* name, tiny_dlm::model_config const& c, int texts, int threads, double seconds) {
    tiny_dlm::model<float> net(c, threads);
    net.initialise(1);
    tiny_dlm::optimizer adam(net.parameters().size());
    std::vector<float> gradients;
    auto const batch = random_texts(c, texts);
    std::uint64_t step = 0;
    double const ms = median_ms(seconds, [&] {
        net.loss_and_gradients(tiny_dlm::objective(c, batch, 1, step++), gradients);
        adam.move(net.parameters(), gradients, net.tensors(), {});
    });
    std::printf("train_%s %.4f\n", name, ms);
}

void time_sampling(char const* name, tiny_dlm::model_config const& c, int texts, int threads, double seconds) {
    tiny_dlm::model<float> net(c, threads);
    net.initialise(1);
    for (int with = 0; with < 3; ++with) { // plain; statistics; statistics, detection and tracking
        double const ms = median_ms(seconds, [&] {
            std::vector<int> tokens(static_cast<std::size_t>(texts * c.length), tiny_dlm::tokenizer::mask);
            std::vector<basin::tracker> trackers(static_cast<std::size_t>(texts)); // by the first text of a group
            std::vector<float> kept(static_cast<std::size_t>(texts * c.layers * c.heads * c.length));
            basin::index_t step = 0;
            tiny_dlm::observer<float> watch;
            auto const look = [&](tiny_dlm::layer_report<float> const& r) {
                float* const target =
                    kept.data() + static_cast<std::ptrdiff_t>(r.first_text * c.layers + r.layer) * c.heads * c.length;
                std::copy(&r.received(0, 0, 0), &r.received(0, 0, 0) + c.heads * c.length, target);
                if (with < 2) return;
                auto const found = basin::detect(basin::simd_backend{}, basin::evidence{r.received}.at(step, r.layer),
                                                 basin::exceeds_others{});
                trackers[static_cast<std::size_t>(r.first_text)].update(step, r.layer, found);
            };
            if (with > 0) watch.look = look;
            tiny_dlm::denoise(
                tokens, texts, c.vocabulary, {}, [&](std::vector<int> const& now) { return net.logits(now, watch); },
                [&](tiny_dlm::sampling_step const&) { ++step; });
        });
        std::printf("sample_%s%s %.4f\n", name, with == 0 ? "" : with == 1 ? "_statistics" : "_tracking", ms);
    }
}

} // namespace

int main(int argc, char** argv) {
    double const seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
    int const threads = argc > 2 ? std::atoi(argv[2]) : 2;
    tiny_dlm::model_config tasks;
    tasks.vocabulary = 37;
    tiny_dlm::model_config english;
    english.layers = 5;
    english.width = 96;
    english.hidden = 288;
    english.length = 128;
    english.vocabulary = 1004;
    english.rope_base = 10000;
    time_training("tasks", tasks, 32, threads, seconds);
    time_training("english", english, 8, threads, seconds);
    time_sampling("tasks", tasks, 8, threads, seconds);
    time_sampling("english", english, 4, threads, seconds);
}
