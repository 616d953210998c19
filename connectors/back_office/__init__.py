"""What people see and enter of connectors: forms, and what is placed on the start page."""
