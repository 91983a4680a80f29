// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Measures of attention, values and sinks.
#include <basin/measure/absorption.hpp>
#include <basin/measure/activations.hpp>
#include <basin/measure/contribution.hpp>
#include <basin/measure/kinds.hpp>
#include <basin/measure/motion.hpp>
#include <basin/measure/over_mixing.hpp>
#include <basin/measure/persistence.hpp>
#include <basin/measure/sets.hpp>
#include <basin/measure/sink_rate.hpp>
#include <basin/measure/soft_weights.hpp>
#include <basin/measure/summary.hpp>
#include <basin/measure/sweep.hpp>
#include <basin/measure/value_norms.hpp>
