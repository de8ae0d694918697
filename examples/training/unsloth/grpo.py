"""GRPO with Unsloth: the gym verifies what the model says. Needs a GPU."""

from trl import GRPOConfig, GRPOTrainer
from unsloth import FastLanguageModel

from nemo_gym.trl import GymSpec

model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Qwen3-4B", max_seq_length=4096, load_in_4bit=True)
model = FastLanguageModel.get_peft_model(model, r=16)
rows = "resources_servers/string_match/data/example.jsonl"
spec = GymSpec(rows, url="http://127.0.0.1:11000", resources_server="string_match")
GRPOTrainer(
    model=model,
    processing_class=tokenizer,
    train_dataset=spec.train_dataset,
    reward_funcs=spec.reward_funcs,
    environment_factory=spec.environment_factory,
    args=GRPOConfig(num_generations=8, max_completion_length=1024, max_steps=100),
).train()
