"""Clients of the clouds for storage that somebody else owns, each with the credentials it is given and no others.

They connect as `config.vetted_http` does, and do not try again: what uses them knows when to.
"""
