"""An agent's whole round with the playbook, scripted: ask, write, submit, have it judged, vote, ask again.

    python examples/scripted_agent.py --url http://127.0.0.1:8080 [--gpu N]

No model takes part: the kernel is in `online_softmax.py`. A worker on this machine judges it, by Triton's interpreter
unless a GPU is named; the worker's settings have to lead to the database of the service.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from playbook_client import Context, InvalidRequest, Playbook, Run

HERE = Path(__file__).resolve().parent
PROBLEM = "softmax_temperature"
READER = "scripted-agent"
PATIENCE = 180.0
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
        judge(playbook, kernel.id, chosen.gpu)
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


def judge(playbook: Playbook, kernel_id: str, gpu: int | None) -> None:
    """Orders a run, and plays the worker that takes it; in a fleet, one is at work on each GPU already."""
    device = "cpu" if gpu is None else str(gpu)
    worker = subprocess.Popen(
        [sys.executable, "-m", "app.cli.main", "worker", "--gpu", device],
        cwd=HERE.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        run = ordered(playbook, kernel_id, "cpu-interpreter" if gpu is None else None)
        print("   a run is ordered")
        until = time.monotonic() + PATIENCE
        while run.state != "finished" and time.monotonic() < until and worker.poll() is None:
            time.sleep(0.5)
            run = playbook.run(run.id)
        print(f"   the run is {run.state}: {run.verdict}")
    finally:
        worker.terminate()
        worker.wait(timeout=PATIENCE)


def ordered(playbook: Playbook, kernel_id: str, hardware: str | None) -> Run:
    """An order for that hardware, or for whatever hardware the workers have, as soon as one has said what it has."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            (run,) = playbook.verify_kernel(kernel_id, [hardware] if hardware else [])
        except InvalidRequest:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)
        else:
            return run


def show(context: Context) -> None:
    """A context in a few lines."""
    print(f"   {context.tokens} tokens, {len(context.items)} items: {', '.join(context.items)}")


if __name__ == "__main__":
    main()
