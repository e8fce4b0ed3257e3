"""Sources: every task format in, statuses out. Pure on text; adapters bring the files here and carry them back."""
