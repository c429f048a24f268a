"""What can be downloaded: recordings as files, the standalone page, pictures and scene files."""
