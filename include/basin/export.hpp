// SPDX-FileCopyrightText: 2026 basin contributors
// SPDX-License-Identifier: MIT
#pragma once

// Results as files: CSV, JSON lines, NPY; each appears whole or not at all.
#include <basin/export/csv.hpp>
#include <basin/export/jsonl.hpp>
#include <basin/export/npy.hpp>
#include <basin/export/tables.hpp>
