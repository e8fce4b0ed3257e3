"""The journal and the inbox in SQLite, the codec of records, and the files of a batch."""
