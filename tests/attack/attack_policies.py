"""Policies that nobody can mean: each must come to one clear sentence, and cost nobody else."""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/unit"))

import bad_policies  # noqa: E402 - found by the path above
import policy_play  # noqa: E402

SHARE = 1


def main() -> int:
    with tempfile.TemporaryDirectory() as made:
        lines = policy_play.run(Path(made))
    wins = 0
    for name, case in bad_policies.CASES.items():
        problem = policy_play.problem_of(case, lines[name][0]) if name in lines else "no line"
        if problem:
            print(f"  {name}: {problem[:300]}")
            wins += 1
    print(f"a bad policy without a clear sentence: {len(bad_policies.CASES)} tries, {wins} wins")
    bombs = "nested deeper than" not in lines["bomb"][0]["message"]
    print(f"an alias bomb in an inventory: 1 tries, {int(bombs)} wins")
    lost = lines["sound"][0]["outcome"] != "judged"
    print(f"a sound host lost beside bad policies: 1 tries, {int(lost)} wins")
    return 1 if wins or bombs or lost else 0


if __name__ == "__main__":
    sys.exit(main())
