"""Plays one game of TALES: reads one JSON request per line and answers each with one line."""

import importlib
import json
import sys

replies = sys.stdout
# Libraries print to the standard output, which belongs to the replies.
sys.stdout = sys.stderr


def launch(framework, task_no, split, seed):
    import gymnasium

    module = importlib.import_module(f"tales.{framework}")
    tasks = module.environments
    if split == "train":
        tasks = getattr(module, "train_environments", None) or tasks
    if not 0 <= task_no < len(tasks):
        raise ValueError(f"task_no must be from 0 to {len(tasks) - 1} for {framework} ({split}), not {task_no}")
    name, version = tasks[task_no][0], tasks[task_no][1]
    options = {"split": split} if framework == "scienceworld" else {}
    game = gymnasium.make(
        id=f"tales/{name}-{version}", disable_env_checker=True, admissible_commands=True, **options
    )
    observation, info = game.reset(seed=seed)
    return game, {"observation": observation, "info": dict(info or {})}


def step(game, command):
    if game is None:
        raise RuntimeError("the program of this game has ended")
    observation, score, done, info = game.step(command)
    return {"observation": observation, "score": score, "done": bool(done), "info": dict(info or {})}


def plain(value):
    """Numbers of NumPy have `item`; anything else is shown as text."""
    return value.item() if hasattr(value, "item") else str(value)


def main():
    game = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "command" in request:
                reply = step(game, request["command"])
            else:
                game, reply = launch(**request)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply, default=plain), file=replies, flush=True)
    if game is not None:
        game.close()


main()
