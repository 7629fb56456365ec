"""What the providers' adapters say of themselves, as the table that the documentation shows."""
