"""Programs that outlive the command that starts them: kept running, found again, ended as a whole."""

from tasks.work.processes.background import Running, running, start, stop

__all__ = ["Running", "running", "start", "stop"]
