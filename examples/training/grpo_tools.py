"""GRPO with TRL over several turns: the model raises a counter by a tool, then stops. Tokens of the tool's answers are masked."""

import argparse
import json
import time
from pathlib import Path

from transformers import PrinterCallback
from trl import GRPOTrainer

from curve import RewardCurve, finish
from grpo_single_turn import SEED, grpo_config
from nemo_gym.policy_server import PolicyServer
from nemo_gym.trl import GymSpec
from tiny import tiny_model, tiny_tokenizer

FOLDER = Path(__file__).parent / "grpo_tools"
AGENT = "example_session_state_mgmt_simple_agent"
TOOL = {
    "type": "function",
    "name": "increment_counter",
    "description": "Add a number to the counter.",
    "parameters": {
        "type": "object",
        "properties": {"count": {"type": "integer", "description": "How much to add."}},
        "required": ["count"],
        "additionalProperties": False,
    },
    "strict": True,
}


def parse(text: str) -> dict:
    """A digit calls the tool with that number; anything else is the answer."""
    if not text[:1].isdigit():
        return {"content": text or " "}
    call = {"name": "increment_counter", "arguments": json.dumps({"count": int(text[0])})}
    return {"content": None, "tool_calls": [{"id": f"call_{time.time_ns()}", "type": "function", "function": call}]}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=80)
    steps = parser.parse_args().steps
    tokenizer = tiny_tokenizer('0123456789say =+.{}":,successtrue')
    model = tiny_model(tokenizer, SEED)
    policy = PolicyServer(model, tokenizer, max_tokens=1, parse=parse)
    rows = [
        {
            "responses_create_params": {"input": [{"role": "user", "content": f"say {number}"}], "tools": [TOOL]},
            "initial_count": 0,
            "expected_count": number,
        }
        for number in range(1, 10)
    ]
    config = {
        "config_paths": [
            "responses_api_models/vllm_model/configs/vllm_model_for_training.yaml",
            "resources_servers/example_session_state_mgmt/configs/example_session_state_mgmt.yaml",
        ],
        "policy_base_url": policy.url,
        "policy_api_key": "none",
        "policy_model_name": "policy",
        AGENT: {"responses_api_agents": {"simple_agent": {"max_steps": 4}}},
    }
    curve = RewardCurve()
    with GymSpec(rows, config=config, agent=AGENT, drift="strict") as spec:
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
    finish(curve, FOLDER, "GRPO, several turns with a tool, through /run", SEED, wanted=0.9)


if __name__ == "__main__":
    main()
