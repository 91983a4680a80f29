# SPDX-FileCopyrightText: 2026 basin contributors
# SPDX-License-Identifier: MIT
"""Who competes: each contender is made for one shape and one number of threads, and then only called.

Every rival runs in the strongest form we know: outputs allocated beforehand where the interface allows it, inputs in
the layout it likes best, no conversions inside the measured call.
"""
import ctypes
import time

import numpy as np
import onnx
import onnxruntime
import openvino
import torch
from onnx import TensorProto, helper


class Basin:
    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        self.library.basin_peak.restype = ctypes.c_double
        for name in ("basin_flags", "basin_compiler"):
            getattr(self.library, name).restype = ctypes.c_char_p
        pointer = ctypes.c_void_p
        self.library.basin_full.argtypes = [pointer] * 5 + [ctypes.c_int] * 4
        self.library.basin_forward.argtypes = [pointer] * 5 + [ctypes.c_int] * 4
        self.library.basin_backward.argtypes = [pointer] * 9 + [ctypes.c_int] * 4

    def peak(self, threads):
        return self.library.basin_peak(threads)

    def contender(self, data, threads, received):
        q, k, v = data
        _, heads, n, d = q.shape
        out = np.empty_like(q)
        mass = np.empty((heads, n), np.float32) if received else None
        arguments = [a.ctypes.data for a in (q, k, v, out)] + [mass.ctypes.data if received else None]
        run = self.library.basin_full

        def call():
            if run(*arguments, heads, n, d, threads) != 0:
                raise RuntimeError("basin refused the call")
            return out, mass

        return call

    def training(self, data, d_out, threads):
        """The forward pass with its lse, and the backward pass after it."""
        q, k, v = data
        _, heads, n, d = q.shape
        out, lse = np.empty_like(q), np.empty((heads, n), np.float32)
        gradients = [np.empty_like(q) for _ in range(3)]
        read = [x.ctypes.data for x in (q, k, v, out, lse)]
        rest = [x.ctypes.data for x in (d_out, *gradients)]

        def forward():
            if self.library.basin_forward(*read, heads, n, d, threads) != 0:
                raise RuntimeError("basin refused the call")

        def backward():
            if self.library.basin_backward(*read, *rest, heads, n, d, threads) != 0:
                raise RuntimeError("basin refused the call")
            return gradients

        backward.arrays = data, d_out, out, lse # only their addresses are in the calls
        return forward, backward


def sdpa(data, mask):
    q, k, v = (torch.from_numpy(x) for x in data)
    # Additive, float, one for all heads: the form that PyTorch need not convert.
    bias = torch.zeros(q.shape[2], k.shape[2]) if mask else None
    attention = torch.nn.functional.scaled_dot_product_attention
    return lambda: (attention(q, k, v, attn_mask=bias).numpy(), None)


def eager(data):
    """What someone runs today who wants to know how much attention each key receives."""
    q, k, v = (torch.from_numpy(x) for x in data)
    scale = q.shape[-1] ** -0.5

    def call():
        p = torch.softmax(torch.matmul(q * scale, k.transpose(-2, -1)), dim=-1)
        return torch.matmul(p, v).numpy(), p.sum(-2)[0].numpy()

    return call


def sdpa_training(data, d_out):
    """PyTorch's fused kernels themselves, without the little that autograd adds."""
    q, k, v = (torch.from_numpy(x) for x in data)
    d = torch.from_numpy(d_out)
    kept = {}

    def forward():
        kept["out"], kept["lse"] = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)

    def backward():
        return [x.numpy() for x in torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            d, q, k, v, kept["out"], kept["lse"], 0.0, False)]

    return forward, backward


def eager_training(data, d_out):
    """Matrix products and a softmax, differentiated by autograd: what a policy of one's own takes there."""
    q, k, v = (torch.from_numpy(x).requires_grad_() for x in data)
    d = torch.from_numpy(d_out)
    scale = q.shape[-1] ** -0.5
    kept = {}

    def forward():
        kept["out"] = torch.matmul(torch.softmax(torch.matmul(q * scale, k.transpose(-2, -1)), dim=-1), v)

    def backward():
        return [x.numpy() for x in torch.autograd.grad(kept["out"], (q, k, v), d, retain_graph=True)]

    return forward, backward


def onnx_runtime(data, threads):
    """The fastest of three forms of the fused operator, chosen by trial."""
    q, k, v = data
    _, heads, n, d = q.shape
    flat, split = [1, n, heads * d], [1, heads, n, d]

    def flattened(x):
        return np.ascontiguousarray(x.transpose(0, 2, 1, 3).reshape(flat))

    def session(node, shapes, domain, version):
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
        graph = helper.make_graph([node], "attention", infos[:3], infos[3:])
        opsets = [helper.make_opsetid("", 23 if not domain else 17)]
        if domain:
            opsets.append(helper.make_opsetid(domain, version))
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Its threads may spin while it works, but not while others do.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    def form(name):
        if name == "Attention":
            node = helper.make_node("Attention", ["q", "k", "v"], ["out"])
            s = session(node, {"q": split, "k": split, "v": split, "out": split}, "", 23)
            inputs, shape = {"q": q, "k": k, "v": v}, split
        else:
            node = helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["out"], domain="com.microsoft",
                                    num_heads=heads)
            kv = split if name == "MultiHeadAttention, keys by head" else flat
            s = session(node, {"q": flat, "k": kv, "v": kv, "out": flat}, "com.microsoft", 1)
            inputs = {"q": flattened(q), "k": k if kv is split else flattened(k), "v": v if kv is split else flattened(v)}
            shape = flat
        out = np.empty(shape, np.float32)
        binding = s.io_binding()
        for key, value in inputs.items():
            binding.bind_cpu_input(key, value)
        binding.bind_output("out", "cpu", 0, np.float32, shape, out.ctypes.data)

        def call():
            s.run_with_iobinding(binding)
            return out, inputs # the inputs must outlive the binding

        def result():
            call()
            return out if shape is split else out.reshape(1, n, heads, d).transpose(0, 2, 1, 3)

        return call, result

    best = None
    for name in ("MultiHeadAttention", "MultiHeadAttention, keys by head", "Attention"):
        try:
            call, result = form(name)
            call()
            times = []
            for _ in range(3):
                begin = time.perf_counter()
                call()
                times.append(time.perf_counter() - begin)
        except Exception as problem: # an older version may lack a form
            print(f"ONNX Runtime: no {name}: {problem}")
            continue
        if best is None or min(times) < best[0]:
            best = min(times), name, call, result
    _, name, call, result = best
    call.form = name
    call.result = result
    return call


def open_vino(data, threads):
    from openvino import opset13
    q, k, v = data
    inputs = [opset13.parameter(list(x.shape), np.float32, name=name) for x, name in zip(data, "qkv")]
    model = openvino.Model([opset13.result(opset13.scaled_dot_product_attention(*inputs))], inputs, "attention")
    compiled = openvino.Core().compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}) # pinning would pin the others, too
    request = compiled.create_infer_request()
    for i, x in enumerate((q, k, v)):
        request.set_input_tensor(i, openvino.Tensor(x, shared_memory=True))
    out = np.empty_like(q)
    request.set_output_tensor(openvino.Tensor(out, shared_memory=True))

    def call():
        request.infer()
        return out, compiled

    return call


def output_of(call):
    return call.result() if hasattr(call, "result") else call()[0]


def versions():
    return {"PyTorch": torch.__version__, "ONNX Runtime": onnxruntime.__version__,
            "OpenVINO": openvino.__version__.split("-")[0], "onnx": onnx.__version__, "numpy": np.__version__}
