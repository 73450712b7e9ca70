"""Kernel Playbook: curated, re-verified knowledge for agents that write GPU kernels."""
