"""Writes the reward: 1 if the test of the issue and the older test pass."""
import json
import subprocess
import sys

config = json.load(open("/tests/config.json"))


def passed(names):
    return [name for name in names if subprocess.run([sys.executable, "-m", "unittest", "-q", name]).returncode == 0]


f2p, p2p = passed(config["fail_to_pass"]), passed(config["pass_to_pass"])
done, total = len(f2p) + len(p2p), len(config["fail_to_pass"]) + len(config["pass_to_pass"])
json.dump(
    {
        "reward": int(done == total),
        "f2p_total": len(config["fail_to_pass"]),
        "f2p_passed": len(f2p),
        "p2p_total": len(config["pass_to_pass"]),
        "p2p_passed": len(p2p),
        "f2p": len(f2p) / len(config["fail_to_pass"]),
        "p2p": len(p2p) / len(config["pass_to_pass"]),
        "partial": done / total,
    },
    open("/logs/verifier/reward.json", "w"),
)
json.dump({"results": {"tool": {"name": "unittest"}, "tests": f2p + p2p}}, open("/logs/verifier/ctrf.json", "w"))
