"""Coding agents: commands, prompts, output parsing, error patterns and redaction. No I/O."""
