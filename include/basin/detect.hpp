// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Rules and the detector: from statistics to sinks.
#include <basin/detect/combine.hpp>
#include <basin/detect/detect.hpp>
#include <basin/detect/exceeds_others.hpp>
#include <basin/detect/explain.hpp>
#include <basin/detect/first_token.hpp>
#include <basin/detect/low_norm.hpp>
#include <basin/detect/mass_share.hpp>
#include <basin/detect/massive.hpp>
#include <basin/detect/outlier.hpp>
#include <basin/detect/soft.hpp>
#include <basin/detect/top_keys.hpp>
