"""Pages, forms and start-page entries for connectors."""
