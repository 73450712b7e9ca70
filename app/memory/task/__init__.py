"""Task understanding: prose, terse notes, source code and problem names become one `TaskProfile`."""

from app.memory.task.profile import Evidence, OperationUse, TaskProfile
from app.memory.task.reading import read_task

__all__ = ["Evidence", "OperationUse", "TaskProfile", "read_task"]
