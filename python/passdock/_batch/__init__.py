"""What ``passdock.batch`` and ``passdock.ray`` are made of: models, processes, storage, outcomes."""
