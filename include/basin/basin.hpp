// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Everything that needs no dependency. eigen_backend, simd_backend and testing/ have headers of their own.
#include <basin/attention.hpp>
#include <basin/backend/reference.hpp>
#include <basin/policy/alibi.hpp>
#include <basin/policy/any_mask.hpp>
#include <basin/policy/bias.hpp>
#include <basin/policy/block_causal.hpp>
#include <basin/policy/block_diffusion.hpp>
#include <basin/policy/blocks.hpp>
#include <basin/policy/causal.hpp>
#include <basin/policy/compose.hpp>
#include <basin/policy/full.hpp>
#include <basin/policy/key_bits.hpp>
#include <basin/policy/kv_sink.hpp>
#include <basin/policy/lambda.hpp>
#include <basin/policy/prefix.hpp>
#include <basin/policy/sink_logit.hpp>
#include <basin/policy/sink_masked.hpp>
#include <basin/policy/sink_token.hpp>
#include <basin/policy/softcap.hpp>
#include <basin/policy/temperature.hpp>
#include <basin/policy/window.hpp>
#include <basin/statistic/entropy.hpp>
#include <basin/statistic/escaped.hpp>
#include <basin/statistic/favourite.hpp>
#include <basin/statistic/lse.hpp>
#include <basin/statistic/peak.hpp>
#include <basin/statistic/received.hpp>
#include <basin/statistic/received_value.hpp>
#include <basin/statistic/seen.hpp>
#include <basin/statistic/votes.hpp>
#include <basin/version.hpp>
