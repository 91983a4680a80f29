// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Sinks as objects that live through denoising steps.
#include <basin/track/join.hpp>
#include <basin/track/life.hpp>
#include <basin/track/log.hpp>
#include <basin/track/matching.hpp>
#include <basin/track/tracker.hpp>
