"""Back office of custody: pages about records, storage and disposals."""
