"""The agenda: one file for each rule, and `rules` for all of them. What only shows things needs a few, and not all."""
