"""export_parsers.py PROGRAM TEST_EXPORTS CHECKOUTS TARGET [PLANS [SEED]]: exports of random plans, read by the code of the
framework itself: its parser, its checks, and what it makes of degrees and batch, held against the plan. CHECKOUTS has a folder
for each framework (megatron, torchtitan, maxtext, deepspeed, accelerate, vllm, sglang, trtllm); one that lacks is named and
skipped (exit 77). Packages that they import and that no parser needs (torch, jax, ...) are stand-ins. Ends with 1 where an
export that names no loss is refused or means another plan."""
import collections, contextlib, importlib.abc, importlib.machinery, importlib.metadata, importlib.util, io, json, os, re, shlex, subprocess, sys
import traceback, types, typing

import yaml


class Name:
    """A name of an absent package: called, compared, subclassed (which adds nothing), used as a decorator."""

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

    def __mro_entries__(self, bases):
        return ()

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
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name.split(".")[0] in self.names else None

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
        out["remat full"] = c.remat_policy == "full"
        return out


class DeepSpeed:
    def __init__(self, folder):
        os.environ["DS_ACCELERATOR"] = "cpu"
        for name in ("deepspeed", "deepspeed.runtime.zero", "deepspeed.module_inject", "deepspeed.inference"):  # their __init__ load kernels
            package = sys.modules[name] = Module(name)
            package.__path__ = [os.path.join(folder, name.replace(".", "/"))]
        stand_in("torch=2.9.0 tqdm psutil cpuinfo ninja hjson msgpack py3nvml einops transformers pynvml py-cpuinfo")
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


FRAMEWORKS = {"megatron": Megatron, "maxtext": MaxText, "deepspeed": DeepSpeed, "accelerate": Accelerate, "torchtitan": Titan}
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
    return [f"{key} {value}, not {plan[key]}" for key, value in theirs.items() if key in plan and value != plan[key]]


def main(program, drawing, checkouts, target, plans="200", seed="1"):
    name = target.partition("@")[0]
    folder = os.path.join(os.path.abspath(checkouts), name)
    if not os.path.isdir(folder):
        print(f"not tried: no {folder}")
        return 77
    sys.path[:0] = [folder, os.path.join(folder, "src")]
    framework = FRAMEWORKS[name](folder)
    text = subprocess.run([drawing, target, plans, seed], capture_output=True, text=True, check=True).stdout
    counts, reasons, examples = collections.Counter(), collections.Counter(), {}
    models = {}
    for export in re.split(r"^### ", text, flags=re.M)[1:]:
        head, _, body = export.partition("\n")
        devices, lost, chip, line = head.split(" ", 3)
        said = "nothing said" if lost == "0" else "refusal said" if " refuses: " in body else "something said"
        words = shlex.split(line)
        plan = plan_of(program, words)
        model = words[words.index("--model") + 1]
        if model not in models:
            shown = subprocess.run([program, "show", model, "--format", "json"], capture_output=True, text=True).stdout
            models[model] = json.loads(shown)
        fields = models[model]["fields"]
        plan["layers"] = fields["layers"]["value"]
        plan["experts"] = fields.get("moe", {}).get("experts", {}).get("value", 0)
        errors = io.StringIO()
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
                theirs = framework.read(body, plan)
            wrong = differences(theirs, plan)
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
