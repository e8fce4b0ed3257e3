"""The law checker: it folds the records by itself, so that it shares no mistake with the code it checks."""
