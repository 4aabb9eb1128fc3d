"""The implementation of ``passdock.batch`` and ``passdock.ray``: models, processes, storage, results."""
