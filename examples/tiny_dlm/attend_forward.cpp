// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "attend_forward.hpp"

template void tiny_dlm::attention_layer<float>::forward(attention_call<float> const&, observer<float> const&, int, int);
