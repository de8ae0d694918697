"""Keeps the rewards of a training run and draws them as an SVG."""

import json
import platform
import sys
import time
from importlib import metadata
from pathlib import Path

from transformers import TrainerCallback

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 320, 50, 40


class RewardCurve(TrainerCallback):
    """Prints the reward as TRL logs it, and keeps it."""

    def __init__(self) -> None:
        self.points: list[tuple[float, float]] = []
        self.started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def add(self, step: float, reward: float) -> None:
        self.points.append((step, reward))
        print(f"step {step:4.0f}  reward {reward:.3f}  {self.seconds:6.1f} s", flush=True)

    def on_log(self, args, state, control, logs=None, **_):
        if logs and "reward" in logs:
            self.add(state.global_step, logs["reward"])


def versions() -> str:
    packages = ("torch", "trl", "transformers", "datasets", "accelerate", "tokenizers")
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {metadata.version(name)}" for name in packages)])


def finish(curve: RewardCurve, folder: Path, title: str, seed: int, wanted: float) -> None:
    """Writes reward.svg and reward.json, and fails when the last reward is below what was wanted."""
    (folder / "reward.svg").write_text(draw(curve.points, title, f"seed {seed}; {versions()}"), encoding="utf-8")
    record = {"title": title, "seed": seed, "versions": versions(), "seconds": round(curve.seconds), "points": curve.points}
    (folder / "reward.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    first, last = curve.points[0][1], curve.points[-1][1]
    print(f"{title}: reward {first:.2f} -> {last:.2f} in {curve.seconds:.0f} s")
    if last < wanted:
        sys.exit(f"The last reward is {last:.3f}; {wanted} was expected.")


def draw(points: list[tuple[float, float]], title: str, note: str) -> str:
    steps = max(step for step, _ in points) or 1
    across = lambda step: LEFT + (WIDTH - LEFT - 20) * step / steps  # noqa: E731
    up = lambda reward: HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 40) * reward  # noqa: E731
    grid = "".join(
        f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{up(at):.1f}" y2="{up(at):.1f}" stroke="#ddd"/>'
        f'<text x="{LEFT - 8}" y="{up(at) + 4:.1f}" text-anchor="end">{at:.1f}</text>'
        for at in (0, 0.2, 0.4, 0.6, 0.8, 1)
    )
    marks = "".join(
        f'<text x="{across(steps * part):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{steps * part:.0f}</text>'
        for part in (0, 0.25, 0.5, 0.75, 1)
    )
    line = " ".join(f"{across(step):.1f},{up(reward):.1f}" for step, reward in points)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="22" font-size="14">{title}</text>{grid}{marks}'
        f'<polyline fill="none" stroke="#76b900" stroke-width="2" points="{line}"/>'
        f'<text x="{LEFT}" y="{HEIGHT - 8}" font-size="9" fill="#666">reward by training step; {note}</text></svg>\n'
    )
