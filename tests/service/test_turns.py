"""Answers are computed one after the other, but none waits for ever."""

import threading
import time

from app.services.turns import Turns


def test_one_answer_is_computed_at_a_time() -> None:
    turns, inside, most = Turns(), [], []

    def compute() -> None:
        with turns.taken():
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()

    threads = [threading.Thread(target=compute) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8


def test_an_answer_that_takes_long_holds_nobody_up_beyond_their_patience() -> None:
    turns, done = Turns(patience_s=0.1), threading.Event()

    def endless() -> None:
        with turns.taken():
            done.wait(20)

    hog = threading.Thread(target=endless)
    hog.start()
    time.sleep(0.05)
    with turns.taken():
        assert hog.is_alive()
    done.set()
    hog.join()
    with turns.taken():
        pass


def test_a_fault_gives_the_turn_back() -> None:
    turns = Turns(patience_s=30)
    for _ in range(2):
        try:
            with turns.taken():
                raise ValueError("unread")
        except ValueError:
            continue
