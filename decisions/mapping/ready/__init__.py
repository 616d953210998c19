"""Ready mappings of systems in wide use, as data: a starting point that a person reads and confirms."""
