"""What every implementation of a port must do, as classes of tests: subclass one and provide its fixtures.

They need pytest and hypothesis, which plait itself does not.
"""
