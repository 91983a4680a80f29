// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// The laws of basin, for types of your own. Each check returns a report; no test framework is needed.
//   check_policy(p)          full is its identity, cover is sound, lanes equal scalars, rows sum to 1 minus escaped
//   check_gradients(p)       what score, weight and value pass back are their slopes by finite differences
//   check_score_slope(p)     a score_slope of its own is what dual numbers find
//   check_mask(m)            the laws of & | ~
//   check_statistic(make)    order and split do not matter, observe gives what the pass gives
//   check_backend(b)         against reference_backend
//   checked(b)               a backend that verifies cover() before it runs
//   self_test()              infinities and NaN work in this build
#include <basin/testing/backend_laws.hpp>
#include <basin/testing/checked.hpp>
#include <basin/testing/gradient_laws.hpp>
#include <basin/testing/policy_laws.hpp>
#include <basin/testing/self_test.hpp>
#include <basin/testing/statistic_laws.hpp>
