// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// Statistics come out of the same pass as the result: how much attention each key received, and how spread each query's
// attention is. No token-by-token matrix is ever stored.
#include <basin/basin.hpp>

#include <cstdio>

int main() {
    int const heads = 2, tokens = 6, channels = 4;
    basin::buffer<float, 4> q({1, heads, tokens, channels}), k = q, v = q, out = q;
    q.fill(1);
    for (int c = 0; c < channels; ++c) k(0, 1, 3, c) = 1.5F; // in head 1, key 3 draws attention; in head 0 none does

    basin::buffer<float, 3> mass({1, heads, tokens}), spread({1, heads, tokens});
    basin::attention(basin::reference_backend{}, q, k, v, out, basin::full{}, basin::received{mass},
                     basin::entropy{spread});

    for (int head = 0; head < heads; ++head) {
        std::printf("head %d received", head);
        for (int key = 0; key < tokens; ++key) std::printf(" %.2f", static_cast<double>(mass(0, head, key)));
        std::printf("   entropy of query 0: %.2f\n", static_cast<double>(spread(0, head, 0)));
    }
}

// A head gives 6 in all, one per query. Head 0 spreads evenly: log 6 = 1.79 nats.
//
// prints:
// head 0 received 1.00 1.00 1.00 1.00 1.00 1.00   entropy of query 0: 1.79
// head 1 received 0.24 0.24 0.24 4.80 0.24 0.24   entropy of query 0: 0.82
