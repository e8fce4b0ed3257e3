"""The commands' options, declared for typer."""
