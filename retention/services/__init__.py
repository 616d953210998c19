"""Every change of state of retention: its policy, legal holds, and runs that dispose."""
