"""Pages of retention in the back office, beside its lists: the policy, forms, needs and panels."""
