"""GRPO with TRL: a tiny model learns to repeat a digit. An agent of the gym asks the model and scores it, through `POST /run`."""

import argparse
from pathlib import Path

from transformers import PrinterCallback
from trl import GRPOConfig, GRPOTrainer

from curve import RewardCurve, finish
from nemo_gym.policy_server import PolicyServer
from nemo_gym.trl import GymSpec
from tiny import tiny_model, tiny_tokenizer

FOLDER = Path(__file__).parent / "grpo_single_turn"
SEED = 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=80)
    steps = parser.parse_args().steps
    tokenizer = tiny_tokenizer("0123456789say =+.")
    model = tiny_model(tokenizer, SEED)
    policy = PolicyServer(model, tokenizer, max_tokens=1, parse=lambda text: {"content": text or " "})
    rows = [
        {
            "responses_create_params": {"input": [{"role": "user", "content": f"say {digit}"}]},
            "expected_answer": str(digit),
            "extraction_mode": "full_response",
        }
        for digit in range(10)
    ]
    config = {
        "config_paths": [
            "responses_api_models/vllm_model/configs/vllm_model_for_training.yaml",
            "resources_servers/string_match/configs/string_match.yaml",
        ],
        "policy_base_url": policy.url,
        "policy_api_key": "none",
        "policy_model_name": "policy",
    }
    curve = RewardCurve()
    with GymSpec(rows, config=config, agent="string_match_simple_agent") as spec:
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            train_dataset=spec.train_dataset,
            reward_funcs=spec.reward_funcs,
            rollout_func=spec.rollout_func,
            callbacks=[curve],
            args=grpo_config(steps, batch=len(rows) * 16),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        print(f"{policy.calls} model calls in {policy.batches} batches; rollouts: {spec.counts}")
    finish(curve, FOLDER, "GRPO, single turn, through /run", SEED, wanted=0.9)


def grpo_config(steps: int, batch: int) -> GRPOConfig:
    return GRPOConfig(
        output_dir="/tmp/nemo-gym-training",
        use_cpu=True,
        bf16=False,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        per_device_train_batch_size=batch,
        num_generations=16,
        max_completion_length=64,
        max_steps=steps,
        learning_rate=3e-3,
        lr_scheduler_type="constant",
        temperature=1.0,
        beta=0.0,
        logging_steps=5,
        seed=SEED,
    )


if __name__ == "__main__":
    main()
