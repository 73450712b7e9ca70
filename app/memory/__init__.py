"""The pure core: reading tasks, scoring, policies, rendering, text formats. No SQL, HTTP or torch."""
