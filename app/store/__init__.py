"""Every SQL statement, and the one place that commits."""
