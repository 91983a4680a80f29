// expect: basin: this is not a policy: it needs visible(site), score(x, site), sink_logit(head_site), weight(p, site) or value(x, value_site), const and public; for a lambda write mask_if(...) or score_with(...)
// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include <basin/basin.hpp>

basin::buffer<float, 2> q(3, 4), k(5, 4), v(5, 4), out(3, 4);

struct nothing {};
void run() { basin::attention(basin::reference_backend{}, q, k, v, out, nothing{}); }
