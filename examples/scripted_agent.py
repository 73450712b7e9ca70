"""An agent's whole round with the playbook, scripted: ask, write, submit, have it judged, vote, ask again.

    python examples/scripted_agent.py --url http://127.0.0.1:8080 [--gpu N]

No model takes part: the kernel is in `online_softmax.py`. The kernel is judged by `playbook verify` on this machine, by
Triton's interpreter unless a GPU is named; its settings lead to the database of the service.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from playbook_client import Context, Playbook

HERE = Path(__file__).resolve().parent
PROBLEM = "softmax_temperature"
READER = "scripted-agent"
ABOUT = "Softmax of logits divided by a temperature for rows of any length: two passes, maximum and sum kept online."


def main() -> None:
    """The round."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--url")
    options.add_argument("--gpu", type=int, help="Index of the GPU; Triton's interpreter without it.")
    chosen = options.parse_args()
    task = (HERE.parent / "bullets" / "problems" / f"{PROBLEM}.py").read_text()
    with Playbook(chosen.url) as playbook:
        print(f"1. The task is {PROBLEM}. What is known about it?")
        before = playbook.context(code=task, reader=READER, token_budget=1500)
        show(before)

        print("2. The agent writes a kernel and offers it; it waits until a curator takes it in.")
        kernel = playbook.add_kernel(PROBLEM, (HERE / "online_softmax.py").read_text(), ABOUT, proposed_by=READER)
        print(f"   {kernel.id}: {kernel.status}, {len(kernel.warnings)} warnings")
        kernel_item = playbook.edit(kernel.id, kernel.version, status="active", note="looks sound")
        print(f"   {kernel_item.id}: {kernel_item.status}")

        print("3. The protected evaluator judges it.")
        judge(kernel.id, chosen.gpu)
        for run in playbook.kernel(kernel.id).measured:
            print(f"   on {run.hardware}: {run.verdict}" + (f", {run.speedup:.2f}x" if run.speedup else ""))

        print("4. The agent says what helped.")
        votes = {before.items[0]: "helpful", kernel.id: "helpful"}
        for counters in playbook.feedback(votes, context_id=before.context_id, reader=READER, success=True).applied:
            print(f"   {counters.id}: {counters.helpful} helpful, {counters.harmful} harmful")

        print("5. The next context knows the kernel, and the counters have moved.")
        after = playbook.context(code=task, reader=READER, token_budget=1500)
        show(after)
        for result in playbook.search(code=task, top_k=20, threshold=0, hardware="cpu-interpreter").results:
            if result.id in votes:
                verdict = (result.verification or {}).get("verdict", "no run")
                print(f"   {result.id}: {result.helpful} helpful, {verdict}")
        assert kernel.id in after.items
        assert kernel.id not in before.items


def judge(kernel_id: str, gpu: int | None) -> None:
    """Runs the evaluator here and keeps the run."""
    device = ["--cpu"] if gpu is None else ["--gpu", str(gpu)]
    folder = HERE.parent / "bullets" / "problems"
    command = [
        sys.executable,
        "-m",
        "app.cli.main",
        "verify",
        "--kernel",
        kernel_id,
        "--problems",
        str(folder),
        *device,
    ]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=True)
    print(f"   {done.stdout.strip()}")


def show(context: Context) -> None:
    """A context in a few lines."""
    print(f"   {context.tokens} tokens, {len(context.items)} items: {', '.join(context.items)}")


if __name__ == "__main__":
    main()
