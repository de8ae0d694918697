"""Runs one task of tau2-bench: the request is JSON on standard input, the result JSON on standard output.

`python run_task.py rows DOMAIN...` prints the tasks of domains as rows instead.
"""

import contextlib
import json
import sys


def run(request):
    from tau2.data_model.simulation import TextRunConfig
    from tau2.data_model.tasks import Task
    from tau2.evaluator.evaluator import EvaluationType
    from tau2.runner import build_orchestrator, run_simulation
    from tau2.runner.build import _build_env_kwargs

    config = TextRunConfig(**request["config"])
    task = Task.model_validate(request["task"])
    orchestrator = build_orchestrator(config, task, seed=request.get("seed"))
    agent = orchestrator.agent
    simulation = run_simulation(
        orchestrator,
        evaluation_type=EvaluationType(request["evaluation_type"]),
        env_kwargs=_build_env_kwargs(config, task) or None,
    )
    return {
        "simulation": simulation.model_dump(mode="json"),
        "system_prompt": agent.system_prompt,
        "tools": [tool.openai_schema["function"] for tool in agent.tools or []],
    }


def rows(domains):
    from tau2.runner import get_tasks

    for domain in domains:
        for task in get_tasks(domain, task_split_name="base"):
            data = task.model_dump(mode="json")
            criteria = data.get("evaluation_criteria")
            if criteria:
                # They need a judge of their own; the other criteria of the task decide.
                criteria["nl_assertions"] = None
                criteria["reward_basis"] = [basis for basis in criteria["reward_basis"] if basis != "NL_ASSERTION"]
            yield {"responses_create_params": {"input": []}, "config": {"domain": domain}, "task": data}


def main():
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        if sys.argv[1:2] == ["rows"]:
            for row in rows(sys.argv[2:]):
                print(json.dumps(row), file=out)
            return
        try:
            result = run(json.load(sys.stdin))
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        json.dump(result, out)


main()
