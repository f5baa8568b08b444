"""export_parsers.py PROGRAM TEST_EXPORTS CHECKOUTS TARGET [PLANS [SEED]]: exports of random plans, read by the code of the
framework itself: its parser, its checks, and what it makes of degrees and batch, held against the plan. CHECKOUTS has a folder
for each framework (megatron, megatron-bridge, torchtitan, maxtext, deepspeed, accelerate, vllm, sglang, trtllm); one that lacks is named and
skipped (exit 77). Packages that they import and that no parser needs (torch, jax, ...) are stand-ins. Ends with 1 where an
export that names no loss is refused or means another plan."""
import collections, contextlib, importlib.abc, importlib.machinery, importlib.metadata, importlib.util, io, json, logging, math, os, random
import re, shlex, subprocess, sys, traceback, types, typing, warnings

import yaml


class Base:
    """What a class of an absent package is to the classes derived from it."""

    def __init__(self, *args, **kwargs):
        self.__dict__.update(kwargs)

    def __init_subclass__(cls, **kwargs):
        pass

    def __class_getitem__(cls, item):
        return cls


class Name:
    """A name of an absent package: called, compared, subclassed, used as a decorator."""

    def __init__(self, path):
        self.__dict__["_path"] = path

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = self.__dict__[name] = Name(f"{self._path}.{name}")
        return made

    def __call__(self, *args, **kwargs):
        decorates = len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type))
        return args[0] if decorates and "custom_" not in self._path else Name(self._path + "()")

    def __add__(self, other=None):
        return self

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = __and__ = __rand__ = __add__
    __or__ = __ror__ = __getitem__ = __enter__ = __neg__ = __add__

    def __lt__(self, other):
        return False

    __gt__ = __le__ = __ge__ = __instancecheck__ = __subclasscheck__ = __lt__

    def __exit__(self, *args):
        return False

    def __setitem__(self, key, value):
        pass

    def __get_pydantic_core_schema__(self, source, handler):
        return handler(typing.Any)

    def __mro_entries__(self, bases):
        first = next(base for base in bases if isinstance(base, Name)) is self
        there = any(isinstance(base, type) and issubclass(base, Base) for base in bases)
        return (Base,) if first and not there else ()

    def __iter__(self):
        return iter(())

    def __len__(self):
        return 0

    def __int__(self):
        return 0

    def __bool__(self):
        return True

    def __repr__(self):
        return self._path


class Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = Name(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path, target=None):
        ours = any(name == one or name.startswith(one + ".") for one in self.names)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if ours else None

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        pass


def stand_in(text):
    """Stand-ins for those of "name=version name ..." that are not installed."""
    versions = dict(word.partition("=")[::2] for word in text.split())
    absent = {name for name in versions if importlib.util.find_spec(name) is None}
    version = importlib.metadata.version

    def version_of(name):
        try:
            return (versions[name] or "1.0") if name in absent else version(name)
        except importlib.metadata.PackageNotFoundError:
            if name not in sys.modules:
                raise
            return sys.modules[name].__version__  # a copy that pip knows nothing of
    importlib.metadata.version = version_of
    sys.meta_path.append(Finder(absent))
    for name in sorted(absent):
        importlib.import_module(name).__version__ = versions[name] or "1.0"
    if "packaging" not in sys.modules and importlib.util.find_spec("packaging") is None:
        import pip._vendor.packaging.requirements, pip._vendor.packaging.specifiers, pip._vendor.packaging.version
        for name in [n for n in sys.modules if n.startswith("pip._vendor.packaging")]:
            sys.modules[name[len("pip._vendor."):]] = sys.modules[name]


def settings_of(text):
    """The arguments of a shell's export, and the variables that its comment sets."""
    words = [w for line in text.splitlines() if not line.startswith("#") for w in shlex.split(line)]
    environment = dict(w.split("=", 1) for line in text.splitlines() if line.startswith("# environment:")
                       for w in line.split() if "=" in w)
    return words, environment


class Megatron:
    def __init__(self, folder):
        import argparse
        typing.override = getattr(typing, "override", lambda f: f)
        stand_in("torch=2.9.0 transformer_engine=2.11.0 apex transformers=4.57.0 einops tqdm torchvision PIL triton=3.5.0 datasets "
                 "sentencepiece tiktoken pandas")
        import numpy
        if not hasattr(numpy, "dtypes"):
            sys.modules["numpy.dtypes"] = Module("numpy.dtypes")
        from megatron.training import arguments
        self.all, self.parser = arguments, argparse.ArgumentParser(allow_abbrev=False)
        arguments.add_megatron_arguments(self.parser)
        arguments.add_megatron_arguments = lambda parser: self.parser

    def read(self, text, plan):
        import torch
        words, environment = settings_of(text)
        for name in ("CUDA_DEVICE_MAX_CONNECTIONS", "NVTE_CPU_OFFLOAD_V1"):
            os.environ.pop(name, None)
        os.environ.update(environment, WORLD_SIZE=str(plan["devices"]), RANK="0")
        capability = {"a100": (8, 0), "h100": (9, 0)}.get(plan["machine"], (10, 0))
        torch.cuda.get_device_capability = lambda *a: capability
        self.all.get_device_arch_version = lambda: capability[0]
        # what a launch adds to a plan: data, tokenizer, length of the run
        sys.argv = ["pretrain_gpt.py"] + words + "--mock-data --tokenizer-type NullTokenizer --train-iters 9 --lr 1e-4".split()
        a = self.all.parse_args()
        self.all.validate_args(a)
        self.all.core_transformer_config_from_args(a)
        stage = {"optim": 1, "optim_grads": 2, "optim_grads_params": 3}.get(a.data_parallel_sharding_strategy, 0)
        sharded = a.use_distributed_optimizer or getattr(a, "use_layer_wise_distributed_optimizer", False)
        zero = stage if a.use_megatron_fsdp else int(sharded)
        out = {"tp": a.tensor_model_parallel_size, "pp": a.pipeline_model_parallel_size, "cp": a.context_parallel_size,
               "vpp": a.virtual_pipeline_model_parallel_size or 1, "micro_batch": a.micro_batch_size, "seq": a.seq_length,
               "batch_sequences": a.global_batch_size, "dp": a.data_parallel_size, "sequence_parallel": a.sequence_parallel,
               "layers": a.num_layers, "zero": zero}
        if a.num_experts:
            out.update(ep=a.expert_model_parallel_size, etp=a.expert_tensor_parallel_size or out["tp"])
        if a.tensor_model_parallel_size == 1:
            del out["sequence_parallel"]
        per_chunk = a.num_layers / (out["pp"] * out["vpp"])
        out["remat full"] = a.recompute_granularity == "full" and (a.recompute_method == "uniform" or
                                                                   a.recompute_num_layers >= per_chunk)
        return out


class MaxText:
    packages = ("jax=0.8.0 jaxlib flax tensorflow orbax absl google datasets transformers ml_dtypes etils tensorboardX optax grain "
                "qwix aqt tunix cloud_tpu_diagnostics ml_goodput_measurement pathwaysutils transformer_engine tokamax drjax "
                "tensorflow_datasets sentencepiece tiktoken huggingface_hub tqdm psutil libtpu array_record jsonlines")

    def __init__(self, folder):
        import copy
        stand_in(self.packages)

        class DictConfig(dict):
            pass

        def load(path):
            with open(path) as file:
                return DictConfig(yaml.safe_load(file) or {})

        def merge(*all):
            out = DictConfig()
            for one in all:
                for key, value in one.items():
                    nested = isinstance(value, dict) and isinstance(out.get(key), dict)
                    out[key] = merge(out[key], value) if nested else copy.deepcopy(value)
            return out

        self.create = lambda v: DictConfig(copy.deepcopy(dict(v))) if isinstance(v, dict) else v
        conf = types.SimpleNamespace(load=load, merge=merge, create=self.create, from_cli=lambda words: DictConfig(
            {w.split("=", 1)[0]: yaml.safe_load(w.split("=", 1)[1]) for w in words}),
            to_container=lambda v, resolve=True: copy.deepcopy(v))
        sys.modules["omegaconf"] = types.SimpleNamespace(OmegaConf=conf, DictConfig=DictConfig, ListConfig=list)
        from maxtext.configs import pyconfig
        import jax
        self.all, self.jax = pyconfig, jax
        self.base = os.path.join(folder, "src/maxtext/configs/base.yml")
        pyconfig.max_utils.maybe_initialize_jax_distributed_system = lambda *a: None
        self.loaded = {}
        load_config = pyconfig._load_config
        pyconfig._load_config = lambda name: copy.deepcopy(self.loaded.setdefault(name, load_config(name)))

    def read(self, text, plan):
        said = yaml.safe_load(text)
        self.jax.devices = lambda *a: [None] * plan["devices"]
        self.jax.local_device_count = lambda *a: 4
        self.all.max_utils.get_num_slices = lambda keys: said.get("compile_topology_num_slices", plan["nodes"])
        c = self.all._initialize_pydantic(["train.py", self.base, "run_name=x", "enable_checkpointing=false",
                                           "dataset_type=synthetic", "tokenizer_path=x"], **said)
        axes = lambda name: getattr(c, f"ici_{name}_parallelism") * getattr(c, f"dcn_{name}_parallelism")
        product = 1
        for field in type(c).model_fields:
            if re.fullmatch("(ici|dcn)_.*_parallelism", field) and isinstance(getattr(c, field), int):
                product *= getattr(c, field)
        pp, accumulated = axes("pipeline"), c.gradient_accumulation_steps
        out = {"tp": axes("tensor") * axes("tensor_sequence"), "pp": pp, "cp": axes("context"), "seq": c.max_target_length,
               "batch_sequences": round(c.per_device_batch_size * c.num_target_devices * accumulated),
               "cores": product,
               "layers": c.num_decoder_layers * (2 if said.get("model_name", "").startswith("gemma2") else 1)}  # pairs
        if plan.get("experts"):
            out["ep"] = axes("expert")
        if pp > 1:
            out["vpp"] = c.num_pipeline_repeats
        out["remat full"] = c.remat_policy == "full" or (c.remat_policy == "custom" and not c.tensors_on_device and
                                                         list(c.tensors_to_offload) == ["decoder_layer_input"])
        return out


class DeepSpeed:
    def __init__(self, folder):
        os.environ["DS_ACCELERATOR"] = "cpu"
        for name in ("deepspeed", "deepspeed.runtime.zero", "deepspeed.module_inject", "deepspeed.inference"):  # their __init__ load kernels
            package = sys.modules[name] = Module(name)
            package.__path__ = [os.path.join(folder, name.replace(".", "/"))]
        stand_in("torch=2.9.0 tqdm psutil cpuinfo ninja hjson msgpack py3nvml einops transformers pynvml py-cpuinfo triton=3.5.0 filelock")
        from deepspeed.runtime.config import DeepSpeedConfig
        self.config = DeepSpeedConfig

    def read(self, text, plan):
        import deepspeed.comm as comm
        from deepspeed import utils
        said = json.loads(text)
        tp = said.get("tensor_parallel", {}).get("autotp_size", 1)
        comm.is_initialized = lambda: True
        os.environ["WORLD_SIZE"] = str(plan["devices"])
        import deepspeed.runtime.config as config
        config.dist.get_rank = lambda *a: 0
        config.dist.get_world_size = lambda *a: plan["devices"]
        stages = types.SimpleNamespace(get_data_parallel_world_size=lambda: plan["devices"] // plan["pp"])
        c = self.config(said, mpu=stages if plan["pp"] > 1 and "sequence_parallel_size" not in said else None)
        zero = said["zero_optimization"]["stage"] if "zero_optimization" in said else 0
        ranks = plan["devices"] // max(1, said.get("sequence_parallel_size", 1))
        assert c.zero_optimization_stage == zero
        out = {"tp": tp, "zero": c.zero_optimization_stage, "micro_batch": c.train_micro_batch_size_per_gpu,
               "batch_sequences": c.train_batch_size // tp, "cp": said.get("sequence_parallel_size", 1),
               "dp": ranks // tp // plan["pp"]}  # stages are the code's
        return out


class Accelerate:
    def __init__(self, folder):
        sys.path.insert(0, os.path.join(folder, "src"))
        stand_in("torch=2.9.0 huggingface_hub safetensors psutil transformers=4.57.0 deepspeed megatron torch_xla tqdm rich")
        from accelerate.commands import launch
        from accelerate.commands.config import config_args
        from accelerate import parallelism_config
        self.launch, self.config_args, self.parallelism = launch, config_args, parallelism_config

    def read(self, text, plan):
        import tempfile
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            args = self.launch.launch_command_parser().parse_args(["--config_file", file.name, "train.py"])
            args, defaults, mp = self.launch._validate_launch_command(args)
            environment = self.launch.prepare_multi_gpu_env(args) if args.num_processes > 1 else {}
        said = yaml.safe_load(text)
        out = {"devices": args.num_processes}
        if said.get("parallelism_config"):
            names = {f"PARALLELISM_CONFIG_{k}": v for k, v in environment.items()}
            for k, v in environment.items():
                os.environ[k] = str(v)
            try:
                c = self.parallelism.ParallelismConfig()
            finally:
                for k in environment:
                    os.environ.pop(k, None)
            out.update(tp=c.tp_size, cp=max(c.cp_size, c.sp_size))
            out["dp"] = c.dp_replicate_size * c.dp_shard_size
            out["cores"] = c.total_size
        return out


class Titan:
    def __init__(self, folder):
        stand_in("torch=2.12.0 torchdata datasets tokenizers tyro torchao spmd_types einops tensorboard transformers triton safetensors "
                 "torchvision PIL av torchcomms attn_gym helion deep_ep huggingface_hub jinja2 tabulate fsspec fla flash_attn grain "
                 "tiktoken aiohttp wandb tqdm")
        from torchtitan.distributed import pipeline_parallel
        from torchtitan.distributed.parallel_dims import ParallelDims
        self.pipeline, self.dims = pipeline_parallel, ParallelDims
        single, multi = type("Single", (), {}), type("Multi", (), {})
        self.pipeline.PipelineScheduleSingle, self.pipeline.PipelineScheduleMulti = single, multi
        self.pipeline.get_schedule_class = lambda name: single if name.lower() in ("1f1b", "gpipe") else multi

    def read(self, text, plan):
        import torch
        capability = {"a100": (8, 0), "h100": (9, 0)}.get(plan["machine"], (10, 0))
        torch.cuda.is_available, torch.version.hip = lambda: True, None
        torch.cuda.get_device_capability = lambda *a: capability
        scope = {}
        exec(compile(text, "export", "exec"), scope)
        config = scope["plan"]()
        p, t = config.parallelism, config.training
        dims = self.dims.from_config(p, plan["devices"])
        model = config.model_spec.model
        model.update_from_config(config=config)
        config._validate_cuda_graphs()
        out = {"tp": dims.tp, "pp": dims.pp, "cp": dims.cp, "dp": dims.dp_replicate * dims.dp_shard, "seq": t.max_context_length,
               "batch_sequences": t.num_tokens_per_train_step / t.max_context_length,
               "layers": len(model.layers), "shards": dims.dp_shard * dims.cp}
        rows = t.num_tokens_per_microbatch_per_dp_rank / t.max_context_length
        if plan.get("experts"):
            out["ep"] = dims.ep
        if dims.pp > 1:
            stages, layers, first, last = self.pipeline._get_pipeline_metadata(dims, p, model)
            names = self.pipeline._generate_llm_fqn_per_model_part(stages, layers, first, last)
            out["vpp"] = len(p.module_fqns_per_model_part or names) // dims.pp
        del out["shards"]
        out["micro_batch"] = rows / max(1, p.num_pp_microbatches if dims.pp > 1 else 1) if dims.pp == 1 else plan["micro_batch"]
        ac = type(config.activation_checkpoint).__qualname__ if config.activation_checkpoint else ""
        out["remat full"] = "FullAC" in ac
        return out


class Bridge:
    """Megatron-Bridge's vanilla GPT recipe with the export over it, as its runtime_config_update takes it; its Megatron Core
    is the checkout megatron beside it."""

    whole = ["megatron.bridge.models.conversion", "megatron.bridge.models.hf_pretrained", "megatron.bridge.peft",
             "megatron.bridge.models.megatron_mimo", "megatron.bridge.inference"]
    whole += ["megatron.bridge.data." + name for name in "builders datasets energon sources collators packing utils".split()]

    def __init__(self, folder):
        typing.override = getattr(typing, "override", lambda f: f)
        sys.path.insert(0, os.path.join(os.path.dirname(folder), "megatron"))
        sys.meta_path.insert(0, Finder(self.whole))
        hidden(["megatron.bridge", "megatron.bridge.data", "megatron.bridge.models", "megatron.bridge.recipes", "megatron.bridge.recipes.gpt",
                "megatron.bridge.training.utils", "megatron.bridge.training", "megatron.bridge.utils"], os.path.join(folder, "src"))
        stand_in("torch=2.9.0 transformer_engine=2.11.0 apex transformers=4.57.0 einops tqdm torchvision PIL triton=3.5.0 datasets "
                 "sentencepiece tiktoken pandas numpy omegaconf hydra safetensors nvidia_resiliency_ext modelopt huggingface_hub "
                 "rich wandb diffusers accelerate flash_attn filelock")
        logging.disable(logging.CRITICAL)
        module = importlib.import_module
        self.config, self.recipe = module("megatron.bridge.training.config"), module("megatron.bridge.recipes.gpt.h100.vanilla_gpt")
        self.module = module

    def named(self, value):
        """A value of the file; "_target_" names a class, or with "_call_: false" an object."""
        if not isinstance(value, dict) or "_target_" not in value:
            return value
        place, _, name = value["_target_"].rpartition(".")
        target = getattr(self.module(place), name)
        return target if value.get("_call_") is False else target()

    def override(self, config, said):
        import dataclasses
        for name, value in said.items():
            if name == "_target_":
                continue
            if name not in {f.name for f in dataclasses.fields(config)}:
                raise ValueError(f"{type(config).__name__} has no field {name}")
            if isinstance(value, dict) and "_call_" not in value:
                if "_target_" in value:
                    setattr(config, name, self.named(value))
                self.override(getattr(config, name), value)
            else:
                setattr(config, name, self.named(value))

    def read(self, text, plan):
        import torch
        capability = {"a100": (8, 0), "h100": (9, 0)}.get(plan["machine"], (10, 0))
        torch.cuda.get_device_capability = lambda *a: capability
        torch.cuda.get_device_properties = lambda *a: types.SimpleNamespace(major=capability[0], minor=capability[1], name="NVIDIA " + plan[
            "machine"].upper())
        for name in ("CUDA_DEVICE_MAX_CONNECTIONS", "NVTE_CPU_OFFLOAD_V1"):
            os.environ.pop(name, None)
        os.environ.update(settings_of(text)[1])
        self.config.get_world_size_safe = lambda: plan["devices"]
        cfg = self.recipe.vanilla_gpt_pretrain_1gpu_h100_bf16_config()
        self.override(cfg, yaml.safe_load(text))
        self.config.runtime_config_update(cfg)
        m, stage = cfg.model, {"optim": 1, "optim_grads": 2, "optim_grads_params": 3}.get(cfg.ddp.data_parallel_sharding_strategy, 0)
        sharded = cfg.ddp.use_distributed_optimizer or cfg.optimizer.optimizer.startswith("dist_")  # the latter by whole layers
        zero = stage if cfg.ddp.use_megatron_fsdp else int(sharded)
        out = {"tp": m.tensor_model_parallel_size, "pp": m.pipeline_model_parallel_size, "cp": m.context_parallel_size,
               "vpp": m.virtual_pipeline_model_parallel_size or 1, "micro_batch": cfg.train.micro_batch_size, "seq": m.seq_length,
               "batch_sequences": cfg.train.global_batch_size, "dp": cfg.data_parallel_size, "layers": m.num_layers, "zero": zero}
        if m.num_moe_experts:
            out.update(ep=m.expert_model_parallel_size, etp=m.expert_tensor_parallel_size or out["tp"])
        if out["tp"] > 1:
            out["sequence_parallel"] = m.sequence_parallel
        out["remat full"] = m.recompute_granularity == "full" and (
            m.recompute_method == "uniform" or m.recompute_num_layers >= m.num_layers / (out["pp"] * out["vpp"]))
        return out


def engine_commands(text):
    """The words of each command of an engine's export."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if not line.startswith("#")]
    commands = [shlex.split(line.rstrip("& ")) for line in lines]
    return [one for one in commands if one and one != ["wait"]]


class Like:
    """A model's configuration: what a parser asks for and was not given is None."""

    def __init__(self, **given):
        self.__dict__.update(given)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def hidden(names, folder):
    """Packages whose __init__ loads kernels: their modules alone."""
    for name in names:
        package = sys.modules[name] = Module(name)
        parent, _, last = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], last, package)
        package.__path__ = [os.path.join(folder, name.replace(".", "/"))]


ENGINE_PACKAGES = ("torch=2.10.0 transformers=5.0.0 huggingface_hub safetensors numpy cbor2 msgspec zmq psutil cloudpickle tqdm "
                   "prometheus_client PIL openai triton gguf fastapi uvicorn tokenizers ray requests numba einops xgrammar "
                   "mistral_common cachetools blake3 cpuinfo compressed_tensors pybase64 diskcache filelock partial_json_parser "
                   "aiohttp openai_harmony uvloop torchvision dill starlette orjson sgl_kernel flashinfer decord IPython "
                   "sentencepiece")


class Vllm:
    """EngineArgs from the command line, and what create_engine_config makes of them but for the model, which is not loaded."""

    def __init__(self, folder):
        warnings.simplefilter("ignore")
        os.environ["VLLM_CONFIGURE_LOGGING"] = "0"
        sys.meta_path.insert(0, Finder(["vllm.ir", "vllm.kernels"]))
        stand_in(ENGINE_PACKAGES)
        import vllm.platforms
        from vllm.platforms.interface import Platform, PlatformEnum
        here = types.SimpleNamespace(gpus=8)

        class Cuda(Platform):
            _enum, device_name, device_type, dispatch_key = PlatformEnum.CUDA, "cuda", "cuda", "CUDA"

            @classmethod
            def device_count(cls):
                return here.gpus

            @classmethod
            def get_device_total_memory(cls, device_id=0):
                return 80 << 30

            @classmethod
            def get_device_name(cls, device_id=0):
                return "NVIDIA H100"

        self.here = here
        vllm.platforms._current_platform = Cuda()
        import vllm.engine.arg_utils as all
        from vllm.config.model import ModelConfig
        from vllm.utils.argparse_utils import FlexibleArgumentParser
        self.all, self.checks = all, ModelConfig.verify_with_parallel_config
        self.parser = FlexibleArgumentParser()
        self.parser.add_argument("model_tag")
        all.AsyncEngineArgs.add_cli_args(self.parser)
        all.load_general_plugins = lambda: None
        all.maybe_override_with_speculators = lambda model, tokenizer, vllm_speculative_config, **rest: (
            model, tokenizer, vllm_speculative_config)
        all.VllmConfig = lambda **all: types.SimpleNamespace(**all)
        all.resolve_kv_cache_dtype_string = lambda name, model: name
        all.is_interleaved = lambda config: True

    def read_one(self, words, plan):
        assert words[:2] == ["vllm", "serve"], words[:2]
        self.here.gpus = plan["host"]
        args = self.all.AsyncEngineArgs.from_cli_args(self.parser.parse_args(words[2:]))
        model = Like(model=args.model, max_model_len=args.max_model_len, is_moe=plan["experts"] > 0, runner_type="generate",
                     is_chunked_prefill_supported=True, is_prefix_caching_supported=True, hf_text_config=Like(), hf_config=Like(),
                     model_arch_config=Like(total_num_attention_heads=plan["heads"]), is_attention_free=False,
                     is_multimodal_model=False, is_encoder_decoder=False, quantization=args.quantization,
                     registry=types.SimpleNamespace(is_pp_supported_model=lambda *a: True), architectures=["x"],
                     _verify_with_expert_parallelism=lambda: self.experts(plan))
        args.create_model_config = lambda: model
        draft = args.speculative_config
        args.create_speculative_config = lambda **rest: None
        if draft and draft["method"] == "mtp":
            assert plan["mtp"], f"Unsupported speculative method: 'mtp' of {args.model}"
        elif draft:
            assert draft.get("model"), "num_speculative_tokens was provided but without speculative model."
        c = args.create_engine_config()
        p = c.parallel_config
        self.checks(model, p)
        ranks = p.tensor_parallel_size * p.data_parallel_size
        nodes = p.nnodes * plan["host"]
        assert p.data_parallel_size_local * p.world_size // p.nnodes <= plan["host"], "more ranks than GPUs on a node"
        known = self.quantized(args.quantization, plan)
        out = {"tp": p.tensor_parallel_size, "pp": p.pipeline_parallel_size,
               "ep": ranks if p.enable_expert_parallel else 1,
               "rank_sequences": c.scheduler_config.max_num_seqs, "length": args.max_model_len,
               "memory_fraction": c.cache_config.gpu_memory_utilization, "weights": known,
               "kv": {"bfloat16": "bf16", "int8_per_token_head": "int8"}.get(c.cache_config.cache_dtype, c.cache_config.cache_dtype),
               "chunk": c.scheduler_config.max_num_batched_tokens, "block": args.block_size or 16,
               "drafts": draft["num_speculative_tokens"] if draft else 0, "nodes": max(1, math.ceil(p.world_size_across_dp / nodes)),
               ("attention_dp" if plan["experts"] else "replicas"): p.data_parallel_size}
        return out

    @staticmethod
    def experts(plan):
        assert plan["experts"], "Number of experts in the model must be greater than 0 when expert parallelism is enabled."

    @staticmethod
    def quantized(name, plan):
        """The weights' format as the engine makes it, from a checkpoint as the hub has it."""
        made = {"fp8": "fp8", "fp8_per_tensor": "fp8", "fp8_per_block": "fp8_block"}
        assert name is None or plan["stored"] == "bf16", f"a checkpoint in {plan['stored']}, quantization {name}"
        assert name is None or name in made, f"Cannot find the config file for {name}"
        return made[name] if name else plan["stored"]


class Sglang:
    """ServerArgs with all of its checks; the model's configuration is what the plan's model is."""

    whole = ["sglang.kernels", "sglang.jit_kernel", "sglang.srt.layers", "sglang.srt.utils.hf_transformers",
             "sglang.srt.utils.hf_transformers_utils"]  # kernels, layers, and classes of models

    def __init__(self, folder):
        warnings.simplefilter("ignore")
        sys.path.insert(0, os.path.join(folder, "python"))
        sys.meta_path.insert(0, Finder(self.whole))
        hidden(["sglang", "sglang.srt.configs"], os.path.join(folder, "python"))
        stand_in(ENGINE_PACKAGES)
        import torch, torch.cuda, torch.version
        torch.cuda.get_device_capability = lambda *a: (9, 0)
        torch.cuda.is_available = lambda: True
        torch.version.hip, torch.version.cuda = None, "12.9"
        import sglang.srt.utils
        import sglang.srt.utils.hf_transformers_utils
        sglang.srt.utils.hf_transformers_utils.check_gguf_file = lambda *a: False
        import sglang.kernels.ops.attention.fla.chunk_delta_h
        sglang.kernels.ops.attention.fla.chunk_delta_h.CHUNK_SIZE = 64
        import sglang.srt.server_args as all
        import sglang.srt.utils.common as common
        self.all, self.cuda = all, torch.cuda
        self.kept = [f for f in vars(common).values() if hasattr(f, "cache_clear")]  # of the chip asked before
        all.ServerArgs._handle_model_source_paths = lambda self: None
        all.get_device_memory_capacity = lambda device: 80 << 10
        logging.disable(logging.CRITICAL)

    def read_one(self, words, plan):
        assert words[:3] == ["python", "-m", "sglang.launch_server"], words[:3]
        self.cuda.get_device_capability = lambda *a: {"a100": (8, 0), "h100": (9, 0), "h200": (9, 0)}.get(plan["machine"], (10, 0))
        for function in self.kept:
            function.cache_clear()
        hf = Like(architectures=[plan["architecture"]], model_type="x", num_nextn_predict_layers=plan["mtp"] or None)
        model = Like(hf_config=hf, hf_text_config=hf, is_multimodal=False, context_len=plan["length"], quantization=None)
        self.all.ServerArgs.get_model_config = lambda args: model
        s = self.all.prepare_server_args(words[3:])
        s.check_server_args()
        assert s.tp_size * s.pp_size * (1 if s.enable_dp_attention else s.dp_size) <= s.nnodes * plan["host"], \
            "more ranks than GPUs on its nodes"
        if s.speculative_algorithm and not s.speculative_draft_model_path:
            assert plan["mtp"], "--speculative-draft-model-path is missing"
        dp = s.dp_size if s.enable_dp_attention else 1
        assert s.quantization in (None, "fp8"), f"{s.quantization} of a checkpoint without it"
        assert not s.quantization or plan["stored"] == "bf16", f"a checkpoint in {plan['stored']}, quantization {s.quantization}"
        return {"tp": s.tp_size // dp, "pp": s.pp_size, "ep": s.ep_size, "rank_sequences": s.max_running_requests / dp,
                "length": s.context_length, "memory_fraction": s.mem_fraction_static, "chunk": s.chunked_prefill_size,
                "weights": s.quantization or plan["stored"], "block": s.page_size,
                "kv": {"fp8_e4m3": "fp8"}.get(s.kv_cache_dtype, s.kv_cache_dtype),
                "drafts": (s.speculative_num_steps or 0) if s.speculative_algorithm else 0, "attention_dp": dp,
                "replicas": 1 if s.enable_dp_attention else s.dp_size}


class Trtllm:
    """trtllm-serve's options as the framework's own reference has them, which its tests hold against the program."""

    reference = "tests/unittest/api_stability/references/trtllm_serve_cli.yaml"

    def __init__(self, folder):
        with open(os.path.join(folder, self.reference)) as file:
            options = yaml.safe_load(file)["commands"]["serve"]["options"]
        self.flags = {flag: (name, one) for name, one in options.items() for flag in one["flags"]}

    def parsed(self, words):
        out = {name: one["default"] for name, one in self.flags.values()}
        words = list(words)
        while words:
            flag = words.pop(0)
            if flag not in self.flags:
                raise ValueError(f"No such option: {flag}")
            name, one = self.flags[flag]
            if one["is_flag"]:
                out[name] = True
                continue
            value, kind = words.pop(0), one["type"]
            if kind.startswith("Choice(") and value not in eval(kind[7:-1]):
                raise ValueError(f"Invalid value for '{flag}': '{value}' is not one of {kind[7:-1]}")
            out[name] = {"int": int, "float": float}.get(kind, str)(value)
        return out

    def read_one(self, words, plan):
        assert words[0] == "trtllm-serve" and words[1][0] != "-", words[:2]
        a = self.parsed(words[2:])
        tp, ep = a["tensor_parallel_size"], a["moe_expert_parallel_size"] or 1
        dp = tp if a["enable_attention_dp"] else 1  # all ranks or one
        assert tp % ep == 0, "moe_tp_size * moe_ep_size must be equal to tp_size"  # mapping.py
        assert a["max_num_tokens"] >= a["max_batch_size"], "tokens of a step"
        return {"tp": tp // dp, "attention_dp": dp, "pp": a["pipeline_parallel_size"], "ep": ep, "length": a["max_seq_len"],
                "stage_sequences": a["max_batch_size"],  # of a micro-batch, one for each stage: pyexecutor/_util.py
                "chunk": a["max_num_tokens"] if a["enable_chunked_prefill"] else 0, "replicas": 1,
                "memory_fraction": a["free_gpu_memory_fraction"], "weights": plan["stored"], "drafts": 0,
                "kv": "auto" if a["kv_cache_dtype"] == "auto" else a["kv_cache_dtype"]}


# models of a service: name, the class that its checkpoint names, format of the checkpoint
SERVED = {"llama3.1-8b": ("LlamaForCausalLM", "bf16"), "llama3.1-70b": ("LlamaForCausalLM", "bf16"),
          "llama3-405b": ("LlamaForCausalLM", "bf16"), "qwen3-32b": ("Qwen3ForCausalLM", "bf16"),
          "qwen2.5-72b": ("Qwen2ForCausalLM", "bf16"), "qwen3-30b-a3b": ("Qwen3MoeForCausalLM", "bf16"),
          "qwen3-235b-a22b": ("Qwen3MoeForCausalLM", "bf16"), "mixtral-8x7b": ("MixtralForCausalLM", "bf16"),
          "deepseek-v3": ("DeepseekV3ForCausalLM", "fp8_block"), "deepseek-v2-lite": ("DeepseekV2ForCausalLM", "bf16"),
          "gpt-oss-120b": ("GptOssForCausalLM", "mxfp4"), "kimi-k2": ("DeepseekV3ForCausalLM", "fp8_block"),
          "glm-4.5-air": ("Glm4MoeForCausalLM", "bf16")}


def drawn_services(program, target, plans, seed):
    """Exports of services that there are: the words, the plan, what the export says, and whether it says a loss."""
    draw, n = random.Random(seed), 0
    while n < plans:
        model = draw.choice(list(SERVED))
        machine = draw.choice("h100-8 h100-8 h100-16 h100-32 h200-8 b200-8 b200-16 gb200-16 a100-8".split())
        words = ["--model", model, "--hw", machine, "--input", draw.choice(["1024", "2048", "8000"]), "--output",
                 draw.choice(["256", "1024"]), "--concurrency", draw.choice(["8", "64", "100", "512"])]
        seldom = lambda one_in, *option: words.extend(option) if draw.randrange(one_in) == 0 else None
        tp, dp, pp = draw.choice([1, 1, 2, 4, 8, 16]), draw.choice([1, 1, 1, 2, 4, 8]), draw.choice([1, 1, 1, 1, 2, 4])
        words += ["--tp", str(tp), "--attention-dp", str(dp), "--pp", str(pp)]
        ep = draw.choice([1, tp * dp, tp * dp, 2])
        if SERVED[model][0].endswith(("MoeForCausalLM", "MixtralForCausalLM", "GptOssForCausalLM")) or "Deepseek" in SERVED[model][0]:
            words += ["--ep", str(ep), "--etp", str(tp * dp // ep)]
        seldom(3, "--weights", draw.choice("bf16 fp8 fp8 fp8_block int8 nvfp4 mxfp4 awq gptq int4_wo".split()))
        seldom(3, "--kv", draw.choice("fp8 fp8 bf16 nvfp4 int8".split()))
        seldom(4, "--chunk", draw.choice(["2048", "16384"]))
        seldom(5, "--memory-fraction", draw.choice(["0.8", "0.92"]))
        seldom(8, "--block", draw.choice(["16", "32", "64"]))
        seldom(6, "--draft-tokens", "3", "--accepted", "2", *draw.choice([(), ("--draft-model", "llama3.2-1b")]))
        seldom(8, "--disaggregate", draw.choice(["1xtp4:1xtp4", "2xtp2:1xtp4", "1xtp4dp2ep8:1xtp4dp2ep8"]))
        if "--disaggregate" in words:
            at = words.index("--tp")
            end = words.index("--etp") + 2 if "--etp" in words else at + 6
            del words[at:end]
        run = subprocess.run([program, "export", "--to", target, "--quiet"] + words, capture_output=True, text=True)
        if run.returncode:
            continue
        n += 1
        yield words, run.stdout, "# cannot express" in run.stdout or "# not written" in run.stdout


def service_of(program, target, words):
    """What a service is, of its options and of the program's answer for the same."""
    given = dict(zip(words[::2], words[1::2]))
    report = json.loads(subprocess.run([program, "serve", "--engine", target, "--format", "json", "--quiet"] + words,
                                       capture_output=True, text=True).stdout)
    shown = json.loads(subprocess.run([program, "show", given["--model"], "--format", "json"], capture_output=True, text=True).stdout)
    field = lambda name: within(shown["fields"], name.split("."))
    architecture, stored = SERVED[given["--model"]]
    machine = given["--hw"].partition("-")[0]
    number = lambda name, otherwise: int(given.get(name, otherwise))
    plan = {"machine": machine, "host": 4 if machine == "gb200" else 8, "architecture": architecture, "stored": stored,
            "experts": field("moe.experts") or 0, "heads": field("heads") or field("attention.heads"), "mtp": field("mtp_layers") or 0,
            "length": number("--input", 0) + number("--output", 0), "tp": number("--tp", 1), "pp": number("--pp", 1),
            "attention_dp": number("--attention-dp", 1), "ep": number("--ep", 1), "replicas": report["replicas"],
            "drafts": number("--draft-tokens", 0), "weights": given.get("--weights", stored), "kv": given.get("--kv", "auto"),
            "chunk": number("--chunk", 8192), "nodes": 1}
    for name in ("memory_fraction", "block"):
        if "--" + name.replace("_", "-") in given:
            plan[name] = float(given["--" + name.replace("_", "-")])
    each = number("--concurrency", 0) / plan["replicas"] / plan["attention_dp"]
    plan["rank_sequences"], plan["uneven"] = math.ceil(each), each != int(each)
    plan["stage_sequences"] = math.ceil(plan["rank_sequences"] / plan["pp"])
    if "--disaggregate" in given:
        for name in ("tp", "attention_dp", "ep", "replicas", "rank_sequences", "stage_sequences"):
            del plan[name]
    return plan


def within(value, names):
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value.get("value") if isinstance(value, dict) and "value" in value else value


def drawn_plans(program, drawing, target, plans, seed):
    """Exports of plans, as test_exports draws them."""
    text = subprocess.run([drawing, target, plans, seed], capture_output=True, text=True, check=True).stdout
    for export in re.split(r"^### ", text, flags=re.M)[1:]:
        head, _, body = export.partition("\n")
        devices, lost, chip, line = head.split(" ", 3)
        yield shlex.split(line), body, lost != "0"


ENGINES = {"vllm": Vllm, "sglang": Sglang, "trtllm": Trtllm}
FRAMEWORKS = {"megatron": Megatron, "megatron-bridge": Bridge, "maxtext": MaxText, "deepspeed": DeepSpeed, "accelerate": Accelerate, "torchtitan": Titan}
KEYS = ("devices machine tp pp vpp cp ep etp dp zero shards micro_batch batch_sequences seq remat remat_layers sequence_parallel "
        "microbatches").split()


def plan_of(program, words):
    run = subprocess.run([program] + words + ["--format", "json", "--quiet"], capture_output=True, text=True)
    report = json.loads(run.stdout)
    plan = {key: report[key] for key in KEYS}
    plan["remat full"] = plan["remat"] == "full" and plan["remat_layers"] == 1
    nodes = re.match(r"(\d+) (nodes|racks|domains)", report["shape"])
    plan["nodes"] = int(nodes[1]) if nodes else 1
    return plan


def differences(theirs, plan):
    for name in ("rank_sequences", "stage_sequences"):
        if theirs.get(name) == plan.get(name, 1) - 1 > 0 and plan["uneven"]:
            theirs[name] += 1  # one more for each does not fit
    return [f"{key} {value}, not {plan[key]}" for key, value in theirs.items() if key in plan and value != plan[key]]


def read_plan(framework, program, words, body, models):
    plan = plan_of(program, words)
    model = words[words.index("--model") + 1]
    if model not in models:
        shown = subprocess.run([program, "show", model, "--format", "json"], capture_output=True, text=True).stdout
        models[model] = json.loads(shown)
    fields = models[model]["fields"]
    plan["layers"] = fields["layers"]["value"]
    plan["experts"] = fields.get("moe", {}).get("experts", {}).get("value", 0)
    return differences(framework.read(body, plan), plan)


def read_service(framework, program, target, words, body):
    plan = service_of(program, target, words)
    times = re.search(r"^# (\d+) of these", body, flags=re.M)
    wrong = []
    for command in engine_commands(body):
        theirs = framework.read_one(command, plan)
        theirs["replicas"] = theirs.get("replicas", 1) * int(times[1] if times else 1)
        wrong += differences(theirs, plan)
    return wrong


def main(program, drawing, checkouts, target, plans="200", seed="1"):
    name = target.partition("@")[0]
    folder = os.path.join(os.path.abspath(checkouts), name)
    if not os.path.isdir(folder):
        print(f"not tried: no {folder}")
        return 77
    sys.path[:0] = [folder, os.path.join(folder, "src")]
    framework = (ENGINES | FRAMEWORKS)[name](folder)
    if name in ENGINES:
        drawn, read = drawn_services(program, target, int(plans), seed), lambda *a: read_service(framework, program, target, *a)
    else:
        drawn, models = drawn_plans(program, drawing, target, plans, seed), {}
        read = lambda *a: read_plan(framework, program, *a, models)
    counts, reasons, examples = collections.Counter(), collections.Counter(), {}
    for words, body, lossy in drawn:
        said = "nothing said" if not lossy else "refusal said" if " refuses: " in body else "something said"
        line, errors = shlex.join(words), io.StringIO()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
                wrong = read(words, body)
            verdict, reason = ("differs", "; ".join(wrong)) if wrong else ("same", "")
        except (Exception, SystemExit) as error:
            last = errors.getvalue().strip().splitlines()[-1:] if isinstance(error, SystemExit) else []
            verdict, reason = "refused", f"{type(error).__name__}: {' '.join(str(error).split())[:200]} {' '.join(last)}"
            where = traceback.extract_tb(error.__traceback__)[-1]
            line += f"\n    {os.path.relpath(where.filename, folder)}:{where.lineno}"
        counts[said, verdict] += 1
        if reason:
            reasons[said, verdict, reason] += 1
            examples.setdefault((said, verdict, reason), line)
    for (said, verdict, reason), n in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1])):
        if said == "nothing said" or "--all" in sys.argv and (verdict == "refused") == (said == "something said"):
            print(f"{n} {said}, {verdict}: {reason}\n    {examples[said, verdict, reason]}")
    print(f"{target}: {sum(counts.values())} plans; " + "; ".join(
        f"{said}: " + ", ".join(f"{counts[said, v]} {v}" for v in ("same", "differs", "refused"))
        for said in ("nothing said", "something said", "refusal said")))
    return 1 if counts["nothing said", "differs"] + counts["nothing said", "refused"] else 0


if __name__ == "__main__":
    sys.exit(main(*[a for a in sys.argv[1:] if a != "--all"]))
