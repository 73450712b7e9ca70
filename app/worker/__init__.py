"""Works off verification runs, one process a GPU."""
