"""What a plugin author tests with: contract suites, a scripted batch, and a simulated world."""
