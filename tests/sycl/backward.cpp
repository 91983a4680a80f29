// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT

// The kernels that backward/differences.cpp asks for, in one unit: a SYCL header is dear.
#include "../backward/kernels_float.cpp"
#include "../backward/kernels_plain.cpp"
#include "../backward/kernels_weighed.cpp"
