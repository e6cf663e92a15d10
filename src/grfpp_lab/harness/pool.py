"""Several processes at work: each takes the next task when it is done with one.

A task that ends its process (a crash, a kill by the system) is answered by an error, and another
process takes over.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from grfpp_lab.harness.worker import Answer, Worker


@dataclass(frozen=True)
class Task:
    """A function, by ``module:name``, and what to call it with."""

    number: int
    run: str
    cell: dict[str, Any]


def work_through(tasks: Sequence[Task], n_workers: int) -> Generator[tuple[Task, Answer]]:
    """Answers to the tasks as they come in.

    Each process has one thread: the processes are what fills the cores, and the same work then
    gives the same bits. Closing the iterator, by an error or by Ctrl-C, ends the processes.
    """
    waiting, lock = iter(tasks), threading.Lock()
    answers: SimpleQueue[tuple[Task, Answer]] = SimpleQueue()
    workers = [Worker() for _ in range(max(1, min(n_workers, len(tasks))))]

    def serve(worker: Worker) -> None:
        while not worker.stopped:
            with lock:
                task = next(waiting, None)
            if task is None:
                break
            answers.put((task, worker.ask(task.run, task.cell)))

    threads = [threading.Thread(target=serve, args=(each,), daemon=True) for each in workers]
    try:
        for thread in threads:
            thread.start()
        for _ in tasks:
            yield answers.get()
    finally:
        for worker in workers:
            worker.stop()
        for thread in threads:
            thread.join()
        for worker in workers:
            worker.close()
