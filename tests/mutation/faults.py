# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
# Faults that tests must notice: (file under include/basin, old text, new text, test programs to try, in order).
# The old text must occur in the file; its first occurrence is replaced.

MASKS = ("laws", "policy")
SCORES = ("laws", "policy")
SINKS = ("laws", "policy", "contract")
STATISTICS = ("laws", "statistic")
LAYOUT = ("laws", "core", "contract")
CHECKS = ("contract", "core", "attention")
REFERENCE = ("laws", "contract", "policy")
EIGEN = ("laws-eigen", "contract-eigen")
SIMD = ("laws-simd", "contract-simd")

FAULTS = [
    # masks
    ("policy/causal.hpp", "return s.key <= s.query;", "return s.key < s.query;", MASKS),
    ("policy/causal.hpp", "t.key_end - 1 <= t.query_begin", "t.key_end - 1 <= t.query_end", MASKS),
    ("policy/causal.hpp", "t.key_begin > t.query_end - 1", "t.key_begin >= t.query_end - 1", MASKS),
    ("policy/window.hpp", "distance >= Lane(-before)", "distance > Lane(-before)", MASKS),
    ("policy/window.hpp", "distance <= Lane(after)", "distance < Lane(after)", MASKS),
    ("policy/window.hpp", "highest < -before || lowest > after", "highest <= -before || lowest > after", MASKS),
    ("policy/window.hpp", "lowest >= -before && highest <= after", "lowest >= -before", MASKS),
    ("policy/window.hpp", "index_t const lowest = t.key_begin - (t.query_end - 1)", "index_t const lowest = t.key_begin - t.query_begin", MASKS),
    ("policy/window.hpp", "if (before < 0 || after < 0)", "if (before < 0)", MASKS + ("contract",)),
    ("policy/prefix.hpp", "return s.key < Lane(length);", "return s.key <= Lane(length);", MASKS),
    ("policy/prefix.hpp", "t.key_end <= length", "t.key_begin <= length", MASKS),
    ("policy/prefix.hpp", "return key >= length; }", "return key + 1 >= length; }", ("laws", "policy", "laws-simd")),
    ("policy/blocks.hpp", "s.key < begin + Lane(size)", "s.key <= begin + Lane(size)", MASKS),
    ("policy/blocks.hpp", "last_key < first_query || first_key > last_query", "last_key < first_query || first_key >= last_query", MASKS),
    ("policy/blocks.hpp", "first_query == last_query && first_key == last_key", "first_query == first_key && first_key == last_key", MASKS),
    ("policy/blocks.hpp", "if (size < 1)", "if (size < 0)", ("policy", "contract")),
    ("policy/block_causal.hpp", "- s.query % Lane(size) + Lane(size)", "- s.query % Lane(size)", MASKS),
    ("policy/block_causal.hpp", "(t.key_end - 1) / size <= t.query_begin / size", "(t.key_end - 1) / size <= (t.query_end - 1) / size", MASKS),
    ("policy/block_diffusion.hpp", "s.key < noisy_begin + half", "s.key <= noisy_begin + half", MASKS),
    ("policy/block_diffusion.hpp", "if (clean_queries && !clean_keys) return coverage::none;", "if (!clean_keys) return coverage::none;", MASKS),
    ("policy/block_diffusion.hpp", "/ size < quarter.query_begin / size", "/ size <= quarter.query_begin / size", MASKS),
    ("policy/key_bits.hpp", "math::first_of(s.query)), s.key)", "math::first_of(s.query) / 2), s.key)", ("policy",)),
    ("policy/key_bits.hpp", "return all ? coverage::all : coverage::none;", "return coverage::all;", ("policy", "testing")),
    ("policy/key_bits.hpp", "extents_[axis] == 1 ? std::ptrdiff_t{0} : words_.stride(axis)", "words_.stride(axis)", ("policy",)),
    ("policy/any_mask.hpp", "{ return facet::cover(*static_cast<B const*>(p), t); }", "{ return complement(facet::cover(*static_cast<B const*>(p), t)); }", ("policy", "testing")),
    ("policy/any_mask.hpp", "return facet::hides(*static_cast<B const*>(p), s, key);", "return !facet::hides(*static_cast<B const*>(p), s, key);", ("policy", "testing")),
    # composition and coverage
    ("core/site.hpp", "a == coverage::none || b == coverage::none ? coverage::none", "a == coverage::none && b == coverage::none ? coverage::none", MASKS),
    ("core/site.hpp", "return a == coverage::none ? coverage::all : a == coverage::all ? coverage::none", "return a == coverage::none ? coverage::all : a == coverage::all ? coverage::all", ("laws", "policy", "testing")),
    ("core/site.hpp", "join(coverage a, coverage b) { return complement(meet(complement(a), complement(b))); }", "join(coverage a, coverage b) { return meet(a, b); }", MASKS),
    ("policy/compose.hpp", "return facet::visible(a, s) && facet::visible(b, s);", "return facet::visible(a, s);", MASKS),
    ("policy/compose.hpp", "return facet::score(b, facet::score(a, x, s), s);", "return facet::score(a, facet::score(b, x, s), s);", MASKS),
    ("policy/compose.hpp", "return facet::weight(b, facet::weight(a, x, s), s);", "return facet::weight(a, x, s);", ("policy", "testing")),
    ("policy/compose.hpp", "return facet::value(b, facet::value(a, x, s), s);", "return facet::value(b, x, s);", ("policy", "testing")),
    ("policy/compose.hpp", "        facet::visit_sinks(b, s, visitor);", "", SINKS),
    ("policy/compose.hpp", "return meet(facet::cover(a, t), facet::cover(b, t));", "return join(facet::cover(a, t), facet::cover(b, t));", MASKS),
    ("policy/compose.hpp", "return facet::hides(a, s, key) || facet::hides(b, s, key);", "return !facet::hides(a, s, key) || facet::hides(b, s, key);", ("laws", "policy", "testing")),
    ("policy/compose.hpp", "return facet::hides(a, s, key) && facet::hides(b, s, key);", "return facet::hides(a, s, key) || facet::hides(b, s, key);", ("laws", "policy", "testing")),
    ("policy/compose.hpp", "return !facet::visible(a, s);", "return facet::visible(a, s);", MASKS),
    ("policy/compose.hpp", "facet::score(p, x, s), x);", "x, facet::score(p, x, s));", MASKS),
    # sinks
    ("policy/sink_token.hpp", "s.key == s.query || (to_sink && mutual)", "s.key == s.query || to_sink", SINKS),
    ("policy/sink_token.hpp", "(facet::visible(base, s) || to_sink)", "facet::visible(base, s)", SINKS),
    ("policy/sink_token.hpp", "(!from_sink && (", "((", SINKS),
    ("policy/sink_token.hpp", "n += !again &&", "n +=", SINKS),
    ("policy/sink_token.hpp", "if (sink_queries < t.query_end - t.query_begin) return coverage::some;", "", SINKS),
    ("policy/sink_token.hpp", "below == coverage::all || sink_keys == 0 ? below", "below != coverage::some || sink_keys == 0 ? below", SINKS),
    ("policy/sink_token.hpp", "return facet::hides(base, s, key) && !tokens.contains(key);", "return facet::hides(base, s, key);", ("laws", "policy", "testing", "laws-simd")),
    ("policy/sink_masked.hpp", "s.query == s.key && who == seen_by::itself", "s.query == s.key", ("policy", "testing")),
    ("policy/sink_masked.hpp", "&& !own ? coverage::none", "? coverage::none", ("policy", "testing")),
    ("policy/sink_masked.hpp", "if (hidden == 0) return coverage::all;", "if (hidden <= 1) return coverage::all;", ("policy", "testing")),
    ("policy/sink_masked.hpp", "return who == seen_by::nobody && keys.contains", "return keys.contains", ("policy", "testing")),
    ("core/key_set.hpp", "heads == 1 ? 0 : h;", "0;", ("core", "policy")),
    ("core/key_set.hpp", ">> (63U - (static_cast<unsigned>(end - 1) & 63U))", ">> (62U - (static_cast<unsigned>(end - 1) & 63U))", ("core", "policy")),
    ("policy/sink_logit.hpp", "logits[s.head * step]", "logits[0]", SINKS),
    ("core/sinks.hpp", "add(dot * scale_, value, value_stride);", "add(dot, value, value_stride);", SINKS),
    ("core/sinks.hpp", "if (logit == -math::infinity<A>) return;", "", SINKS + ("testing",)),
    ("core/sinks.hpp", "value_[c] * (A(1) - share) + share * x", "value_[c] + share * x", SINKS),
    ("policy/kv_sink.hpp", "keys_.extent(0) == 1 ? 0 : s.key_value_head", "0", SINKS),
    # scores
    ("policy/softcap.hpp", "x * X(1 / cap)", "x", SCORES),
    ("policy/softcap.hpp", "math::select(x == X(-math::infinity<double>), x, ", "math::select(x == X(7e30), x, ", SCORES),
    ("policy/temperature.hpp", "x * X(1 / value)", "x * X(value)", SCORES),
    ("policy/alibi.hpp", "math::abs(s.query - s.key)", "(s.query - s.key)", ("policy",)),
    ("policy/alibi.hpp", "slopes[s.head]", "slopes[0]", ("policy",)),
    ("policy/bias.hpp", "table_.extent(i) == 1 ? 0 : table_.stride(i)", "table_.stride(i)", ("policy",)),
    # statistics
    ("statistic/peak.hpp", "return math::max(a, b);", "return a + b;", STATISTICS),
    ("statistic/seen.hpp", "return X(1);", "return X(2);", STATISTICS),
    ("statistic/votes.hpp", "X(1), X(0)", "c.p, X(0)", STATISTICS),
    ("statistic/entropy.hpp", "X(c.row.lse) - c.score", "c.score", STATISTICS),
    ("statistic/received_value.hpp", "c.p * c.key_weight", "c.p", STATISTICS),
    ("statistic/escaped.hpp", "return row.escaped;", "return 1 - row.escaped;", STATISTICS),
    ("statistic/favourite.hpp", "if (key >= 0 && !(row.favourite_p > p)) return;", "if (key >= 0) return;", STATISTICS),
    ("statistic/lse.hpp", "math::exp(a - high) + math::exp(b - high)", "math::exp(a - high)", STATISTICS),
    ("core/statistic.hpp", "ids.extent(0) == 1 ? 0 : entry, query", "0, query", STATISTICS),
    ("detail/checks.hpp", "if (s.adds) return;", "", STATISTICS),
    ("detail/checks.hpp", "fill(s.output, s.identity());", "", STATISTICS),
    ("detail/checks.hpp", "fill(s.keys, -1);", "fill(s.keys, 0);", STATISTICS),
    # layout and options
    ("core/layout.hpp", "return p.first() + (i - begin);", "return p.first() + i;", LAYOUT),
    ("core/layout.hpp", "p.list().extent(0) == 1 ? 0 : entry, i", "0, i", LAYOUT),
    ("core/layout.hpp", "0, key_lengths.given() ? key_lengths[i] : keys", "0, keys", LAYOUT),
    ("core/layout.hpp", "return {0, i, query_offsets[i]", "return {0, 0, query_offsets[i]", LAYOUT),
    ("core/layout.hpp", "list[i] < list[i - 1]", "list[i] < 0", LAYOUT),
    ("core/layout.hpp", "list[i] < 0 || list[i] > tokens", "list[i] < 0", LAYOUT),
    ("core/lift.hpp", "{{n[0], n[2], n[1], n[3]}}, {{s[0], s[2], s[1], s[3]}}", "{{n[0], n[2], n[1], n[3]}}, {{s[0], s[1], s[2], s[3]}}", ("core", "attention", "contract")),
    # checks
    ("detail/checks.hpp", "if (x.size() == 0) return; // row-major", "// row-major", ("laws", "contract")),
    ("detail/checks.hpp", "if (out.data() == k.data())", "if (out.data() == nullptr)", CHECKS),
    ("detail/checks.hpp", 'check_extent("v", "token"', 'if (false) check_extent("v", "token"', CHECKS),
    ("detail/checks.hpp", "q.extent(1) % k.extent(1) != 0", "false", CHECKS),
    ("detail/checks.hpp", "x.extent(i) > 1 && x.stride(i) == 0", "x.extent(i) > 1 && x.stride(i) == 99", CHECKS),
    ("detail/checks.hpp", "zero(i, where.query_lengths[i], where.queries);", "zero(i, where.query_lengths[i] + 1, where.queries);", ("laws", "contract", "core")),
    # the reference backend
    ("backend/reference.hpp", "A high = sinks.lse();", "A high = -math::infinity<A>;", REFERENCE),
    ("backend/reference.hpp", "scores(key) > high || scores(key) != scores(key)", "scores(key) > high", REFERENCE),
    ("backend/reference.hpp", "high != high || high == math::infinity<A>", "high != high", REFERENCE),
    ("backend/reference.hpp", "if (scores(key) == -math::infinity<A>) continue; // hidden", "// hidden", REFERENCE),
    ("backend/reference.hpp", "scores(key) > scores(row.favourite)", "scores(key) >= scores(row.favourite)", REFERENCE + ("statistic",)),
    ("backend/reference.hpp", "row.escaped * value(c)", "A(0)", REFERENCE),
    ("backend/concept.hpp", "return head / (q.extent(1) / k.extent(1));", "return head % k.extent(1);", REFERENCE),
    # the eigen backend
    ("backend/eigen/head.hpp", "maxCoeff<Eigen::PropagateNaN>()", "maxCoeff()", EIGEN),
    ("backend/eigen/head.hpp", "(s.array() == hidden).select(A(0), (s.array() - now).exp())", "(s.array() - now).exp()", EIGEN),
    ("backend/eigen/head.hpp", "if (v.allFinite()) {", "if (true) {", EIGEN),
    ("backend/eigen/head.hpp", "o_.col(i) *= shrink;", "", EIGEN),
    ("backend/eigen/head.hpp", "t.query_end = math::max(t.query_end, position_[i] + 1);", "", EIGEN),
    ("backend/eigen/head.hpp", "s_.resize(height, width);", "s_.resize(height + 1, width);", EIGEN),
    # the simd backend
    ("backend/simd/score_tile.hpp", "for (int i = 1; i < r; ++i) high = high | (a[i] > v(raise_above<T>));", "", SIMD),
    ("backend/simd/score_tile.hpp", "hide_tail<A, V, T>(c, keys);", "hide_tail<A, V, T>(c, keys + 1);", SIMD),
    ("backend/simd/value_tile.hpp", "if (e == T(0)) continue;", "", SIMD),
    ("backend/simd/query_block.hpp", "scale(sum, table::lanes);", "", SIMD),
    ("backend/simd/query_block.hpp", "if (block.marks) block.marks[k * block.mark_stride + row] = to;", "", SIMD),
    ("backend/simd/finish_tile.hpp", "if (top > hidden_score<T>) block.reference[row]", "block.reference[row]", SIMD),
    ("backend/simd/pack.hpp", "c + u < depth ? load(row[(c + u) * source.channel_stride]) : T(0)", "load(row[(c + u < depth ? c + u : depth - 1) * source.channel_stride])", SIMD),
]
