"""One module per coding tool."""
