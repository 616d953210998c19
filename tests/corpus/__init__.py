"""Records as 150 integrators would send them, each with the letter that the service drafts about it.

A directory holds the records of one pack. Beside each record `name.json` stands `name.txt`: the letter as it was last
reviewed, and what keeps it from approval. `make letters` writes them anew; the diff is what changed for readers.
"""
