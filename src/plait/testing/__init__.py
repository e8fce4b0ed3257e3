"""What a plugin author tests with: contract suites, a scripted batch, and the simulator with its laws."""
