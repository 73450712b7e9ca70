"""Processes that carry out work orders: one for each GPU, woken by the queue, guarded by the rows."""
