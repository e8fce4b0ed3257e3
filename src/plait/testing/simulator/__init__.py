"""A simulated world for the real core: agents, git, users and crashes, from one seed."""
