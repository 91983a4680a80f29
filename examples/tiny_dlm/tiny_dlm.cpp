// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "commands.hpp"
#include "options.hpp"

#include <cstring>

// tiny_dlm train | evaluate | generate: tiny diffusion language models, their autoregressive twins, and their sinks.
int main(int argc, char** argv) {
    return tiny_dlm::run_program("tiny_dlm", [&] {
        char const* const command = argc > 1 ? argv[1] : "--help";
        if (std::strcmp(command, "train") == 0) return tiny_dlm::train_command(argc - 1, argv + 1);
        if (std::strcmp(command, "evaluate") == 0) return tiny_dlm::evaluate_command(argc - 1, argv + 1);
        if (std::strcmp(command, "generate") == 0) return tiny_dlm::generate_command(argc - 1, argv + 1);
        if (std::strcmp(command, "--help") != 0)
            throw tiny_dlm::usage_error(std::string("tiny_dlm: there is no command \"") + command +
                                        "\"; tiny_dlm --help lists them");
        std::puts("tiny_dlm train      trains a model\n"
                  "tiny_dlm evaluate   loss and accuracy of a model\n"
                  "tiny_dlm generate   writes a text with a model\n"
                  "Each has --help.");
        return 0;
    });
}
