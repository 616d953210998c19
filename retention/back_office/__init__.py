"""What retention adds to the back office besides its lists: the page of the policy, forms, needs and panels."""
