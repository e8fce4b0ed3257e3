"""Tools for plugin authors' tests: contract suites, a scripted batch, and a simulated world."""
