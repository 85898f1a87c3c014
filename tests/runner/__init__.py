"""The test runner: stages, the lanes they run in, what they printed, and the closing summary."""
