"""Text formats that the playbook reads and writes."""
