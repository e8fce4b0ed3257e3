"""What every implementation of an interface must do, as classes of tests: subclass one and provide its
fixtures. They need pytest and hypothesis.
"""
