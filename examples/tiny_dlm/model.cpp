// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#include "model_body.hpp"

template class tiny_dlm::model<float>;
