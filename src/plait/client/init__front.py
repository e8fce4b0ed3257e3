"""What every front does: submit, ask, follow. The command line is one, the server is another."""
