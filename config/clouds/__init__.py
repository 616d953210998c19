"""Clients of cloud services in customers' accounts. They use only the credentials they are given.

They connect through `config.vetted_http` and never retry: their callers decide when to.
"""
