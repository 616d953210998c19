"""Back office of custody: what its pages show of records, storage and disposals."""
