"""Model jobs, the pure part: what a model is asked, and what its answers come to.

files     which files a job writes, and in what order
context   what a model is shown besides its targets, within limits
prompts   the conversations: writing, tests first, verification, another round
answer    an answer as files, or why it can't be taken: `understand` is all that most callers need
verdict   what a second prompt says of the result

Nothing here raises for what a model says, and nothing here writes.
"""
