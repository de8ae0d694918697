"""Writes made-up documents for task files of lm-evaluation-harness, with the prompts that it makes of them.

usage: make-cases.py OUTPUT_DIR [MAXIMUM] (in an environment with the package lm-eval)
"""

import json
import logging
import os
import random
import sys
from pathlib import Path

os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
import datasets
from jinja2 import Environment, meta

import lm_eval.tasks
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks._yaml_loader import load_yaml

logging.disable(logging.CRITICAL)
datasets.disable_progress_bars()
ROOT = Path(lm_eval.tasks.__file__).parent
CODE = ["doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix", "class", "doc_to_image", "doc_to_audio", "use_prompt"]
SPLITS = ["training_split", "validation_split", "test_split"]
LETTERS = ["A", "B", "C", "D"]
DOCUMENTS = 4
TRIALS = 400


def shapes(rng, name):
    """Values that a field of this name may have, the likely ones first."""
    word = f"made-up {name} {rng.randrange(1000)}"
    texts = [f"{word} {i}" for i in range(4)]
    return [
        word,
        f"  {word}.  ",
        rng.randrange(2),
        texts,
        {"text": texts, "label": LETTERS},
        rng.choice(LETTERS),
        str(rng.randrange(4)),
        {letter: text for letter, text in zip(LETTERS, texts)},
        {"choices": texts, "labels": [1, 0, 0, 0], "label": LETTERS, "text": texts},
        {"label": LETTERS, "text": word, "stem": word, "choices": {"text": texts, "label": LETTERS}},
        rng.random() < 0.5,
        f"{texts}",
        [rng.randrange(2) for _ in range(4)],
        rng.randrange(1, 5),
    ]


def fields(config):
    env = Environment()
    found = set()
    parts = [config.get(key) for key in CODE[:5]]
    few = config.get("fewshot_config") or {}
    parts += [few.get(key) for key in CODE[:5]]
    for part in parts:
        if not isinstance(part, str):
            continue
        try:
            found |= meta.find_undeclared_variables(env.parse(part))
        except Exception:
            return None
        if part.isidentifier():
            found.add(part)
    return sorted(found)


class MadeUpTask(ConfigurableTask):
    documents = []

    def download(self, *_, **__):
        data = datasets.Dataset.from_list(self.documents)
        names = {self.config[key] for key in SPLITS} | {self.config.fewshot_split, self.fewshot_cfg.split}
        self.dataset = {name: data for name in names if name}


def is_code(value):
    return isinstance(value, str) and value.startswith(str(ROOT)[:5]) and "/" in value


def prompts(config, documents):
    MadeUpTask.documents = documents
    task = MadeUpTask(config=dict(config))
    task.set_fewshot_seed(1234)
    made = []
    for doc in task.eval_docs:
        context = task.fewshot_context(
            doc, num_fewshot=config.get("num_fewshot") or 0, gen_prefix=task.doc_to_prefix(doc)
        )
        requests = task.construct_requests(doc=doc, ctx=context)
        requests = requests if isinstance(requests, list) else [requests]
        arguments = [list(r.arguments) for r in requests]
        if task.OUTPUT_TYPE == "generate_until":
            arguments = [[a[0]] for a in arguments]
            gold = task.doc_to_target(doc)
            gold = task.doc_to_choice(doc)[gold] if config.get("doc_to_choice") else gold
            assert isinstance(gold, (str, int)) or all(isinstance(g, (str, int)) for g in gold)
            assert not isinstance(gold, dict)
        elif task.OUTPUT_TYPE == "multiple_choice":
            if "acc_mutual_info" in task._metric_fn_list:
                arguments = arguments[: len(arguments) // 2]
            choices = task.doc_to_choice(doc)
            gold = task.doc_to_text(doc) if task.multiple_input else task.doc_to_target(doc)
            gold = choices.index(gold) if isinstance(gold, str) else gold
            assert isinstance(choices, list)
            assert all(0 <= g < len(choices) for g in (gold if isinstance(gold, list) else [gold]))
            assert all(isinstance(c, str) for c in choices)
        else:
            gold = None
        assert all(isinstance(part, str) for a in arguments for part in a)
        made.append({"arguments": arguments, "gold": gold})
    return made


def case(config, rng):
    names = fields(config)
    if names is None or len(names) > 12:
        return None
    for _ in range(TRIALS):
        # One shape for a field in all documents.
        kind = {name: 0 if rng.random() < 0.35 else rng.randrange(14) for name in names}
        documents = [{name: shapes(rng, name)[kind[name]] for name in names} for _ in range(DOCUMENTS)]
        for n, document in enumerate(documents):
            document["made_up_id"] = n
        try:
            made = prompts(config, documents)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        # What a datasets table makes of the documents is what lm-eval sees.
        return [dict(d) for d in datasets.Dataset.from_list(documents)], made
    return None


def main():
    target = Path(sys.argv[1])
    most = int(sys.argv[2]) if len(sys.argv) > 2 else 10**9
    target.mkdir(parents=True, exist_ok=True)
    rng = random.Random(0)
    files = sorted(ROOT.rglob("*.yaml"))
    rng.shuffle(files)
    skipped = {"code": 0, "group": 0, "no documents found": 0}
    done = 0
    with open(target / "cases.jsonl", "w") as out:
        for file in files:
            if done >= most:
                break
            config = load_yaml(file, resolve_func=False)
            if not isinstance(config.get("task"), str) or "doc_to_text" not in config:
                skipped["group"] += 1
                continue
            few = config.get("fewshot_config") or {}
            if any(is_code(config.get(key)) for key in CODE) or any(is_code(v) for v in few.values()):
                skipped["code"] += 1
                continue
            # Documents count as processed; metrics and filters do not change prompts.
            used = {k: v for k, v in config.items() if k not in ("process_docs", "process_results", "metric_list", "filter_list", "custom_dataset", "group", "tag", "task_alias", "dataset_kwargs", "recipe")}
            found = case(used, rng)
            if found is None:
                skipped["no documents found"] += 1
                continue
            documents, made = found
            out.write(json.dumps({"file": str(file), "type": used.get("output_type", "generate_until"), "documents": documents, "prompts": made}) + "\n")
            done += 1
    print(json.dumps({"cases": done, "skipped": skipped}))


main()
