"""The simulator and the contract suites: shipped, so that plugins can be held to the same laws."""
