"""Two steps of TRL's own GRPOTrainer in each mode of GymSpec: what TRL calls, and what it makes of rollouts that failed."""

import math

from transformers import PreTrainedTokenizerFast, PrinterCallback, TrainerCallback
from trl import GRPOTrainer

from grpo_single_turn import SEED, grpo_config
from grpo_tools import TOOL, parse
from nemo_gym.policy_server import PolicyServer
from nemo_gym.trl import GymSpec
from tiny import tiny_model, tiny_tokenizer

CHARACTERS = '0123456789say =+.{}":,successtrue_incremnto'
#: The first row rewards answers without a tool call, which an untrained model gives most of the time.
#: Every other row cannot be verified: the gym answers 422, and its rollouts have no reward.
EXPECTED = [0, "many", 3, "many"]
ROWS = [
    {
        "responses_create_params": {"input": [{"role": "user", "content": f"say {number}"}], "tools": [TOOL]},
        "initial_count": 0,
        "expected_count": expected,
    }
    for number, expected in enumerate(EXPECTED, 1)
]
CALLS = (
    "{% for m in messages %}{% if m['role'] == 'assistant' and m.get('tool_calls') %}{{ m['tool_calls'][0]['function']['name'] }}"
    "{{ m['tool_calls'][0]['function']['arguments'] | tojson }}<eos>{% elif m['role'] == 'assistant' %}{{ m['content'] }}<eos>"
    "{% elif m['role'] == 'tool' %}+{{ m['content'] }}={% else %}{{ m['content'] }}={% endif %}{% endfor %}"
)


class DigitTokenizer(PreTrainedTokenizerFast):
    """A digit calls the tool; anything else is an answer."""

    def parse_response(self, ids, prefix=None, **_):
        text = ids if isinstance(ids, str) else self.decode(ids, skip_special_tokens=True)
        message = parse(text)
        if "tool_calls" not in message:
            return {"role": "assistant", "content": message["content"]}
        arguments = {"count": int(text[0])}
        return {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"type": "function", "function": {"name": TOOL["name"], "arguments": arguments}}],
        }


class Rewards(TrainerCallback):
    """The rewards and losses that TRL logs."""

    def __init__(self) -> None:
        self.rewards: list[float] = []
        self.losses: list[float] = []

    def on_log(self, args, state, control, logs=None, **_):
        if logs and "reward" in logs:
            self.rewards.append(logs["reward"])
            self.losses.append(logs["loss"])


def train(model, tokenizer, spec: GymSpec, **how) -> Rewards:
    kept = Rewards()
    args = grpo_config(2, batch=len(ROWS) * 16)
    args.logging_steps, args.max_tool_calling_iterations = 1, 2
    trainer = GRPOTrainer(
        model=model, processing_class=tokenizer, train_dataset=spec.train_dataset, reward_funcs=spec.reward_funcs,
        callbacks=[kept], args=args, **how,
    )  # fmt: skip
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    return kept


def check(mode: str, kept: Rewards, spec: GymSpec) -> None:
    print(f"{mode}: rewards {kept.rewards}, losses {kept.losses}, rollouts {spec.counts}")
    assert spec.counts["rollouts"] == 2 * len(ROWS) * 16, spec.counts
    assert spec.counts["failed"] == spec.counts["rollouts"] // 2, "rollouts of the bad rows must fail, and no others"
    assert len(kept.rewards) == 2 and all(map(math.isfinite, kept.rewards + kept.losses)), "failed rollouts must be left out"
    assert any(kept.rewards), "the good rows must be rewarded"


def main() -> None:
    base = tiny_tokenizer(CHARACTERS)
    model = tiny_model(base, SEED)
    policy = PolicyServer(model, base, max_tokens=1, parse=parse)
    config = {
        "config_paths": [
            "responses_api_models/vllm_model/configs/vllm_model_for_training.yaml",
            "resources_servers/example_session_state_mgmt/configs/example_session_state_mgmt.yaml",
        ],
        "policy_base_url": policy.url,
        "policy_api_key": "none",
        "policy_model_name": "policy",
    }
    server, agent = "example_session_state_mgmt_resources_server", "example_session_state_mgmt_simple_agent"
    with GymSpec(ROWS, config=config, agent=agent, resources_server=server) as spec:
        check("rollout_func", train(model, base, spec, rollout_func=spec.rollout_func), spec)
        spec.counts.update(rollouts=0, failed=0, drifted=0)
        tokenizer = DigitTokenizer(
            tokenizer_object=base.backend_tokenizer, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>",
            chat_template=CALLS,
        )  # fmt: skip
        tokenizer.response_template = "digits"
        own = tiny_model(tokenizer, SEED)
        check("environment_factory", train(own, tokenizer, spec, environment_factory=spec.environment_factory), spec)


if __name__ == "__main__":
    main()
