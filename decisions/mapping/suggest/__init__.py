"""Proposals for a mapping, from names and values of fields in sample records.

A proposal may be wrong: a person reads each before it counts. Only `decisions.mapping` imports this package, so that
nothing else speaks about a record by the names of its fields.
"""

from decisions.mapping.suggest.proposals import Proposal, propose, propose_fields
from decisions.mapping.suggest.statistics import masked

__all__ = ["Proposal", "masked", "propose", "propose_fields"]
