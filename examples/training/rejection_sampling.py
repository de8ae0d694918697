"""Rejection sampling, then preferences: rollouts of the gym become training files by `gym eval export`.

1. The untrained model is sampled; its passing rollouts are exported (`--format trl`) and SFTTrainer learns from them.
2. The new model is sampled again; pairs of a passing and a failing rollout are exported (`--format dpo`) and DPOTrainer learns from them.
"""

import copy
import json
import subprocess
import tempfile
from pathlib import Path

from datasets import load_dataset
from transformers import PrinterCallback
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

from curve import RewardCurve, finish
from nemo_gym.command import gym_command
from nemo_gym.policy_server import PolicyServer
from tiny import tiny_model, tiny_tokenizer

FOLDER = Path(__file__).parent / "rejection_sampling"
SEED = 1
#: The untrained model is right once in twenty rollouts: with fewer, some digits would have no passing rollout.
UNTRAINED_REPEATS = 200
REPEATS = 64


def main() -> None:
    tokenizer = tiny_tokenizer("0123456789say =+.")
    model = tiny_model(tokenizer, SEED)
    policy = PolicyServer(model, tokenizer, max_tokens=1, parse=lambda text: {"content": text or " "})
    curve = RewardCurve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = [
            {
                "responses_create_params": {"input": [{"role": "user", "content": f"say {digit}"}]},
                "expected_answer": str(digit),
                "extraction_mode": "full_response",
                "agent_ref": {"type": "responses_api_agents", "name": "string_match_simple_agent"},
            }
            for digit in range(10)
        ]
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

        reward, rollouts = sample(policy, folder, "base", UNTRAINED_REPEATS)
        curve.add(0, reward)
        passing = export(rollouts, "trl", "--reward-min", "1")
        sft = SFTTrainer(
            model=model,
            processing_class=tokenizer,
            train_dataset=passing,
            args=SFTConfig(**common(max_steps=30, learning_rate=3e-3)),
        )
        sft.remove_callback(PrinterCallback)
        sft.train()

        reward, rollouts = sample(policy, folder, "sft")
        curve.add(1, reward)
        pairs = export(rollouts, "dpo", "--pairs", "all", "--min-margin", "1", "--max-pairs", "32")
        dpo = DPOTrainer(
            model=model,
            ref_model=copy.deepcopy(model),
            processing_class=tokenizer,
            train_dataset=pairs,
            args=DPOConfig(**common(max_steps=100, learning_rate=5e-4), beta=0.1),
        )
        dpo.remove_callback(PrinterCallback)
        dpo.train()

        reward, _ = sample(policy, folder, "dpo")
        curve.add(2, reward)
    finish(curve, FOLDER, "0: untrained, 1: after SFT on passing rollouts, 2: after DPO", SEED, wanted=0.9)


def sample(policy: PolicyServer, folder: Path, name: str, repeats: int = REPEATS) -> tuple[float, Path]:
    """Runs the rows several times; returns the mean reward and the rollouts file."""
    output = folder / name / "rollouts.jsonl"
    run(
        "eval", "run", "--env-yaml", "none", "--resources-server", "string_match", "--model-type", "vllm_model/vllm_model_for_training",
        "--model-url", policy.url, "--model-api-key", "none", "--model", "policy",
        "--input", str(folder / "rows.jsonl"), "--num-repeats", str(repeats), "--output", str(output), "--temperature", "1",
    )  # fmt: skip
    rewards = [json.loads(line)["reward"] for line in output.read_text().splitlines()]
    return sum(rewards) / len(rewards), output


def export(rollouts: Path, form: str, *flags: str):
    """What `gym eval export` makes of the rollouts, in the columns the trainers take."""
    output = rollouts.with_name(f"{form}.jsonl")
    run("eval", "export", "--env-yaml", "none", "--rollouts", str(rollouts), "--format", form, "-o", str(output), *flags)
    dataset = load_dataset("json", data_files=str(output), split="train", cache_dir=str(rollouts.parent / "cache"))
    wanted = {"trl": ["prompt", "completion"], "dpo": ["prompt", "chosen", "rejected"]}[form]
    print(f"{len(dataset)} records for {form}")
    return dataset.select_columns(wanted)


def run(*words: str) -> None:
    subprocess.run([*gym_command(), *words], check=True, stdout=subprocess.DEVNULL)


def common(max_steps: int, learning_rate: float) -> dict:
    return dict(
        output_dir="/tmp/nemo-gym-training", use_cpu=True, bf16=False, report_to=[], save_strategy="no", disable_tqdm=True,
        per_device_train_batch_size=64, max_steps=max_steps, learning_rate=learning_rate, lr_scheduler_type="constant", seed=SEED,
    )  # fmt: skip


if __name__ == "__main__":
    main()
