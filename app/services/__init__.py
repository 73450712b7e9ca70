"""Use cases, one per file: each public function names its steps in order."""
