// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "attend_backward.hpp"

template void tiny_dlm::attention_layer<float>::backward(attention_call<float> const&, float const*, float*, float*);
