from types import SimpleNamespace

GREETING = {"role": "assistant", "content": "Hello!", "tool_calls": None, "raw_data": None, "usage": None}


def get_tasks(domain, task_split_name=None):
    criteria = {"nl_assertions": ["polite"], "reward_basis": ["DB", "NL_ASSERTION"]}
    data = {"id": f"{domain}-{task_split_name}", "evaluation_criteria": criteria}
    return [SimpleNamespace(model_dump=lambda mode: data)]


def build_orchestrator(config, task, seed=None):
    print("the library prints on standard output")
    tool = SimpleNamespace(openai_schema={"type": "function", "function": {"name": "look", "parameters": {}}})
    agent = SimpleNamespace(system_prompt="Serve.", tools=[tool])
    return SimpleNamespace(agent=agent, config=config, task=task, seed=seed)


def run_simulation(orchestrator, evaluation_type, env_kwargs=None):
    task, settings = orchestrator.task, orchestrator.config.settings
    if task["id"] == "boom":
        raise RuntimeError("no such database")
    if task["id"] == "endless":
        import time

        time.sleep(600)
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    raw = {"finish_reason": "tool_calls", "message": {"content": None, "reasoning_content": "Let me look."}}
    call = {"id": "c1", "name": "look", "arguments": {"at": "ä"}}
    messages = [
        GREETING,
        {"role": "user", "content": "My phone is dead."},
        {"role": "user", "content": None, "tool_calls": [{"id": "u1", "name": "press", "arguments": {}}]},
        {"role": "tool", "id": "u1", "content": "nothing", "requestor": "user"},
        {"role": "assistant", "content": None, "tool_calls": [call], "raw_data": raw, "usage": usage},
        {"role": "tool", "id": "c1", "content": "broken", "requestor": "assistant"},
        {"role": "assistant", "content": "It is broken.", "usage": usage},
    ]
    reason = "infrastructure_error" if task["id"] == "lost" else "user_stop"
    data = {
        "termination_reason": reason,
        "messages": messages,
        "duration": 1.5,
        "reward_info": {"reward": 1.0},
        "settings": settings,
        "seed": orchestrator.seed,
        "evaluation_type": str(evaluation_type),
    }
    return SimpleNamespace(model_dump=lambda mode: data)
