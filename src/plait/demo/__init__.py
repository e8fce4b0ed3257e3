"""The demonstration's repository: a small web site, and the tasks that build it."""
