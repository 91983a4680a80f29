// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// From sinks back to policies, with controls and paired experiments.
#include <basin/intervene/bootstrap.hpp>
#include <basin/intervene/choose.hpp>
#include <basin/intervene/controls.hpp>
#include <basin/intervene/experiment.hpp>
#include <basin/intervene/lag.hpp>
#include <basin/intervene/score_path.hpp>
#include <basin/intervene/value_path.hpp>
